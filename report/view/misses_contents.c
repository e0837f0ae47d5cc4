#include "report/view/misses_report.h"

/* Columns: whose memory lines are of, and how full the heap is (SA Figure 4). */
enum column { EDEN, SURVIVOR, OLD, HUMONGOUS, STACKS, CODE, METASPACE, C_HEAP, FILES, ELSEWHERE, OURS, COLUMNS };

static const struct {
    const char *heading, *key;
} columns[COLUMNS] = {
    [EDEN] = { "Eden", "eden" },
    [SURVIVOR] = { "Survivor", "survivor" },
    [OLD] = { "Old", "old" },
    [HUMONGOUS] = { "Humongous", "humongous" },
    [STACKS] = { "Stacks", "stacks" },
    [CODE] = { "Code cache", "code" },
    [METASPACE] = { "Metaspace", "metaspace" },
    [C_HEAP] = { "C heap", "c_heap" },
    [FILES] = { "Files", "files" },
    [ELSEWHERE] = { "Elsewhere", "elsewhere" },
    [OURS] = { "mmprof", "mmprof" },
};

static const struct {
    const char *heading, *prefix;
} caches[MISS_N_COUNTS] = {
    [MISS_L1D] = { "L1D lines", "l1d" }, [MISS_L2] = { "L2 lines", "l2" }, [MISS_DTLB] = { "DTLB pages", "dtlb" }
};

static const enum miss_count order[MISS_N_COUNTS] = { MISS_L2, MISS_L1D, MISS_DTLB };

struct contents_step {
    uint64_t all[MISS_N_COUNTS], of[MISS_N_COUNTS][COLUMNS];
};

/* Of the heap's spaces, in MB. */
static const struct {
    const char *heading, *key;
} used[MISS_SPACES] = { [MISS_EDEN] = { "Eden (MB)", "used_eden_mb" },
                        [MISS_SURVIVOR] = { "Survivor (MB)", "used_survivor_mb" },
                        [MISS_OLD] = { "Old (MB)", "used_old_mb" },
                        [MISS_HUMONGOUS] = { "Humongous (MB)", "used_humongous_mb" } };

static enum column column_of(const struct misses *m, const struct misses_held *held)
{
    static const enum column of_space[MISS_SPACES] = { ELSEWHERE, EDEN, SURVIVOR, OLD, HUMONGOUS };
    static const enum column of_owner[MISS_OWNERS] = {
        [MISS_OBJECTS] = ELSEWHERE,   [MISS_STATICS] = ELSEWHERE, [MISS_STACK] = STACKS,      [MISS_CODE] = CODE,
        [MISS_METASPACE] = METASPACE, [MISS_CARDS] = ELSEWHERE,   [MISS_C_HEAP] = C_HEAP,     [MISS_FILE] = FILES,
        [MISS_OTHER] = ELSEWHERE,     [MISS_HEAP] = ELSEWHERE,    [MISS_UNKNOWN] = ELSEWHERE,
    };
    const struct misses_cell *cell = held->key.cell < m->n_cells ? &m->cells[held->key.cell] : NULL;
    const struct misses_owner *owner = cell != NULL && cell->owner < m->n_owners ? &m->owners[cell->owner] : NULL;
    if (held->key.is_ours)
        return OURS;
    if (owner == NULL)
        return ELSEWHERE;
    return cell->space != MISS_NO_SPACE ? of_space[cell->space] : of_owner[owner->kind];
}

static void add_up(const struct misses *m, struct contents_step steps[MISSES_STEPS])
{
    for (uint32_t i = 0; i < m->n_held; i++) {
        const struct misses_held *held = &m->held[i];
        struct contents_step *step = &steps[held->key.step];
        enum column column = column_of(m, held);
        for (int k = 0; k < MISS_N_COUNTS; k++) {
            step->all[k] += held->counts[k];
            step->of[k][column] += held->counts[k];
        }
    }
}

static void add_columns(const struct report_source *source, struct table *table)
{
    table_column(table, "From", "from_ns", TABLE_NS);
    table_column(table, "Snapshots", "looks", TABLE_COUNT);
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        enum miss_count cache = order[k];
        const char *prefix = caches[cache].prefix;
        size_t lines =
            table_column(table, caches[cache].heading, arena_printf(source->arena, "%s_lines", prefix), TABLE_COUNT);
        table->columns[lines].not_in_text = cache != MISS_L2;
        for (int i = 0; i < COLUMNS; i++) {
            size_t column = table_column(table, columns[i].heading,
                                         arena_printf(source->arena, "%s_%s", prefix, columns[i].key), TABLE_SHARE);
            table->columns[column].not_in_text = cache != MISS_L2;
        }
    }
    for (int i = MISS_NO_SPACE + 1; i < MISS_SPACES; i++) {
        size_t column = table_column(table, used[i].heading, used[i].key, TABLE_RATE);
        table->columns[column].detail = 1;
    }
    table->details[0] = "What was in use of the heap, at most";
}

static void add_step(const struct misses *m, const struct contents_step *steps, int i, double ns, struct table *table)
{
    const struct contents_step *step = &steps[i];
    struct table_cell *cells = table_row(table, "step");
    if (cells == NULL)
        return;
    *cells++ = table_number(ns * i);
    *cells++ = table_number((double)m->n_looked[i]);
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        enum miss_count cache = order[k];
        *cells++ = table_quotient((double)step->all[cache], (double)m->n_looked[i]);
        for (int j = 0; j < COLUMNS; j++)
            *cells++ = table_quotient((double)step->of[cache][j], (double)step->all[cache]);
    }
    for (int j = MISS_NO_SPACE + 1; j < MISS_SPACES; j++)
        *cells++ = m->used[i].n == 0 ? table_unmeasured() : table_number((double)m->used[i].bytes[j] / (1 << 20));
}

int misses_contents_table(const struct report_source *source, struct misses *misses, struct table *table,
                          struct err *err)
{
    static struct contents_step steps[MISSES_STEPS];
    double ns = report_ns(source, misses->step_ticks);
    memset(steps, 0, sizeof steps);
    if (misses->n_held == 0) {
        err_set(err, "'%s' does not record the contents of the caches", source->path);
        return err_next(err, "record again: traces have it since version 2.4");
    }
    table_begin(table, source->arena);
    report_metadata(source, table);
    misses_tell_totals(source, misses, table);
    add_columns(source, table);
    misses_mark_estimates(source, table);
    add_up(misses, steps);
    for (int i = 0; i < MISSES_STEPS; i++)
        if (misses->n_looked[i] > 0)
            add_step(misses, steps, i, ns, table);
    table_note(table, "used L2 lines of all threads that ran since the previous snapshot: mean number per snapshot, by "
                      "the memory that they hold; --csv also has L1D and the data TLB");
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
