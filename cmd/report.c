/*
 * mmprof report: per phase, how much time and why.
 *
 *     $ mmprof report phases.dat
 *     program  java -jar sort.jar
 *     trace    phases.dat: 1.00 ms, 1.66 ms of CPU time, 8 records of 4 calls
 *     check    97.6 % of the process' CPU time is accounted for: 1.66 ms of 1.70 ms
 *
 *     Phase                    Time (%)  Self (%)  Calls  Time/call    CPI   L1-D  Off-CPU/call
 *     -----------------------------------------------------------------------------------------
 *     Sort.run                    14.12      5.53      1     240 us  1.357   3.64       50.0 us
 *     Sort.sort                    8.59      8.59      2    73.0 us  4.400  16.00       25.0 us
 *     -----------------------------------------------------------------------------------------
 *     application, other code     35.12     35.12    n/a        n/a  2.000   9.80           n/a
 *     garbage collector           41.18     41.18    n/a        n/a      -      -           n/a
 *     ...
 */
#include "cmd/output_file.h"
#include "cmd/trace_argument.h"
#include "report/cost.h"
#include "report/html.h"
#include "report/misses_report.h"
#include "report/pauses_table.h"
#include "report/pruned.h"
#include "report/sampled.h"
#include "report/stats_table.h"
#include "report/timeline_table.h"
#include "report/trace_samples.h"
#include "report/where.h"

#include <string.h>

#define TOP_UNSET     UINT64_MAX
#define TOP_ON_SCREEN 30
#define TOP_IN_HTML   200

#define TRACES_MAX ESTIMATE_GROUPS_MAX /* one for each group of events */

struct report_options {
    const char *paths[TRACES_MAX], *clock, *html, *misses, *sources;
    size_t n_paths;
    struct report_wish wish;
    double step; /* of the time line, in seconds; 0: choose; negative: none */
    bool stats, sampled, pruned, cost, vm, hot, pauses, collections, csv, json, salvage, java;
};

static int parse(int argc, char **argv, struct report_options *o, bool *done, struct err *err)
{
    struct options_row rows[] = {
        { 0, "sort", "KEY", OPTION_TEXT, &o->wish.sort,
          "time, self, calls, percall, cpi, off-cpu, or an event (time)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->wish.min_share, "leave out phases with less of the time (1%)" },
        { 0, "top", "N", OPTION_NUMBER, &o->wish.top,
          "print the N methods with most time (30; 0: all; CSV, JSON: all; --html: 200)" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall: waiting counts too (cpu)" },
        { 0, "all", NULL, OPTION_FLAG, &o->wish.all, "print all methods, however small" },
        { 0, "html", "FILE", OPTION_TEXT, &o->html, "write a page for a browser: the table, plots, the call tree" },
        { 0, "stats", NULL, OPTION_FLAG, &o->stats, "print how calls vary within and between phases instead" },
        { 0, "sampled", NULL, OPTION_FLAG, &o->sampled,
          "methods that a live recording knows from samples only, and why" },
        { 0, "pruned", NULL, OPTION_FLAG, &o->pruned, "print what a live recording switched off, and why, instead" },
        { 0, "cost", NULL, OPTION_FLAG, &o->cost, "print what the recording cost the program instead" },
        { 0, "vm", NULL, OPTION_FLAG, &o->vm,
          "print where threads were: compiled code, parts of the JVM, ..., instead" },
        { 0, "hot", NULL, OPTION_FLAG, &o->hot, "print the functions in which threads were most, instead" },
        { 0, "pauses", NULL, OPTION_FLAG, &o->pauses,
          "print garbage collections, safepoints and class loading, instead" },
        { 0, "collections", NULL, OPTION_FLAG, &o->collections, "print each garbage collection instead" },
        { 0, "misses", "BY", OPTION_MAYBE_TEXT, &o->misses,
          "print simulated misses instead: by class, field, space, method, line, part, time, contents (class)" },
        { 0, "java", NULL, OPTION_FLAG, &o->java,
          "with --misses: only what Java code missed, not the JVM or libraries" },
        { 0, "source", "DIR", OPTION_TEXT, &o->sources, "with --misses=line: print the lines, of sources in DIR" },
        { 0, "timeline", "STEP", OPTION_MAYBE_SECONDS, &o->step,
          "print what happened when instead, in steps of so many seconds" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the trace" },
        { 0 },
    };
    return command_parse_traces(
        "report [OPTIONS] [TRACE...]",
        "Prints the phases of a trace (trace.dat): their share of the process' time, calls, cycles\n"
        "per instruction and misses, next to the JVM's own threads.  Several traces are those of one\n"
        "program, recorded with --groups separate.",
        rows, argc, argv, o->paths, TRACES_MAX, &o->n_paths, done, err);
}

/* Everything that one run holds. */
struct report_run {
    const struct report_options *options;
    struct arena arena;
    struct {
        struct trace_reader *reader;
        struct calltree tree;
        struct report_source source;
    } inputs[TRACES_MAX];
    struct report_trace traces[TRACES_MAX];
    struct call_metrics metrics;
    struct statistics *statistics; /* of the first trace; NULL without --stats and --html */
    struct trace_samples samples;  /* of the first trace */
    struct jit_shapes *shapes;     /* of the first trace; NULL: it has no JIT events */
    struct err jit_err;            /* what is wrong with them, or "" */
};

/* A trace that is salvaged may have lost the name of a method that it has events of. */
static void hear_jit(void *context, const struct jit_event *event)
{
    struct report_run *run = context;
    struct err ignored;
    if (run->jit_err.text[0] != '\0' || (run->shapes == NULL && jit_shapes_open(&run->shapes, &run->jit_err) < 0))
        return;
    jit_shapes_add(run->shapes, event, run->options->salvage ? &ignored : &run->jit_err);
}

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct report_run *run = context;
    trace_samples_add(&run->samples, sample);
}

/* In text what was only sampled, what was switched off, and what it cost follow the report of one trace. */
static bool has_more(const struct report_options *o)
{
    return o->n_paths == 1 && !o->stats && !o->csv && !o->json;
}

/* A table of n rows: asked for, or behind the report if it has any. */
static int print_more(const struct table *table, int n, bool is_asked, const struct report_options *o, struct err *err)
{
    if (n < 0 || (n == 0 && !is_asked))
        return n;
    if (!is_asked)
        putchar('\n');
    return command_print_table(table, o->csv, o->json, err);
}

static int print_sampled(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    struct table table;
    int n = sampled_make(run->traces[0].source, &o->wish, &table, err);
    return print_more(&table, n, o->sampled, o, err);
}

static int print_pruned(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    struct table table;
    int n = pruned_make(first->source, first->totals, first->n_totals, &table, err);
    return print_more(&table, n, o->pruned, o, err);
}

static int print_cost(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    struct recovery recovery;
    struct table table;
    if (recovery_measure(source, o->salvage, &recovery, err) < 0 || cost_make(source, &recovery, &table, err) < 0)
        return -1;
    if (!o->cost)
        putchar('\n');
    return command_print_table(&table, o->csv, o->json, err);
}

static int print_pauses(struct report_run *run, struct err *err)
{
    struct table table;
    if (pauses_table(run->traces[0].source, &table, err) < 0)
        return -1;
    return command_print_table(&table, run->options->csv, run->options->json, err);
}

static int print_collections(struct report_run *run, struct err *err)
{
    struct table table;
    if (collections_table(run->traces[0].source, &table, err) < 0)
        return -1;
    return command_print_table(&table, run->options->csv, run->options->json, err);
}

/* The table that was asked for; in text --vm has all of them that can be had. */
static int print_where(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    bool is_text = !o->csv && !o->json;
    struct where where;
    struct table table;
    int rc = where_read(source, o->salvage, &where, err);
    if (rc == 0 && o->vm)
        rc = where_table(source, &where, &table, err) < 0 ? -1 : command_print_table(&table, o->csv, o->json, err);
    if (rc == 0 && o->vm && is_text) {
        struct err ignored;
        putchar('\n');
        if (print_pauses(run, &ignored) == 0)
            putchar('\n');
    }
    if (rc == 0 && (o->hot || is_text))
        rc = where_hot_table(source, &where, o->wish.top, &table, err) < 0
                 ? -1
                 : command_print_table(&table, o->csv, o->json, err);
    where_free(&where);
    return rc;
}

static int print_misses(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    enum misses_by by = MISSES_BY_CLASS;
    struct misses misses = { .places = NULL };
    struct table table;
    if (o->misses[0] != '\0' && misses_way(o->misses, &by, err) < 0)
        return -1;
    if (o->java && by == MISSES_CONTENTS) {
        err_set(err, "the contents of the caches are not recorded by the code that loaded them");
        return err_next(err, "remove --java, or use --misses=class --java");
    }
    int rc = misses_read(source, o->salvage, by, &misses, err);
    if (rc == 0 && o->java)
        rc = misses_keep_java(&misses, err);
    if (rc == 0)
        rc = misses_table(source, &misses, by, o->wish.top, o->sources, &table, err) < 0
                 ? -1
                 : command_print_table(&table, o->csv, o->json, err);
    misses_free(&misses);
    return rc;
}

static int print_timeline(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *trace = &run->traces[0];
    struct timeline_read read = { .timeline = NULL };
    struct table table;
    int rc = timeline_read(trace->source, trace->totals, trace->n_totals, &o->wish, o->step * 1e9, 0, o->salvage, &read,
                           err);
    if (rc == 0)
        rc = timeline_table(trace->source, &read, !o->csv && !o->json, &table, err);
    if (rc == 0)
        rc = command_print_table(&table, o->csv, o->json, err);
    timeline_close(read.timeline);
    return rc;
}

/* Of a trace that has nothing else. */
static int print_samples(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct samples_options options = { o->wish.all ? 0 : o->wish.min_share, o->wish.top,
                                             strcmp(o->wish.sort, "self") == 0, false };
    struct table table;
    if (trace_samples_table(&run->samples, &options, &run->arena, &table, err) < 0)
        return -1;
    return command_print_table(&table, o->csv, o->json, err);
}

static int print_report(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    struct table table;
    struct report_wish wish = o->wish;
    wish.with_sampled = trace_info(first->source->reader, "live.budget") != NULL && first->source->clock == PHASES_CPU;
    wish.samples = &run->samples;
    int rc = o->stats ? stats_table(first->source, first->totals, first->n_totals, &o->wish, &run->metrics,
                                    run->statistics, &table, err)
                      : report_make_joined(run->traces, o->n_paths, &wish, &table, err);
    if (rc < 0 || command_print_table(&table, o->csv, o->json, err) < 0)
        return -1;
    return has_more(o) ? print_cost(run, err) : 0;
}

static int write_page(const struct html_page *page, const char *path, struct err *err)
{
    struct output_file file;
    if (output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_write(page, file.out, err), err);
}

/* The page's time line; one that cannot be had is no error, unless the user asked for its steps. */
static int read_line(struct report_run *run, struct timeline_read *read, struct html_page *page, struct err *no_line)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    double step_ns = o->step > 0 ? o->step * 1e9 : 0;
    int rc = timeline_read(first->source, first->totals, first->n_totals, &o->wish, step_ns, HTML_STEPS_MAX, o->salvage,
                           read, no_line);
    if (rc == 0 && timeline_n_steps(read->timeline) > HTML_STEPS_ASKED_MAX) {
        err_set(no_line, "a page of %u steps would be too large for a browser", timeline_n_steps(read->timeline));
        rc = err_next(no_line, "choose a longer --timeline=STEP: %d are possible", HTML_STEPS_ASKED_MAX);
    }
    page->line = rc < 0 ? NULL : read;
    page->no_line = rc < 0 ? no_line->text : NULL;
    return o->step > 0 ? rc : 0;
}

/* Where threads were, for the page; a trace that does not tell is no error. */
struct page_places {
    struct table where, hot, pauses;
    struct where read;
    struct err no_where, no_pauses;
};

static void read_places(struct report_run *run, struct page_places *places, struct html_page *page)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    struct err *err = &places->no_where;
    if (where_read(source, o->salvage, &places->read, err) < 0 ||
        where_table(source, &places->read, &places->where, err) < 0 ||
        where_hot_table(source, &places->read, o->wish.top, &places->hot, err) < 0) {
        page->no_where = err->text;
    } else {
        page->where = &places->where;
        page->hot = &places->hot;
    }
    if (pauses_table(source, &places->pauses, &places->no_pauses) < 0)
        page->no_pauses = places->no_pauses.text;
    else
        page->pauses = &places->pauses;
}

static int print_page(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    struct table table, sampled, pruned, cost, stats;
    struct recovery recovery;
    struct timeline_read read = { .timeline = NULL };
    struct page_places places = { .read = { .places = NULL } };
    struct err no_line;
    if (report_make_joined(run->traces, o->n_paths, &o->wish, &table, err) < 0)
        return -1;
    int n_sampled = sampled_make(first->source, &o->wish, &sampled, err);
    int n_pruned = n_sampled < 0 ? -1 : pruned_make(first->source, first->totals, first->n_totals, &pruned, err);
    if (n_pruned < 0 || recovery_measure(first->source, o->salvage, &recovery, err) < 0 ||
        cost_make(first->source, &recovery, &cost, err) < 0 ||
        stats_table(first->source, first->totals, first->n_totals, &o->wish, &run->metrics, run->statistics, &stats,
                    err) < 0)
        return -1;
    struct html_page page = { .traces = run->traces,
                              .n_traces = o->n_paths,
                              .phases = &table,
                              .sampled = n_sampled > 0 ? &sampled : NULL,
                              .pruned = n_pruned > 0 ? &pruned : NULL,
                              .cost = &cost,
                              .stats = &stats };
    read_places(run, &places, &page);
    int rc = read_line(run, &read, &page, &no_line);
    if (rc < 0)
        *err = no_line;
    else
        rc = write_page(&page, o->html, err);
    timeline_close(read.timeline);
    where_free(&places.read);
    return rc;
}

static int open_statistics(struct report_run *run, enum phases_clock clock, struct err *err)
{
    const struct report_options *o = run->options;
    if (call_metrics_read(o->paths[0], o->salvage, clock, &run->arena, &run->metrics, err) < 0)
        return -1;
    run->statistics = statistics_open(&run->metrics.wish);
    return run->statistics == NULL ? err_set(err, "out of memory for statistics") : 0;
}

static int read_trace(struct report_run *run, size_t i, enum phases_clock clock, const struct calltree_options *options,
                      struct err *err)
{
    const struct report_options *o = run->options;
    struct trace_reader **reader = &run->inputs[i].reader;
    struct calltree *tree = &run->inputs[i].tree;
    struct calltree_total *totals;
    const struct trace_listener listener = { .context = run,
                                             .jit = i == 0 ? hear_jit : NULL,
                                             .sample = i == 0 ? hear_sample : NULL };
    if (trace_open(reader, o->paths[i], o->salvage, err) < 0 ||
        (i == 0 && trace_samples_open(&run->samples, *reader, err) < 0))
        return -1;
    trace_listen(*reader, &listener);
    if (calltree_build(*reader, options, tree, err) < 0 ||
        calltree_totals(tree, VM_PART_APPLICATION, &run->arena, &totals, &run->traces[i].n_totals, err) < 0)
        return -1;
    if (run->jit_err.text[0] != '\0')
        return err_set(err, "%s", run->jit_err.text);
    run->inputs[i].source = (struct report_source){ .path = o->paths[i],
                                                    .reader = *reader,
                                                    .tree = tree,
                                                    .clock = report_clock(tree, clock),
                                                    .arena = &run->arena,
                                                    .shapes = i == 0 ? run->shapes : NULL };
    run->traces[i].source = &run->inputs[i].source;
    run->traces[i].totals = totals;
    return 0;
}

/* What is of time on a CPU, or of no time, whatever the clock: 'first', the report that is asked for, or NULL. */
static int check_clock(const struct report_options *o, enum phases_clock clock, const char *first, struct err *err)
{
    if (clock == PHASES_CPU || first == NULL || o->html != NULL || o->stats)
        return 0;
    err_set(err, "--%s has no wall-clock time", first);
    return err_next(err, "remove '--clock %s'", o->clock);
}

/* What is made instead of the report: one at a time; all but the page of one trace.  A page has a time line, too. */
static int check_options(const struct report_options *o, enum phases_clock clock, struct err *err)
{
    const struct {
        const char *name;
        bool is_asked;
    } all[] = { { "html", o->html != NULL },
                { "stats", o->stats },
                { "sampled", o->sampled },
                { "pruned", o->pruned },
                { "cost", o->cost },
                { "vm", o->vm },
                { "hot", o->hot },
                { "pauses", o->pauses },
                { "collections", o->collections },
                { "timeline", o->step >= 0 && o->html == NULL },
                { "misses", o->misses != NULL } };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].is_asked && first != NULL) {
            err_set(err, "--%s and --%s are reports of their own", first, all[i].name);
            return err_next(err, "ask for one of them");
        }
        first = all[i].is_asked ? all[i].name : first;
    }
    if (o->java && o->misses == NULL) {
        err_set(err, "--java requires --misses");
        return err_next(err, "add --misses=class, or remove --java");
    }
    if (o->html != NULL && (o->csv || o->json)) {
        err_set(err, "--html writes a page, and --%s a table", o->csv ? "csv" : "json");
        return err_next(err, "run 'mmprof report' once for each");
    }
    if (check_clock(o, clock, first, err) < 0)
        return -1;
    if (o->n_paths == 1 || first == NULL || o->html != NULL)
        return 0;
    err_set(err, "--%s reads one trace, not both '%s' and '%s'", first, o->paths[0], o->paths[1]);
    return err_next(err, "run it once for each of them");
}

static int run_report(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    enum phases_clock clock;
    struct calltree_observer observer;
    struct calltree_options options = { .max_nodes = 0 }, others = options;
    if (report_clock_parse(o->clock, &clock, err) < 0 || check_options(o, clock, err) < 0)
        return -1;
    if (o->stats || o->html != NULL) {
        if (open_statistics(run, clock, err) < 0)
            return -1;
        observer = statistics_observer(run->statistics);
        options.observer = &observer;
    }
    for (size_t i = 0; i < o->n_paths; i++)
        if (read_trace(run, i, clock, i == 0 ? &options : &others, err) < 0)
            return -1;
    call_metrics_judge(&run->metrics, run->inputs[0].reader, &run->inputs[0].tree);
    if (o->html != NULL)
        return print_page(run, err);
    if (o->step >= 0)
        return print_timeline(run, err);
    if (o->cost)
        return print_cost(run, err);
    if (o->misses != NULL)
        return print_misses(run, err);
    if (o->pauses)
        return print_pauses(run, err);
    if (o->collections)
        return print_collections(run, err);
    if (o->vm || o->hot)
        return print_where(run, err);
    if (o->sampled)
        return print_sampled(run, err);
    if (o->pruned)
        return print_pruned(run, err);
    return trace_samples_are_all(run->inputs[0].reader) && !o->stats ? print_samples(run, err) : print_report(run, err);
}

int command_report(int argc, char **argv, struct err *err)
{
    struct report_options options = { .clock = "cpu",
                                      .step = -1,
                                      .wish = { .sort = "time", .min_share = 0.01, .top = TOP_UNSET } };
    struct report_run run = { .options = &options };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    if (options.wish.top == TOP_UNSET)
        options.wish.top = options.html != NULL                              ? TOP_IN_HTML
                           : options.csv || options.json || options.wish.all ? 0
                                                                             : TOP_ON_SCREEN;
    int rc = done ? 0 : run_report(&run, err);
    statistics_close(run.statistics);
    jit_shapes_close(run.shapes);
    trace_samples_close(&run.samples);
    for (size_t i = 0; i < options.n_paths; i++) {
        calltree_free(&run.inputs[i].tree);
        trace_close(run.inputs[i].reader);
    }
    arena_free(&run.arena);
    return rc;
}
