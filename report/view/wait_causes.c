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

/* ---- locks ---- */

#define HELD_BY 0.3 /* of the time waited: the holder was seen there */

const char *wait_short_class(const char *name)
{
    const char *dot = name == NULL ? NULL : strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

/* " (socket I/O)": what a lock's holder waits for most, if it does; or "". */
static const char *meanwhile(const struct waits *waits, const struct wait_row *row, struct arena *arena)
{
    for (size_t i = 0; i < waits->n; i++) /* the longest first */
        if (&waits->rows[i] != row && waits->rows[i].cause > TRACE_CAUSE_READY && !waits->rows[i].is_idle &&
            waits->rows[i].where.class_name != NULL && method_name_equals(&waits->rows[i].where, &row->holder) &&
            !(waits->rows[i].cause == row->cause && waits->rows[i].lock_class == row->lock_class))
            return arena_printf(arena, " (%s)", trace_cause_name(waits->rows[i].cause));
    return "";
}

const char *wait_lock_words(const struct waits *waits, const struct wait_row *row, struct arena *arena)
{
    const char *kind = row->cause == TRACE_CAUSE_MONITOR ? "a monitor" : "a lock";
    const char *what =
        row->lock_class == NULL ? kind : arena_printf(arena, "%s (%s)", kind, wait_short_class(row->lock_class));
    bool is_taker = row->taker.class_name != NULL && row->taker_share >= HELD_BY;
    bool is_holder = row->holder.class_name != NULL && row->holder_share >= HELD_BY;
    if (!is_taker && !is_holder)
        return what;
    const struct method_name *taker = is_taker ? &row->taker : &row->holder;
    const char *took = java_names_display(arena, taker, JAVA_NAMES_SHORT);
    if (!is_holder || method_name_equals(taker, &row->holder))
        return arena_printf(arena, "%s that %s holds%s", what, took, is_holder ? meanwhile(waits, row, arena) : "");
    const char *held = java_names_display(arena, &row->holder, JAVA_NAMES_SHORT);
    return arena_printf(arena, "%s that %s holds while in %s%s", what, took, held, meanwhile(waits, row, arena));
}
