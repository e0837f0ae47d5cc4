#include "report/misses_known.h"

#include <string.h>

/* Columns: whose code missed L2 (SA Figures 7 to 9), and in which memory. */
enum column {
    INTERPRETED,
    COMPILED,
    COLLECTOR,
    COMPILER,
    OTHER_VM,
    NATIVE,
    OURS,
    CODES,
    YOUNG = CODES,
    OLD,
    STACKS,
    METASPACE,
    ELSEWHERE,
    COLUMNS
};

static const struct {
    const char *heading, *key;
} columns[COLUMNS] = {
    [INTERPRETED] = { "Interpreter", "l2_interpreter" },
    [COMPILED] = { "Compiled", "l2_compiled" },
    [COLLECTOR] = { "GC", "l2_gc" },
    [COMPILER] = { "JIT", "l2_jit" },
    [OTHER_VM] = { "Other JVM", "l2_other_vm" },
    [NATIVE] = { "Native", "l2_native" },
    [OURS] = { "mmprof", "l2_mmprof" },
    [YOUNG] = { "Young", "l2_young" },
    [OLD] = { "Old", "l2_old" },
    [STACKS] = { "Stacks", "l2_stacks" },
    [METASPACE] = { "Metaspace", "l2_metaspace" },
    [ELSEWHERE] = { "Elsewhere", "l2_elsewhere" },
};

static enum column code_of(const struct misses_tally *tally, const struct hit_function *function)
{
    if (misses_are_ours(tally, function))
        return OURS;
    switch (function->kind) {
    case HIT_INTERPRETER:
        return INTERPRETED;
    case HIT_C1:
    case HIT_C2:
    case HIT_COMPILED:
    case HIT_STUB:
        return COMPILED;
    case HIT_VM:
        return function->subsystem == VM_GC ? COLLECTOR : function->subsystem == VM_COMPILER ? COMPILER : OTHER_VM;
    default:
        return NATIVE;
    }
}

static enum column memory_of(const struct misses *m, uint32_t number)
{
    const struct misses_cell *cell = number < m->n_cells ? &m->cells[number] : NULL;
    const struct misses_owner *owner = cell != NULL && cell->owner < m->n_owners ? &m->owners[cell->owner] : NULL;
    if (owner == NULL)
        return ELSEWHERE;
    if (cell->space != MISS_NO_SPACE)
        return cell->space == MISS_EDEN || cell->space == MISS_SURVIVOR ? YOUNG : OLD;
    return owner->kind == MISS_STACK ? STACKS : owner->kind == MISS_METASPACE ? METASPACE : ELSEWHERE;
}

struct step {
    uint64_t counts[MISS_N_COUNTS], of[COLUMNS];
};

static int add_up(struct misses *m, struct step steps[MISSES_STEPS], struct err *err)
{
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        const struct misses_tally *tally = &m->tallies[i];
        struct step *step = &steps[tally->key.step];
        struct hit_place place;
        if (hit_places_find(m->places, tally->key.place, &place, err) < 0)
            return -1;
        enum column code = code_of(tally, hit_places_function(m->places, place.function));
        for (int k = 0; k < MISS_N_COUNTS; k++)
            step->counts[k] += tally->counts[k];
        step->of[code] += tally->counts[MISS_L2];
        if (code != OURS)
            step->of[memory_of(m, tally->key.cell)] += tally->counts[MISS_L2];
    }
    return 0;
}

int misses_time_table(const struct report_source *source, struct misses *misses, struct table *table, struct err *err)
{
    static struct step steps[MISSES_STEPS];
    double ns = report_ns(source, misses->step_ticks);
    memset(steps, 0, sizeof steps);
    table_begin(table, source->arena);
    report_facts(source, table);
    misses_tell_totals(source, misses, table);
    table_column(table, "From", "from_ns", TABLE_NS);
    table_column(table, "L1D misses", "l1d_misses", TABLE_COUNT);
    table_column(table, "L2 misses", "l2_misses", TABLE_COUNT);
    table_column(table, "DTLB misses", "dtlb_misses", TABLE_COUNT);
    for (int i = 0; i < COLUMNS; i++)
        table_column(table, columns[i].heading, columns[i].key, TABLE_COUNT);
    if (add_up(misses, steps, err) < 0)
        return -1;
    int n = MISSES_STEPS;
    while (n > 1 && steps[n - 1].counts[MISS_L1D] + steps[n - 1].counts[MISS_DTLB] == 0)
        n--;
    for (int i = 0; i < n; i++) {
        struct table_cell *cells = table_row(table, "step");
        if (cells == NULL)
            break;
        cells[0] = table_number(ns * i);
        for (int k = 0; k < MISS_N_COUNTS; k++)
            cells[1 + k] = table_number((double)steps[i].counts[k]);
        for (int k = 0; k < COLUMNS; k++)
            cells[1 + MISS_N_COUNTS + k] = table_number((double)steps[i].of[k]);
    }
    table_note(table, "from Interpreter to mmprof: L2's misses by what code they are of; from Young to Elsewhere: the "
                      "same without mmprof's, by whose memory it was");
    misses_tell_known(source, misses, table);
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
