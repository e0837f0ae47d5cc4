#include "report/view/misses_report.h"

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

struct misses_step {
    uint64_t counts[MISS_N_COUNTS], of[COLUMNS], of_vm[VM_SUBSYSTEMS];
};

static int add_up(struct misses *m, struct misses_step steps[MISSES_STEPS], struct err *err)
{
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        const struct misses_tally *tally = &m->tallies[i];
        struct misses_step *step = &steps[tally->key.step];
        struct code_location location;
        if (code_locations_find(m->locations, tally->key.location, &location, err) < 0)
            return -1;
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
    return 0;
}

static void add_columns(struct arena *arena, struct table *table)
{
    table_column(table, "From", "from_ns", TABLE_NS);
    table_column(table, "L1D misses", "l1d_misses", TABLE_COUNT);
    table_column(table, "L2 misses", "l2_misses", TABLE_COUNT);
    table_column(table, "DTLB misses", "dtlb_misses", TABLE_COUNT);
    for (int i = 0; i < COLUMNS; i++) {
        size_t column = table_column(table, columns[i].heading, columns[i].key, TABLE_COUNT);
        table->columns[column].detail = i >= CODES ? 1 : 0;
    }
    for (size_t i = 0; i < N_OTHERS; i++) {
        const char *key = arena_printf(arena, "l2_%s", vm_subsystem_key(others[i]));
        size_t column = table_column(table, vm_subsystem_name(others[i]), key, TABLE_COUNT);
        table->columns[column].not_in_text = true;
    }
    table->details[0] = "L2 misses by memory";
}

static void add_step(const struct misses_step *step, double from_ns, struct table *table)
{
    struct table_cell *cells = table_row(table, "step");
    if (cells == NULL)
        return;
    *cells++ = table_number(from_ns);
    for (int k = 0; k < MISS_N_COUNTS; k++)
        *cells++ = table_number((double)step->counts[k]);
    for (int k = 0; k < COLUMNS; k++)
        *cells++ = table_number((double)step->of[k]);
    for (size_t k = 0; k < N_OTHERS; k++)
        *cells++ = table_number((double)step->of_vm[others[k]]);
}

int misses_time_table(const struct report_source *source, struct misses *misses, struct table *table, struct err *err)
{
    static struct misses_step steps[MISSES_STEPS];
    double ns = report_ns(source, misses->step_ticks);
    memset(steps, 0, sizeof steps);
    table_begin(table, source->arena);
    report_metadata(source, table);
    misses_tell_totals(source, misses, table);
    add_columns(source->arena, table);
    misses_mark_estimates(source, table);
    if (add_up(misses, steps, err) < 0)
        return -1;
    int n = MISSES_STEPS;
    while (n > 1 && steps[n - 1].counts[MISS_L1D] + steps[n - 1].counts[MISS_DTLB] == 0)
        n--;
    for (int i = 0; i < n; i++)
        add_step(&steps[i], ns * i, table);
    table_note(table, "Interpreter..mmprof: L2 misses by code (Other JVM in parts: --csv); Young..Elsewhere: L2 misses "
                      "by memory, without mmprof's own");
    misses_tell_known(source, misses, table);
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
