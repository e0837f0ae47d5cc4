#include "report/view/misses_report.h"

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

struct misses_step {
    double from_ns;
    uint64_t counts[MISS_N_COUNTS], of[COLUMNS], of_vm[VM_SUBSYSTEMS];
};

#define OF(key, heading, i)                                              \
    {                                                                    \
        "l2_" key, heading, TABLE_COUNT, FROM(struct misses_step, of[i]) \
    }
#define MEMORY(key, heading, i)                                                       \
    {                                                                                 \
        "l2_" key, heading, TABLE_COUNT, FROM(struct misses_step, of[i]), .detail = 1 \
    }

static const struct table_column columns[] = {
    { "from_ns", "From", TABLE_NS, FROM(struct misses_step, from_ns) },
    { "l1d_misses", "L1D misses", TABLE_COUNT, FROM(struct misses_step, counts[MISS_L1D]) },
    { "l2_misses", "L2 misses", TABLE_COUNT, FROM(struct misses_step, counts[MISS_L2]) },
    { "dtlb_misses", "DTLB misses", TABLE_COUNT, FROM(struct misses_step, counts[MISS_DTLB]) },
    OF("interpreter", "Interpreter", INTERPRETED),
    OF("compiled", "Compiled", COMPILED),
    OF("gc", "GC", COLLECTOR),
    OF("jit", "JIT", COMPILER),
    OF("other_vm", "Other JVM", OTHER_VM),
    OF("native", "Native", NATIVE),
    OF("mmprof", "mmprof", OURS),
    MEMORY("young", "Young", YOUNG),
    MEMORY("old", "Old", OLD),
    MEMORY("stacks", "Stacks", STACKS),
    MEMORY("metaspace", "Metaspace", METASPACE),
    MEMORY("elsewhere", "Elsewhere", ELSEWHERE),
};

static enum column code_of(const struct misses_tally *tally, const struct code_function *function)
{
    if (misses_are_ours(tally, function))
        return OURS;
    switch (function->kind) {
    case CODE_AT_INTERPRETER:
        return INTERPRETED;
    case CODE_AT_C1:
    case CODE_AT_C2:
    case CODE_AT_COMPILED:
    case CODE_AT_STUB:
        return COMPILED;
    case CODE_AT_VM:
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

/* Other JVM by sub-system (SA Figure 9), not in text. */
static const enum vm_subsystem others[] = { VM_MEMORY, VM_RUNTIME, VM_CODE, VM_CLASSES, VM_OTHER, VM_UNKNOWN };
#define N_OTHERS (sizeof others / sizeof *others)

static void add_up(struct misses *m, struct misses_step steps[MISSES_STEPS])
{
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        const struct misses_tally *tally = &m->tallies[i];
        struct misses_step *step = &steps[tally->key.step];
        struct code_location location;
        code_locations_find(m->locations, tally->key.location, &location);
        const struct code_function *function = code_locations_function(m->locations, location.function);
        enum column code = code_of(tally, function);
        for (int k = 0; k < MISS_N_COUNTS; k++)
            step->counts[k] += tally->counts[k];
        step->of[code] += tally->counts[MISS_L2];
        if (code == OTHER_VM)
            step->of_vm[function->subsystem] += tally->counts[MISS_L2];
        if (code != OURS)
            step->of[memory_of(m, tally->key.cell)] += tally->counts[MISS_L2];
    }
}

static void add_columns(struct arena *arena, struct table *table)
{
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < N_OTHERS; i++) {
        struct table_column column = { arena_printf(arena, "l2_%s", vm_subsystem_key(others[i])),
                                       vm_subsystem_name(others[i]), TABLE_COUNT, FROM(struct misses_step, of_vm[0]),
                                       .not_in_text = true };
        column.field.offset = (uint16_t)(offsetof(struct misses_step, of_vm) + others[i] * sizeof(uint64_t));
        table_columns(table, &column, 1, 0);
    }
    table->details[0] = "L2 misses by memory";
}

void misses_time_table(const struct report_source *source, struct misses *misses, struct table *table)
{
    struct misses_step steps[MISSES_STEPS] = { { 0 } };
    double ns = report_ns(source, misses->step_ticks);
    table_begin(table, source->arena);
    report_metadata(source, table);
    misses_tell_totals(source, misses, table);
    add_columns(source->arena, table);
    misses_mark_estimates(source, table);
    add_up(misses, steps);
    int n = MISSES_STEPS;
    while (n > 1 && steps[n - 1].counts[MISS_L1D] + steps[n - 1].counts[MISS_DTLB] == 0)
        n--;
    for (int i = 0; i < n; i++) {
        steps[i].from_ns = ns * i;
        table_add(table, "step", &steps[i]);
    }
    table_note(table, "Interpreter..mmprof: L2 misses by code (Other JVM in parts: --csv); Young..Elsewhere: L2 misses "
                      "by memory, without mmprof's own");
    misses_tell_known(source, misses, table);
    report_losses(source, table);
}
