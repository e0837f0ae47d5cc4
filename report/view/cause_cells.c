#include "report/view/cause_cells.h"

void cause_cells_hide(struct table *table)
{
    for (int cause = 0; cause < TRACE_CAUSES; cause++)
        if (cause != TRACE_CAUSE_ON_CPU)
            sample_cells_hide(table, arena_printf(table->arena, "%s_ns", trace_cause_key((enum trace_cause)cause)),
                              TABLE_NS);
}

void cause_cells_put(struct sample_cells *to, const double *waited_ns)
{
    for (int cause = 0; cause < TRACE_CAUSES; cause++)
        if (cause != TRACE_CAUSE_ON_CPU)
            sample_cells_put(to, waited_ns == NULL ? table_unmeasured() : table_number(waited_ns[cause]));
}

struct table_cell cause_cells_most(const double *waited_ns, struct arena *arena)
{
    int most = 0;
    char time[64];
    for (int i = 1; i < TRACE_CAUSES; i++)
        most = waited_ns[i] > waited_ns[most] ? i : most;
    if (waited_ns[most] <= 0)
        return table_unmeasured();
    table_format_ns(waited_ns[most], time, sizeof time);
    const char *text = arena_printf(arena, "%s %s", trace_cause_name((enum trace_cause)most), time);
    return text == NULL ? table_unmeasured() : table_words(text);
}
