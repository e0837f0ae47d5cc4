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
    double from_ns, n_looks, lines[MISS_N_COUNTS], shares[MISS_N_COUNTS][COLUMNS], used_mb[MISS_SPACES];
};

static const struct table_column first_columns[] = {
    { "from_ns", "From", TABLE_NS, FROM(struct contents_step, from_ns) },
    { "looks", "Snapshots", TABLE_COUNT, FROM(struct contents_step, n_looks) },
};

/* Of the heap's spaces. */
static const struct table_column last_columns[] = {
    { "used_eden_mb", "Eden (MB)", TABLE_RATE, FROM(struct contents_step, used_mb[MISS_EDEN]), .detail = 1 },
    { "used_survivor_mb", "Survivor (MB)", TABLE_RATE, FROM(struct contents_step, used_mb[MISS_SURVIVOR]),
      .detail = 1 },
    { "used_old_mb", "Old (MB)", TABLE_RATE, FROM(struct contents_step, used_mb[MISS_OLD]), .detail = 1 },
    { "used_humongous_mb", "Humongous (MB)", TABLE_RATE, FROM(struct contents_step, used_mb[MISS_HUMONGOUS]),
      .detail = 1 },
};

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
    TABLE_COLUMNS(table, first_columns, 0);
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        enum miss_count cache = order[k];
        const char *prefix = caches[cache].prefix;
        struct table_column lines = { arena_printf(source->arena, "%s_lines", prefix), caches[cache].heading,
                                      TABLE_COUNT, FROM(struct contents_step, lines[0]),
                                      .not_in_text = cache != MISS_L2 };
        lines.field.offset = (uint16_t)(offsetof(struct contents_step, lines) + cache * sizeof(double));
        table_columns(table, &lines, 1, 0);
        for (size_t i = 0; i < COLUMNS; i++) {
            struct table_column share = { arena_printf(source->arena, "%s_%s", prefix, columns[i].key),
                                          columns[i].heading, TABLE_SHARE, FROM(struct contents_step, shares[0][0]),
                                          .not_in_text = cache != MISS_L2 };
            share.field.offset =
                (uint16_t)(offsetof(struct contents_step, shares) + (cache * COLUMNS + i) * sizeof(double));
            table_columns(table, &share, 1, 0);
        }
    }
    TABLE_COLUMNS(table, last_columns, 0);
    table->details[0] = "What was in use of the heap, at most";
}

static void add_step(const struct misses *m, struct contents_step *step, int i, double ns, struct table *table)
{
    step->from_ns = ns * i;
    step->n_looks = (double)m->n_looked[i];
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        step->lines[k] = (double)step->all[k] / step->n_looks;
        for (int j = 0; j < COLUMNS; j++)
            step->shares[k][j] = step->all[k] == 0 ? NAN : (double)step->of[k][j] / (double)step->all[k];
    }
    for (int j = MISS_NO_SPACE + 1; j < MISS_SPACES; j++)
        step->used_mb[j] = m->used[i].n == 0 ? NAN : (double)m->used[i].bytes[j] / (1 << 20);
    table_add(table, "step", step);
}

int misses_contents_table(const struct report_source *source, struct misses *misses, struct table *table,
                          struct err *err)
{
    struct contents_step steps[MISSES_STEPS] = { { .from_ns = 0 } };
    double ns = report_ns(source, misses->step_ticks);
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
            add_step(misses, &steps[i], i, ns, table);
    table_note(table, "used L2 lines of all threads that ran since the previous snapshot: mean number per snapshot, by "
                      "the memory that they hold; --csv also has L1D and the data TLB");
    report_losses(source, table);
    return 0;
}
