/* mmprof export: a trace in the formats of other tools. */
#include "cmd/metrics_file.h"
#include "cmd/output_file.h"
#include "cmd/parts.h"
#include "cmd/program.h"
#include "cmd/terminal.h"
#include "cmd/trace_argument.h"
#include "report/export/export.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

#include <strings.h>

/* Perfetto opens a file of 200,000 slices (20 MB) in a second or two. */
#define MAX_SLICES 200000

#define FORMATS "flamegraph, collapsed (folded), speedscope, pprof, otlp, jfr, chrome, json, csv or parquet"

#define TABLE_SCHEMA         "mmprof.phases"
#define TABLE_SCHEMA_VERSION 3

struct export_options {
    const char *path, *format, *output, *clock, *value, *metrics, *title;
    const char *paths[TRACE_ARGUMENTS_MAX]; /* path is the first one */
    size_t n_paths;
    struct options_list labels;
    double min_share, min_slice_s, bucket_s; /* negative: not given */
    bool per_thread, reverse, salvage, quiet;
};

/* Everything that one run holds. */
struct export_run {
    const struct export_options *options;
    struct arena arena;
    struct view_pass pass;
    struct report_source source;
};

struct format {
    const char *name;
    bool is_binary;
    int (*write)(struct export_run *run, FILE *out, struct err *err);
};

static int parse(int argc, char **argv, struct export_options *o, bool *done, struct err *err)
{
    struct options_row rows[] = {
        { 'f', "format", "FORMAT", OPTION_TEXT, &o->format, FORMATS },
        { 'o', "output", "FILE", OPTION_TEXT, &o->output, "write to FILE instead of the standard output" },
        { 0, "metrics", "FILE", OPTION_TEXT, &o->metrics,
          "write totals for Prometheus' node exporter (textfile collector): FILE ends with .prom" },
        { 0, "value", "VALUE", OPTION_TEXT, &o->value, "cpu, wall, calls, samples, or an event of the trace (cpu)" },
        { 0, "reverse", NULL, OPTION_FLAG, &o->reverse, "callees first, below each its callers (flamegraph)" },
        { 0, "title", "TEXT", OPTION_TEXT, &o->title, "the page's title (flamegraph)" },
        { 0, "per-thread", NULL, OPTION_FLAG, &o->per_thread,
          "a tree for each thread (not for jfr, chrome, json, csv)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->min_share,
          "merge contexts with less of the time into their callers (0; parquet 0.1%)" },
        { 0, "min-slice", "TIME", OPTION_SECONDS, &o->min_slice_s,
          "leave out shorter slices (chrome; default: keep 200,000 slices)" },
        { 0, "bucket", "TIME", OPTION_SECONDS, &o->bucket_s, "length of a row's time bucket (parquet; 60s)" },
        { 0, "label", "KEY=NAME", OPTION_LIST, &o->labels,
          "label all rows: service, version or host (parquet, --metrics)" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall, which includes waiting (cpu)" },
        { 'q', "quiet", NULL, OPTION_FLAG, &o->quiet, "do not say what was left out" },
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the trace" },
        { 0 },
    };
    return command_parse_traces(
        "export --format FORMAT [OPTIONS] [TRACE ...]",
        "Writes a trace (trace.dat) as a flame graph (a page for a browser), or for other tools: folded\n"
        "stacks (flamegraph.pl, inferno), speedscope, pprof, OpenTelemetry (otlp, experimental), JDK Flight\n"
        "Recorder (jfr, JDK Mission Control), Chrome's trace events (Perfetto), or the phase table as JSON or\n"
        "CSV; traces of several runs as rows for DuckDB, ClickHouse, Spark and pandas (parquet); and a few\n"
        "totals for Prometheus (--metrics, which needs no --format).",
        rows, argc, argv, o->paths, TRACE_ARGUMENTS_MAX, &o->n_paths, done, err);
}

/* ---- formats ---- */

/* A tree of wall time is of that clock. */
static const char *clock_of(const struct export_options *o)
{
    return o->clock != NULL ? o->clock : o->value != NULL && strcasecmp(o->value, "wall") == 0 ? "wall" : "cpu";
}

static double min_share_of(const struct export_options *o)
{
    return o->min_share < 0 ? 0 : o->min_share;
}

/* The call tree, with what samples saw; more: VIEW_PASS_..., what else is read. */
static int build(struct export_run *run, unsigned more, struct err *err)
{
    const struct export_options *o = run->options;
    struct view_pass_options options = { .path = o->path,
                                         .salvage = o->salvage,
                                         .parts = VIEW_PASS_SAMPLES | more,
                                         .per_thread = o->per_thread,
                                         .progress = o->quiet || !terminal_is_one(stderr) ? NULL : stderr,
                                         .libraries = folding_read(NULL, &run->arena, err) };
    const struct report_source *source = &run->pass.source;
    if (options.libraries == NULL || report_clock_parse(clock_of(o), &options.clock, err) < 0 ||
        view_pass_read(&options, &run->arena, &run->pass, err) < 0)
        return -1;
    sampled_tree(source, view_pass_samples(&run->pass, source), o->per_thread, &run->source);
    return 0;
}

static int write_tree(struct export_run *run, export_format *format, FILE *out, struct err *err)
{
    const struct export_options *o = run->options;
    struct export_tree_options options = { o->value != NULL ? o->value : clock_of(o), min_share_of(o), o->title,
                                           o->reverse };
    if (build(run, 0, err) < 0 || export_stacks(&run->source, &options, format, out, err) < 0)
        return -1;
    uint32_t n_deep = o->quiet ? 0 : export_n_deep(&run->source);
    if (n_deep > 0)
        fprintf(stderr, "mmprof: stacks are cut at %u calls; %u deeper contexts are added to their callers\n",
                EXPORT_DEPTH_MAX, n_deep);
    return 0;
}

static int write_folded(struct export_run *run, FILE *out, struct err *err)
{
    return write_tree(run, export_folded, out, err);
}

static int write_flamegraph(struct export_run *run, FILE *out, struct err *err)
{
    return write_tree(run, export_flamegraph, out, err);
}

static int write_speedscope(struct export_run *run, FILE *out, struct err *err)
{
    return write_tree(run, export_speedscope, out, err);
}

static int write_pprof(struct export_run *run, FILE *out, struct err *err)
{
    return write_tree(run, export_pprof, out, err);
}

static int write_otlp(struct export_run *run, FILE *out, struct err *err)
{
    return write_tree(run, export_otlp, out, err);
}

static int write_chrome(struct export_run *run, FILE *out, struct err *err)
{
    const struct export_options *o = run->options;
    struct export_chrome_options options = { o->path, o->salvage, o->min_slice_s < 0 ? -1 : o->min_slice_s * 1e9,
                                             MAX_SLICES };
    struct export_slices slices;
    if (export_chrome(&options, out, &slices, err) < 0)
        return -1;
    char limit[64];
    table_format_ns(slices.limit_ns, limit, sizeof limit);
    if (slices.n_left_out > 0 && !o->quiet)
        fprintf(stderr, "mmprof: %.0f slices are written; %.0f shorter than %s are left out (--min-slice)\n",
                (double)slices.n_written, (double)slices.n_left_out, limit);
    return 0;
}

static int write_jfr(struct export_run *run, FILE *out, struct err *err)
{
    return export_jfr(run->options->path, run->options->salvage, out, err);
}

static int make_table(struct export_run *run, struct table *table, struct err *err)
{
    struct report_row_options options = { .sort = "time", .min_share = min_share_of(run->options) };
    if (build(run, VIEW_PASS_QUANTILES, err) < 0)
        return -1;
    options.calls = run->pass.statistics;
    if (report_make(&run->source, run->pass.totals, run->pass.n_totals, &options, table, err) < 0)
        return -1;
    table->schema = TABLE_SCHEMA;
    table->schema_version = TABLE_SCHEMA_VERSION;
    return 0;
}

static int write_json(struct export_run *run, FILE *out, struct err *err)
{
    struct table table;
    return make_table(run, &table, err) < 0 ? -1 : table_print_json(&table, out, err);
}

static int write_csv(struct export_run *run, FILE *out, struct err *err)
{
    struct table table;
    return make_table(run, &table, err) < 0 ? -1 : table_print_csv(&table, out, err);
}

static int write_parquet(struct export_run *run, FILE *out, struct err *err)
{
    const struct export_options *o = run->options;
    struct export_parquet_options options = { .paths = o->paths,
                                              .n_paths = o->n_paths,
                                              .labels = &o->labels,
                                              .bucket_s = o->bucket_s,
                                              .min_share = o->min_share,
                                              .salvage = o->salvage };
    return parts.export_parquet(&options, out, err);
}

static int write_metrics(const struct export_options *o, struct err *err)
{
    struct metrics_file file;
    char name[PATH_MAX];
    int rc = metrics_file_open(&file, &o->labels, err);
    if (rc == 0 && (trace_argument_output(o->path, o->salvage, o->metrics, "--metrics", name, err) < 0 ||
                    metrics_file_add(&file, o->path, o->salvage, err) < 0))
        rc = -1;
    if (rc == 0)
        rc = metrics_file_write(&file, name, false, err);
    metrics_file_close(&file);
    return rc;
}

static const struct format formats[] = {
    { "flamegraph", false, write_flamegraph }, { "collapsed", false, write_folded }, { "folded", false, write_folded },
    { "speedscope", false, write_speedscope }, { "pprof", true, write_pprof },       { "jfr", true, write_jfr },
    { "chrome", false, write_chrome },         { "json", false, write_json },        { "csv", false, write_csv },
    { "parquet", true, write_parquet },        { "otlp", true, write_otlp },
};

static const struct format *find_format(const char *name, struct err *err)
{
    for (size_t i = 0; name != NULL && i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    if (name == NULL)
        err_set(err, "no format given");
    else
        err_set(err, "unknown format '%s'", name);
    err_next(err, "choose --format " FORMATS);
    return NULL;
}

/* ---- the whole ---- */

/* Options of one format only, and several traces. */
static int check_arguments(const struct export_options *o, const struct format *format, struct err *err)
{
    bool is_parquet = format->write == write_parquet;
    if (!is_parquet && o->n_paths > 1) {
        err_set(err, "one trace at a time, not '%s' and '%s'", o->paths[0], o->paths[1]);
        return err_next(err, "run it once for each of them, or choose --format parquet");
    }
    if (!is_parquet && (o->bucket_s > 0 || (o->labels.n > 0 && o->metrics == NULL))) {
        err_set(err, "%s has no %s", format->name, o->bucket_s > 0 ? "buckets" : "labels");
        return err_next(err, "leave %s out, or choose --format parquet", o->bucket_s > 0 ? "--bucket" : "--label");
    }
    if (format->write != write_flamegraph && (o->reverse || o->title != NULL)) {
        err_set(err, "--reverse and --title are for flame graphs");
        return err_next(err, "leave them out, or choose --format flamegraph");
    }
    if (is_parquet && (o->clock != NULL || o->value != NULL || o->per_thread)) {
        err_set(err, "parquet has columns for all clocks and values, and no rows of threads");
        return err_next(err, "leave --clock, --value and --per-thread out");
    }
    return 0;
}

static int open_output(const struct export_options *o, char name[PATH_MAX], struct output_file *file, struct err *err)
{
    if (o->output != NULL && trace_argument_output(o->path, o->salvage, o->output, "-o", name, err) < 0)
        return -1;
    return output_file_open(file, o->output == NULL ? NULL : name, "-o", err);
}

static int run_format(struct export_run *run, struct err *err)
{
    char name[PATH_MAX];
    const struct export_options *o = run->options;
    const struct format *format = find_format(o->format, err);
    struct output_file file;
    if (format == NULL || check_arguments(o, format, err) < 0)
        return -1;
    if (o->output == NULL && format->is_binary && isatty(STDOUT_FILENO)) {
        err_set(err, "%s is binary: not for a terminal", format->name);
        return err_next(err, "name a file with -o, like 'profile.pb.gz' or 'rows.parquet'");
    }
    if (open_output(o, name, &file, err) < 0)
        return -1;
    return output_file_close(&file, format->write(run, file.out, err), err);
}

static int run_export(struct export_run *run, struct err *err)
{
    const struct export_options *o = run->options;
    if (o->metrics == NULL)
        return run_format(run, err);
    if (o->format != NULL || o->n_paths > 1 || o->output != NULL) {
        err_set(err, "metrics are of one trace, in a file of their own");
        return err_next(err, "leave --format and -o out, and run it once for each trace");
    }
    return write_metrics(o, err);
}

int command_export(int argc, char **argv, struct err *err)
{
    struct export_options options = { .min_slice_s = -1, .min_share = -1, .bucket_s = -1 };
    struct export_run run = { .options = &options };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    if (!done && parts.export_parquet == NULL && options.format != NULL && strcmp(options.format, "parquet") == 0)
        return program_become("fleet", argc, argv, err);
    int rc = done ? 0 : trace_argument_find(&run.arena, options.paths, TRACE_ARGUMENTS_MAX, &options.n_paths, err);
    options.path = options.paths[0];
    if (rc == 0 && !done)
        rc = run_export(&run, err);
    view_pass_close(&run.pass);
    arena_free(&run.arena);
    return rc;
}
