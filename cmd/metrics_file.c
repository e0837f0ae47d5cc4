#include "cmd/metrics_file.h"

#include "cmd/output_file.h"
#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

/* ---- labels ---- */

#define LABEL_BYTES_MAX 200

/* Where the value of a label goes; NULL: there is no such label. */
static const char **label_target(struct metrics_labels *labels, const char *label, size_t n)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = { { "service", &labels->service }, { "version", &labels->version }, { "host", &labels->host } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == n && strncmp(label, known[i].name, n) == 0)
            return known[i].value;
    return NULL;
}

static int take_label(const char *label, struct metrics_labels *labels, struct arena *arena, struct err *err)
{
    const char *equals = strchr(label, '=');
    const char **value = equals == NULL ? NULL : label_target(labels, label, (size_t)(equals - label));
    if (value == NULL || equals[1] == '\0') {
        err_set(err, "'%s' is not a label", label);
        return err_next(err, "give --label service=NAME, --label version=NAME or --label host=NAME");
    }
    if (strlen(equals + 1) > LABEL_BYTES_MAX) {
        err_set(err, "the label '%.*s' has more than %d bytes", (int)(equals - label), label, LABEL_BYTES_MAX);
        return err_next(err, "choose a shorter one");
    }
    *value = text_utf8(arena, equals + 1, strlen(equals + 1));
    return 0;
}

int metrics_labels_read(const struct options_list *list, struct metrics_labels *labels, struct arena *arena,
                        struct err *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (take_label(list->items[i], labels, arena, err) < 0)
            return -1;
    return 0;
}

int metrics_file_open(struct metrics_file *file, const struct options_list *labels, struct err *err)
{
    *file = (struct metrics_file){ .labels = labels };
    return metrics_labels_read(labels, &file->options, &file->arena, err);
}

void metrics_file_close(struct metrics_file *file)
{
    arena_free(&file->arena);
}

#define NS_PER_SECOND 1e9

struct metric {
    const char *name, *help, *key; /* key: the column of the row "total" that has it */
};

static const struct metric counted[METRICS_TOTALS] = {
    { "mmprof_calls", "Calls of the phases that were recorded.", "calls" },
    { "mmprof_cycles", "CPU cycles of the process in the recording.", "cycles" },
    { "mmprof_instructions", "Instructions of the process in the recording.", "instructions" },
};

/* What is written of one trace, or of a recording that goes on. */
struct exposition {
    FILE *out;
    const struct metrics_labels *labels;
    bool goes_on;
};

/* ---- text ---- */

static void put_label(FILE *out, const char *name, const char *value, bool *is_first)
{
    if (value == NULL)
        return;
    fprintf(out, "%s%s=\"", *is_first ? "{" : ",", name);
    for (; *value != '\0'; value++)
        if (*value == '\\' || *value == '"')
            fprintf(out, "\\%c", *value);
        else if (*value == '\n')
            fputs("\\n", out);
        else
            putc(*value, out);
    putc('"', out);
    *is_first = false;
}

/* A counter's name ends with _total, but for what only says when. */
static void put_head(const struct exposition *e, const char *name, const char *help, bool is_gauge)
{
    bool is_counter = e->goes_on && !is_gauge;
    const char *suffix = is_counter ? "_total" : "";
    fprintf(e->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
            is_counter ? "counter" : "gauge");
}

/* key, word: a label more, or NULL. */
static void put_value(const struct exposition *e, const char *name, const char *key, const char *word, double value,
                      bool is_gauge)
{
    bool is_first = true;
    fprintf(e->out, "%s%s", name, e->goes_on && !is_gauge ? "_total" : "");
    put_label(e->out, "service", e->labels->service, &is_first);
    put_label(e->out, "version", e->labels->version, &is_first);
    put_label(e->out, "host", e->labels->host, &is_first);
    put_label(e->out, key, word, &is_first);
    fprintf(e->out, "%s %.17g\n", is_first ? "" : "}", value);
}

static void put_one(const struct exposition *e, const char *name, const char *help, double value, bool is_gauge)
{
    put_head(e, name, help, is_gauge);
    put_value(e, name, NULL, NULL, value, is_gauge);
}

/* ---- sums ---- */

static double number_of(const struct table *table, const struct table_row *row, const char *key)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (strcmp(table->columns[c].key, key) == 0 && row->cells[c].value == TABLE_NUMBER)
            return row->cells[c].number;
    return NAN;
}

static bool is_method(const struct table_row *row)
{
    return strcmp(row->kind, "phase") == 0 || strcmp(row->kind, "sampled") == 0;
}

static void add_part(struct metrics_totals *totals, const char *kind, double cpu_s)
{
    size_t i = 0;
    while (i < totals->n_parts && strcmp(totals->parts[i].kind, kind) != 0)
        i++;
    if (i == METRICS_PARTS_MAX)
        return;
    if (i == totals->n_parts)
        snprintf(totals->parts[totals->n_parts++].kind, METRICS_PART_BYTES, "%s", kind);
    totals->parts[i].cpu_s += cpu_s;
}

/* Of a trace of samples alone no calls are known. */
static void add_counted(struct metrics_totals *totals, const struct table *table, const struct table_row *row)
{
    for (size_t i = 0; i < METRICS_TOTALS; i++) {
        double value = number_of(table, row, counted[i].key);
        if (isnan(value) || value <= 0)
            continue;
        totals->values[i] += value;
        totals->has[i] = true;
    }
}

/* The time of the phases together, and of each other row: they add up to the process' CPU time. */
static void add_totals(struct metrics_totals *totals, const struct table *table, const struct report_source *source)
{
    const struct trace_reader *reader = source->reader;
    double recorded_s = report_ns(source, trace_end_ticks(reader) - trace_start_ticks(reader)) / NS_PER_SECOND;
    double start_s = (double)trace_start_realtime_ns(reader) / NS_PER_SECOND;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        double self = number_of(table, row, "self_ns");
        if (strcmp(row->kind, "total") == 0)
            add_counted(totals, table, row);
        else if (!isnan(self))
            add_part(totals, is_method(row) ? "phases" : row->kind, self / NS_PER_SECOND);
    }
    totals->recorded_s += recorded_s;
    totals->start_s = totals->n_written == 0 ? start_s : totals->start_s;
    totals->end_s = start_s + recorded_s;
    totals->n_written++;
}

/* ---- what is told ---- */

static void put_files(const struct exposition *e, const struct metrics_totals *totals)
{
    static const char files[] = "mmprof_files";
    put_head(e, files, "Files of the recording, by outcome.", false);
    put_value(e, files, "outcome", "read", (double)totals->n_written, false);
    put_value(e, files, "outcome", "lost", (double)totals->n_lost, false);
    if (totals->n_written > 0)
        put_one(e, "mmprof_last_file_timestamp_seconds", "End of the last file that was read, in seconds since 1970.",
                totals->end_s, true);
}

/* Returns 0, or -1 with *err set: out cannot be written. */
static int write_totals(const struct metrics_totals *totals, const struct metrics_labels *labels, bool goes_on,
                        FILE *out, struct err *err)
{
    static const char cpu[] = "mmprof_cpu_seconds";
    const struct exposition e = { out, labels, goes_on };
    put_one(&e, "mmprof_recording_start_timestamp_seconds", "Start of the recording, in seconds since 1970.",
            totals->start_s, true);
    put_one(&e, "mmprof_recorded_seconds", "Length of the recording.", totals->recorded_s, false);
    put_head(&e, cpu, "CPU time of the process in the recording, by part.", false);
    for (size_t i = 0; i < totals->n_parts; i++)
        put_value(&e, cpu, "part", totals->parts[i].kind, totals->parts[i].cpu_s, false);
    for (size_t i = 0; i < METRICS_TOTALS; i++)
        if (totals->has[i])
            put_one(&e, counted[i].name, counted[i].help, totals->values[i], false);
    if (goes_on)
        put_files(&e, totals);
    return ferror(out) != 0 ? err_set(err, "cannot write the metrics: %s", strerror(errno)) : 0;
}

/* ---- a trace ---- */

static int add_pass(struct metrics_file *file, struct view_pass *pass, struct err *err)
{
    static const struct report_row_options options = { .sort = "time" };
    struct report_source source;
    struct table table;
    sampled_tree(&pass->source, view_pass_samples(pass, &pass->source), false, &source);
    if (report_make(&source, pass->totals, pass->n_totals, &options, &table, err) < 0)
        return -1;
    const char *host = file->options.host != NULL ? file->options.host : info_text(source.reader, INFO_HOST);
    snprintf(file->host, sizeof file->host, "%s", host == NULL ? "" : host);
    add_totals(&file->totals, &table, &source);
    return 0;
}

int metrics_file_add(struct metrics_file *file, const char *trace, bool salvage, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct view_pass pass = { .arena = &arena };
    struct view_pass_options options = { .path = trace,
                                         .salvage = salvage,
                                         .parts = VIEW_PASS_SAMPLES,
                                         .clock = PHASES_CPU,
                                         .libraries = folding_read(NULL, &arena, err) };
    int rc = options.libraries == NULL || view_pass_read(&options, &arena, &pass, err) < 0 ? -1 : 0;
    if (rc == 0)
        rc = add_pass(file, &pass, err);
    view_pass_close(&pass);
    arena_free(&arena);
    return rc;
}

/* ---- the file ---- */

int metrics_file_write(const struct metrics_file *file, const char *path, bool goes_on, struct err *err)
{
    const struct metrics_labels labels = { .host = file->host[0] == '\0' ? NULL : file->host,
                                           .service = file->options.service,
                                           .version = file->options.version };
    struct output_file out;
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid()) >= (int)sizeof beside)
        return err_set(err, "the name '%.60s...' is too long", path);
    if (output_file_open(&out, beside, "--metrics", err) < 0 ||
        output_file_close(&out, write_totals(&file->totals, &labels, goes_on, out.out, err), err) < 0)
        return -1;
    if (rename(beside, path) == 0)
        return 0;
    err_set(err, "cannot write '%s': %s", path, strerror(errno));
    unlink(beside);
    return err_next(err, "name another file with --metrics");
}
