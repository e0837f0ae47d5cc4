/* Calls that are not inlined, by call site, as the program runs and with probes in all methods. */
#include "core/base/xalloc.h"
#include "report/jit/call_counts.h"
#include "symbolize/java_names.h"

#define EARLY_MOST 0.1 /* of the calls in code of tiers 2 and 3 */

/* A row; what it has not is NULL, or NAN. */
struct call_row {
    struct call_site_counts of;
    struct method_name method;
    const char *label, *called;
    double share, left_share[CALL_RUNS], perturbation, line, index;
    uint64_t n_left[CALL_RUNS];
};

#define OF_RUN(key, run)                                                                                             \
    { key "_compiled", NULL, TABLE_COUNT, FROM(struct call_row, of.n_of[run][CALL_IS_LEFT]), .width = COLUMN_DATA }, \
        { key "_interpreted", NULL, TABLE_COUNT, FROM(struct call_row, of.n_of[run][CALL_INTERPRETED]),              \
          .width = COLUMN_DATA },                                                                                    \
    {                                                                                                                \
        key "_leave_code", NULL, TABLE_COUNT, FROM(struct call_row, of.n_of[run][CALL_LEAVES_CODE]),                 \
            .width = COLUMN_DATA                                                                                     \
    }

static const struct table_column columns[] = {
    { "site_label", "Call site", TABLE_TEXT, FROM(struct call_row, label) },
    { "called", "Called", TABLE_TEXT, FROM(struct call_row, called) },
    { "calls", "Calls", TABLE_COUNT, FROM(struct call_row, of.n) },
    { "calls_share", "(%)", TABLE_SHARE, FROM(struct call_row, share) },
    { "as_it_runs_share", "As it runs (%)", TABLE_SHARE, FROM(struct call_row, left_share[CALLS_AS_IT_RUNS]) },
    { "with_probes_share", "With probes (%)", TABLE_SHARE, FROM(struct call_row, left_share[CALLS_WITH_PROBES]) },
    { "perturbation_share", "Perturbation (%)", TABLE_SHARE, FROM(struct call_row, perturbation) },
    { "as_it_runs_calls", NULL, TABLE_COUNT, FROM(struct call_row, n_left[CALLS_AS_IT_RUNS]), .width = COLUMN_DATA },
    { "with_probes_calls", NULL, TABLE_COUNT, FROM(struct call_row, n_left[CALLS_WITH_PROBES]), .width = COLUMN_DATA },
    OF_RUN("as_it_runs", CALLS_AS_IT_RUNS),
    OF_RUN("with_probes", CALLS_WITH_PROBES),
    { "line", NULL, TABLE_COUNT, FROM(struct call_row, line), .width = COLUMN_DATA },
    { "bytecode", NULL, TABLE_COUNT, FROM(struct call_row, index), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, FROM(struct call_row, method.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, FROM(struct call_row, method.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, FROM(struct call_row, method.descriptor), .width = COLUMN_DATA },
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

static struct call_row row_of(const char *label, const struct call_site_counts *site, uint64_t n_all)
{
    double calls = (double)site->n;
    struct call_row row = { .of = *site, .label = label, .line = NAN, .index = NAN };
    row.share = n_all == 0 ? NAN : calls / (double)n_all;
    for (enum call_run run = 0; run < CALL_RUNS; run++) {
        row.n_left[run] = left(site, run);
        row.left_share[run] = calls > 0 ? (double)row.n_left[run] / calls : NAN;
    }
    row.perturbation =
        calls > 0 ? ((double)row.n_left[CALLS_WITH_PROBES] - (double)row.n_left[CALLS_AS_IT_RUNS]) / calls : NAN;
    return row;
}

static void add_site(const struct call_counts *counts, const struct call_site_counts *site, uint64_t n_all,
                     struct table *table)
{
    const struct method_name *method = &counts->methods[site->method];
    const char *name = java_names_display(table->arena, method, JAVA_NAMES_SHORT);
    if (site->line > 0)
        name = arena_printf(table->arena, "%s:%" PRIu32, name, site->line);
    struct call_row row = row_of(name, site, n_all);
    row.method = *method;
    row.called = site->called == CALL_NO_METHOD ? NULL : counts->methods[site->called].method;
    row.line = site->line > 0 ? (double)site->line : NAN;
    row.index = site->index >= 0 ? (double)site->index : NAN;
    table_add(table, "site", &row);
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

/* Of a run whose code was not yet that of a program in use, nothing can be said. */
static void add_doubt(const struct call_counts *counts, const struct call_site_counts *sum, enum call_run run,
                      const char *name, struct table *table)
{
    double share = sum->n == 0 ? 0 : (double)counts->n_early[run] / (double)sum->n;
    if (share > EARLY_MOST)
        table_doubt(table, arena_printf(table->arena,
                                        "not warmed up: %s, %.0f %% of the calls were in code of tiers 2 and 3, which "
                                        "C2 replaces later: give a command that runs for longer",
                                        name, 100 * share));
}

void call_counts_table(struct call_counts *counts, const char *command, uint64_t top, struct table *table)
{
    struct call_site_counts sum = { .n = 0 };
    const struct call_site_counts **sorted = xcalloc((size_t)counts->n_sites + 1, sizeof *sorted);
    for (uint32_t i = 0; i < counts->n_sites; i++) {
        sorted[i] = &counts->sites[i];
        add_up(&sum, sorted[i]);
    }
    qsort(sorted, counts->n_sites, sizeof *sorted, by_left);
    table_begin(table, counts->arena);
    add_metadata(counts, command, &sum, table);
    add_doubt(counts, &sum, CALLS_AS_IT_RUNS, "as it runs", table);
    add_doubt(counts, &sum, CALLS_WITH_PROBES, "with probes", table);
    TABLE_COLUMNS(table, columns, 0);
    for (uint32_t i = 0; i < counts->n_sites && (top == 0 || i < top) && sorted[i]->n > 0; i++)
        add_site(counts, sorted[i], sum.n, table);
    free(sorted);
    const struct call_row all = row_of("all", &sum, sum.n);
    table_add(table, "total", &all)->after_rule = true;
    table_note(table, "As it runs (%), With probes (%): calls that are not inlined, by the code at the end of a run");
    table_note(table, "Perturbation (%): what a profiler with a probe in each method does to inlining");
}
