#include "report/export/export_metrics.h"

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
void metrics_totals_add(struct metrics_totals *totals, const struct table *table, const struct report_source *source)
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

int metrics_write(const struct metrics_totals *totals, const struct metrics_labels *labels, bool goes_on, FILE *out,
                  struct err *err)
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
