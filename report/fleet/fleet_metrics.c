#include "report/fleet/fleet_metrics.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NS_PER_SECOND 1e9

struct metric {
    const char *name, *help, *key; /* key: the column of the row "total" that has it; NULL: another source */
    double divisor;
};

static const struct metric totals[] = {
    { "mmprof_calls", "Calls of the phases that were recorded.", "calls", 1 },
    { "mmprof_cycles", "CPU cycles of the process in the recording.", "cycles", 1 },
    { "mmprof_instructions", "Instructions of the process in the recording.", "instructions", 1 },
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

static void put_head(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* part: a label more, or NULL. */
static void put_value(FILE *out, const char *name, const struct fleet_run *run, const char *part, double value)
{
    bool is_first = true;
    fputs(name, out);
    put_label(out, "service", run->service, &is_first);
    put_label(out, "version", run->version, &is_first);
    put_label(out, "host", run->host, &is_first);
    put_label(out, "part", part, &is_first);
    fprintf(out, "%s %.17g\n", is_first ? "" : "}", value);
}

/* ---- what is told ---- */

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

/* The time of the phases together, and of each other row: they add up to the process' CPU time. */
static void put_parts(FILE *out, const struct table *table, const struct fleet_run *run)
{
    static const char name[] = "mmprof_cpu_seconds";
    double phases = 0;
    bool has_phases = false;
    put_head(out, name, "CPU time of the process in the recording, by part.");
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_row *row = &table->rows[i];
        double self = number_of(table, row, "self_ns");
        if (isnan(self) || strcmp(row->kind, "total") == 0)
            continue;
        if (is_method(row)) {
            phases += self;
            has_phases = true;
        } else {
            put_value(out, name, run, row->kind, self / NS_PER_SECOND);
        }
    }
    if (has_phases)
        put_value(out, name, run, "phases", phases / NS_PER_SECOND);
}

static void put_totals(FILE *out, const struct table *table, const struct fleet_run *run)
{
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++)
        for (size_t r = 0; r < table->n_rows; r++) {
            double value = strcmp(table->rows[r].kind, "total") == 0
                               ? number_of(table, &table->rows[r], totals[i].key) / totals[i].divisor
                               : NAN;
            if (isnan(value) || value <= 0) /* of a trace of samples alone no calls are known */
                continue;
            put_head(out, totals[i].name, totals[i].help);
            put_value(out, totals[i].name, run, NULL, value);
        }
}

int fleet_metrics_write(const struct table *table, const struct fleet_run *run, const struct trace_reader *reader,
                        FILE *out, struct err *err)
{
    static const char start[] = "mmprof_recording_start_timestamp_seconds";
    put_head(out, start, "When the recording began, in seconds since 1970.");
    put_value(out, start, run, NULL, (double)trace_start_realtime_ns(reader) / NS_PER_SECOND);
    put_parts(out, table, run);
    put_totals(out, table, run);
    return ferror(out) != 0 ? err_set(err, "cannot write the metrics: %s", strerror(errno)) : 0;
}
