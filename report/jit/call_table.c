/* Calls that are not inlined, by call site, as the program runs and with probes in all methods. */
#include "report/jit/call_counts.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Columns; what follows them is not in text. */
enum {
    SITE,
    CALLED,
    CALLS,
    OF_ALL,
    LEFT, /* by run */
    PERTURBATION = LEFT + CALL_RUNS,
    N_LEFT,                     /* the same */
    FATES = N_LEFT + CALL_RUNS, /* by run, those that are not inlined */
    LINE = FATES + CALL_RUNS * (CALL_FATES - 1),
    BYTECODE,
    CLASS,
    METHOD,
    DESCRIPTOR
};

static uint64_t left(const struct call_site_counts *site, enum call_run run)
{
    uint64_t n = 0;
    for (int fate = CALL_IS_LEFT; fate < CALL_FATES; fate++)
        n += site->n_of[run][fate];
    return n;
}

static uint64_t most_left(const struct call_site_counts *site)
{
    uint64_t as_it_runs = left(site, CALLS_AS_IT_RUNS), with_probes = left(site, CALLS_WITH_PROBES);
    return as_it_runs > with_probes ? as_it_runs : with_probes;
}

static int by_left(const void *a, const void *b)
{
    const struct call_site_counts *x = *(const struct call_site_counts *const *)a,
                                  *y = *(const struct call_site_counts *const *)b;
    uint64_t of_x = most_left(x), of_y = most_left(y);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x < y ? -1 : x > y;
}

static void add_columns(struct table *table)
{
    static const char *const keys[] = { "as_it_runs_calls",        "with_probes_calls",     "as_it_runs_compiled",
                                        "as_it_runs_interpreted",  "as_it_runs_leave_code", "with_probes_compiled",
                                        "with_probes_interpreted", "with_probes_leave_code" };
    table_column(table, "Call site", "site_label", TABLE_TEXT);
    table_column(table, "Called", "called", TABLE_TEXT);
    table_column(table, "Calls", "calls", TABLE_COUNT);
    table_column(table, "(%)", "calls_share", TABLE_SHARE);
    table_column(table, "As it runs (%)", "as_it_runs_share", TABLE_SHARE);
    table_column(table, "With probes (%)", "with_probes_share", TABLE_SHARE);
    table_column(table, "Perturbation (%)", "perturbation_share", TABLE_SHARE);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        table_data_column(table, keys[i], TABLE_COUNT);
    table_data_column(table, "line", TABLE_COUNT);
    table_data_column(table, "bytecode", TABLE_COUNT);
    table_data_column(table, "class", TABLE_TEXT);
    table_data_column(table, "method", TABLE_TEXT);
    table_data_column(table, "descriptor", TABLE_TEXT);
}

static struct table_cell *add_numbers(struct table *table, const char *kind, const char *label,
                                      const struct call_site_counts *site, uint64_t n_all)
{
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return NULL;
    double calls = (double)site->n, n_left[CALL_RUNS];
    cells[SITE] = table_words(label);
    cells[CALLS] = table_number(calls);
    cells[OF_ALL] = table_quotient(calls, (double)n_all);
    for (size_t run = 0, at = FATES; run < CALL_RUNS; run++) {
        n_left[run] = (double)left(site, (enum call_run)run);
        cells[LEFT + run] = table_quotient(n_left[run], calls);
        cells[N_LEFT + run] = table_number(n_left[run]);
        for (size_t fate = CALL_IS_LEFT; fate < CALL_FATES; fate++)
            cells[at++] = table_number((double)site->n_of[run][fate]);
    }
    cells[PERTURBATION] = table_quotient(n_left[CALLS_WITH_PROBES] - n_left[CALLS_AS_IT_RUNS], calls);
    return cells;
}

static void add_site(const struct call_counts *counts, const struct call_site_counts *site, uint64_t n_all,
                     struct table *table)
{
    const struct method_name *method = &counts->methods[site->method];
    const char *name = java_names_display(table->arena, method, JAVA_NAMES_SHORT);
    if (name != NULL && site->line > 0)
        name = arena_printf(table->arena, "%s:%" PRIu32, name, site->line);
    struct table_cell *cells = add_numbers(table, "site", name, site, n_all);
    if (cells == NULL)
        return;
    if (site->called != CALL_NO_METHOD)
        cells[CALLED] = table_words(counts->methods[site->called].method);
    if (site->line > 0)
        cells[LINE] = table_number(site->line);
    if (site->index >= 0)
        cells[BYTECODE] = table_number(site->index);
    cells[CLASS] = table_words(method->class_name);
    cells[METHOD] = table_words(method->method);
    cells[DESCRIPTOR] = table_words(method->descriptor);
}

static void add_up(struct call_site_counts *sum, const struct call_site_counts *site)
{
    sum->n += site->n;
    for (size_t run = 0; run < CALL_RUNS; run++)
        for (size_t fate = 0; fate < CALL_FATES; fate++)
            sum->n_of[run][fate] += site->n_of[run][fate];
}

/* "as it runs   12.30 % of the calls remain: compiled 9.10 %, ..." */
static void add_run(struct table *table, const char *key, const char *label, const struct call_site_counts *sum,
                    enum call_run run)
{
    const uint64_t *of = sum->n_of[run];
    double per_cent = sum->n == 0 ? 0 : 100 / (double)sum->n;
    const char *words = arena_printf(
        table->arena,
        "%-13s%.2f %% of the calls remain: compiled %.2f %%, interpreted %.2f %%, back to the interpreter %.2f %%",
        label, (double)left(sum, run) * per_cent, (double)of[CALL_IS_LEFT] * per_cent,
        (double)of[CALL_INTERPRETED] * per_cent, (double)of[CALL_LEAVES_CODE] * per_cent);
    table_metadata_number(table, key, sum->n == 0 ? NAN : (double)left(sum, run) / (double)sum->n, words);
}

static void add_metadata(const struct call_counts *counts, const char *command, const struct call_site_counts *sum,
                         struct table *table)
{
    struct arena *arena = table->arena;
    table_metadata_words(table, "command", command, arena_printf(arena, "command      %s", command));
    table_metadata_number(table, "interval", counts->interval, NULL);
    table_metadata_number(
        table, "all_calls", (double)counts->n_seen,
        counts->interval == 1
            ? arena_printf(arena, "calls        %" PRIu64 " in the bytecode (with -Xint)", counts->n_seen)
            : arena_printf(arena,
                           "calls        %" PRIu64 " in the bytecode (with -Xint), one in %" PRIu32 " of them counted",
                           counts->n_seen, counts->interval));
    table_metadata_number(table, "counted_calls", (double)counts->n_taken, NULL);
    add_run(table, "as_it_runs_share", "as it runs", sum, CALLS_AS_IT_RUNS);
    add_run(table, "with_probes_share", "with probes", sum, CALLS_WITH_PROBES);
}

int call_counts_table(struct call_counts *counts, const char *command, uint64_t top, struct table *table,
                      struct err *err)
{
    struct call_site_counts sum = { .n = 0 };
    const struct call_site_counts **sorted = calloc((size_t)counts->n_sites + 1, sizeof *sorted);
    if (sorted == NULL)
        return err_set(err, "out of memory for a table");
    for (uint32_t i = 0; i < counts->n_sites; i++) {
        sorted[i] = &counts->sites[i];
        add_up(&sum, sorted[i]);
    }
    qsort(sorted, counts->n_sites, sizeof *sorted, by_left);
    table_begin(table, counts->arena);
    add_metadata(counts, command, &sum, table);
    add_columns(table);
    for (uint32_t i = 0; i < counts->n_sites && (top == 0 || i < top) && sorted[i]->n > 0; i++)
        add_site(counts, sorted[i], sum.n, table);
    free(sorted);
    size_t last = table->n_rows;
    add_numbers(table, "total", "all", &sum, sum.n);
    if (last < table->n_rows)
        table->rows[last].after_rule = true;
    table_note(table, "As it runs (%), With probes (%): calls that are not inlined, by the code at the end of a run");
    table_note(table, "Perturbation (%): what a profiler with a probe in each method does to inlining");
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
