/* Top-down: a row's counts, put into the formulas of the processor that the trace names. */
#include "report/view/report_internal.h"

struct row_counts {
    const struct making *making;
    const struct event_estimate *estimates;
    size_t shifted; /* this event is at the upper end of its interval */
};

/* The report's event of that name, or for "cycles" of that role; n_events: there is none. */
static size_t index_of(const struct making *making, const char *name)
{
    size_t i = 0;
    bool is_cycles = strcmp(name, "cycles") == 0;
    while (i < making->n_events &&
           (is_cycles ? making->events[i].role != EVENT_CYCLES : strcasecmp(making->events[i].name, name) != 0))
        i++;
    return i;
}

static double count_of(const char *name, void *context)
{
    const struct row_counts *row = context;
    size_t i = index_of(row->making, name);
    const struct event_estimate *e = &row->estimates[i];
    if (i == row->making->n_events || e->count < 0 || e->half < 0)
        return NAN;
    return e->count + (i == row->shifted ? e->half * e->instructions : 0);
}

double report_topdown(const struct making *making, enum topdown_part part, const struct event_estimate *estimates,
                      double *half)
{
    struct row_counts row = { making, estimates, making->n_events };
    double value = topdown_value(making->topdown, part, count_of, &row), variance = 0;
    *half = -1;
    if (isnan(value))
        return -1;
    /* The delta method, with differences for derivatives. */
    for (row.shifted = 0; row.shifted < making->n_events; row.shifted++) {
        double difference = topdown_value(making->topdown, part, count_of, &row) - value;
        variance += difference * difference;
    }
    *half = sqrt(variance);
    return value;
}

void report_note_topdown(const struct making *making)
{
    const struct topdown_cpu *cpu = making->topdown;
    struct arena *arena = making->source->arena;
    if (cpu == NULL || !making->has_hardware)
        return;
    bool is_simulated = strcmp(cpu->pmus, "simulated") == 0;
    table_note(making->table, arena_printf(arena, "top-down by the formulas of %s (%s)%s%s%s", cpu->name, cpu->source,
                                           is_simulated ? "" : ": mmprof has not been tried on this processor",
                                           cpu->caution == NULL ? "" : "; ", cpu->caution == NULL ? "" : cpu->caution));
    if (cpu->why_none != NULL)
        table_note(making->table, arena_printf(arena, "top-down parts without a figure: %s", cpu->why_none));
}
