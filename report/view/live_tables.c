/* Live bytes as tables: the curve with its collections, and favourable points. */
#include "report/view/live_bytes.h"

#include <inttypes.h>

#define POINTS 20

static void begin_table(const struct live_bytes *live, const char *path, struct arena *arena, struct table *table)
{
    table_begin(table, arena);
    table_metadata_words(table, "trace", path,
                         arena_printf(arena,
                                      "trace    %s: %" PRIu32 " objects, %" PRIu32 " collections in %" PRIu64
                                      " data accesses of Java code",
                                      path, live->n_objects, live->n_collections, live->time));
    table_metadata_number(table, "accesses", (double)live->time, NULL);
}

/* ---- the curve ---- */

static struct table_cell *add_point(const struct live_bytes *live, uint64_t time, const char *kind, struct table *table)
{
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return NULL;
    cells[0] = table_number((double)live_bytes_allocated(live, time));
    cells[1] = table_number((double)time);
    cells[2] = table_number((double)live_bytes_least(live, time));
    cells[3] = table_number((double)live_bytes_most(live, time));
    return cells;
}

static void add_collection(const struct live_bytes *live, uint32_t i, struct table *table)
{
    uint64_t time = live->collections[i], before = i == 0 ? 0 : live->collections[i - 1];
    struct table_cell *cells = add_point(live, time, "collection", table);
    if (cells == NULL)
        return;
    cells[4] = table_words("collection");
    cells[5] = table_number((double)live_bytes_kept(live, before, time, true));
    cells[6] = table_number((double)live_bytes_kept(live, before, time, false));
}

int live_bytes_table(const struct live_bytes *live, const char *path, uint64_t n, struct arena *arena,
                     struct table *table, struct err *err)
{
    uint64_t all = live_bytes_allocated(live, UINT64_MAX);
    uint32_t collection = 0;
    n = n == 0 ? POINTS : n;
    begin_table(live, path, arena, table);
    table_column(table, "Allocated", "allocated_bytes", TABLE_BYTES);
    table_column(table, "Accesses", "accesses", TABLE_COUNT);
    table_column(table, "Live, at least", "live_least_bytes", TABLE_BYTES);
    table_column(table, "at most", "live_most_bytes", TABLE_BYTES);
    table_column(table, "What", "what", TABLE_TEXT);
    table_column(table, "Copies, at least", "copied_least_bytes", TABLE_BYTES);
    table_column(table, "at most", "copied_most_bytes", TABLE_BYTES);
    for (uint64_t i = 1; i <= n; i++) {
        uint64_t time = i == n ? live->time : live_bytes_time(live, (uint64_t)((double)all * (double)i / (double)n));
        for (; collection < live->n_collections && live->collections[collection] <= time; collection++)
            add_collection(live, collection, table);
        add_point(live, time, "point", table);
    }
    table_note(
        table,
        "live bytes: the lower bound counts an object until its last use, the upper bound until a collection frees it");
    if (live->n_collections > 0)
        table_note(
            table,
            "copies: live bytes among those created since the previous collection, as a young collection copies them");
    else
        table_note(table, "no collection ran; a smaller young generation (-Xmn4m) causes some");
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}

/* ---- favourable points ---- */

static void add_row(const struct live_bytes *live, const struct live_point *p, struct arena *arena, struct table *table)
{
    static const char *const choices[] = { "none", "young", "full" };
    struct table_cell *cells = table_row(table, "method");
    if (cells == NULL)
        return;
    cells[0] = table_words(memtrace_names_method(&live->names, p->method, JAVA_NAMES_SHORT, arena));
    cells[1] = table_number(p->n_calls);
    cells[2] = table_number(p->call_bytes);
    cells[3] = table_number(p->live);
    cells[4] = table_number(p->live_cov);
    cells[5] = table_number(p->live_mean);
    cells[6] = table_number(p->minima);
    cells[7] = table_number(p->kept);
    cells[8] = table_number(p->kept_mean);
    cells[9] = table_words(choices[p->choice]);
    cells[10] = table_number(p->old_dead);
    cells[11] = table_number(p->saved);
    cells[12] = table_number(p->kept_most);
}

static void add_point_columns(struct table *table)
{
    table_column(table, "End of", "method", TABLE_TEXT);
    table_column(table, "Calls", "calls", TABLE_COUNT);
    table_column(table, "Created", "created_bytes_per_call", TABLE_BYTES);
    table_column(table, "Live there", "live_bytes", TABLE_BYTES);
    table_column(table, "CoV", "live_cov", TABLE_RATE);
    table_column(table, "on the way", "live_mean_bytes", TABLE_BYTES);
    table_column(table, "Minima (%)", "minima_share", TABLE_SHARE);
    table_column(table, "Copies there", "copied_bytes", TABLE_BYTES);
    table_column(table, "elsewhere", "copied_elsewhere_bytes", TABLE_BYTES);
    table_column(table, "Collect", "choice", TABLE_TEXT);
    table_data_column(table, "old_dead_bytes", TABLE_BYTES);
    table_data_column(table, "saved_bytes", TABLE_BYTES);
    table_data_column(table, "copied_elsewhere_most_bytes", TABLE_BYTES);
}

int live_points_table(const struct live_bytes *live, const struct live_points *points, const char *path, uint64_t top,
                      struct arena *arena, struct table *table, struct err *err)
{
    begin_table(live, path, arena, table);
    add_point_columns(table);
    for (uint32_t i = 0; i < points->n && (top == 0 || i < top); i++)
        add_row(live, &points->all[i], arena, table);
    if (live->n_calls == 0)
        table_note(table, "this trace has no calls: record with --last-uses (on x86-64)");
    else if (points->n == 0)
        table_note(table, "no method had four or more calls and created 10 % of all bytes");
    if (points->n_folded > 0)
        table_note(table, "methods whose calls end together share the row of the outermost one");
    table_note(table, "figures are per call, between two returns; Copies: by a young collection at each return, or as "
                      "often at other times (lower bounds, from objects' last uses)");
    if (live->interval_bytes > 0)
        table_note(table, "objects were sampled, one per interval of allocated bytes; methods that create less than 32 "
                          "intervals are not listed");
    table_note(table, "'jcmd PID GC.run' requests full collections only; for young ones, size the young generation to "
                      "a multiple of the bytes per call");
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
