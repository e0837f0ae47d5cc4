#include "report/view/waits.h"

void wait_causes_columns(size_t offset, struct table *table)
{
    for (int cause = 0; cause < TRACE_CAUSES; cause++) {
        struct table_column column = { .unit = TABLE_NS,
                                       .field = FIELD_FROM(struct wait_causes, ns[0]),
                                       .width = COLUMN_DATA };
        column.key = arena_printf(table->arena, "%s_ns", trace_cause_key((enum trace_cause)cause));
        column.field.offset = (uint16_t)(column.field.offset + offset + (size_t)cause * sizeof(double));
        if (cause != TRACE_CAUSE_ON_CPU)
            table_columns(table, &column, 1, 0);
    }
}

struct wait_causes wait_causes_unknown(void)
{
    struct wait_causes causes = { .most = NULL };
    for (int i = 0; i < TRACE_CAUSES; i++)
        causes.ns[i] = NAN;
    return causes;
}

struct wait_causes wait_causes_of(const double *ns, bool is_known, struct arena *arena)
{
    struct wait_causes causes = wait_causes_unknown();
    int most = 0;
    char time[64];
    for (int i = 1; i < TRACE_CAUSES; i++)
        most = ns[i] > ns[most] ? i : most;
    for (int i = 0; is_known && i < TRACE_CAUSES; i++)
        causes.ns[i] = ns[i];
    table_format_ns(ns[most], time, sizeof time);
    if (ns[most] > 0)
        causes.most = arena_printf(arena, "%s %s", trace_cause_name((enum trace_cause)most), time);
    return causes;
}
