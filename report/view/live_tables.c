/* Live bytes as tables: the curve with its collections, and favourable points. */
#include "report/view/live_bytes.h"

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

struct curve_row {
    uint64_t allocated, time, least, most;
    const char *what;
    double copied_least, copied_most;
};

static const struct table_column curve_columns[] = {
    { "allocated_bytes", "Allocated", TABLE_BYTES, FROM(struct curve_row, allocated) },
    { "accesses", "Accesses", TABLE_COUNT, FROM(struct curve_row, time) },
    { "live_least_bytes", "Live, at least", TABLE_BYTES, FROM(struct curve_row, least) },
    { "live_most_bytes", "at most", TABLE_BYTES, FROM(struct curve_row, most) },
    { "what", "What", TABLE_TEXT, FROM(struct curve_row, what) },
    { "copied_least_bytes", "Copies, at least", TABLE_BYTES, FROM(struct curve_row, copied_least) },
    { "copied_most_bytes", "at most", TABLE_BYTES, FROM(struct curve_row, copied_most) },
};

static struct curve_row row_at(const struct live_bytes *live, uint64_t time)
{
    return (struct curve_row){ live_bytes_allocated(live, time),
                               time,
                               live_bytes_least(live, time),
                               live_bytes_most(live, time),
                               NULL,
                               NAN,
                               NAN };
}

static void add_collection(const struct live_bytes *live, uint32_t i, struct table *table)
{
    uint64_t time = live->collections[i], before = i == 0 ? 0 : live->collections[i - 1];
    struct curve_row row = row_at(live, time);
    row.what = "collection";
    row.copied_least = (double)live_bytes_kept(live, before, time, true);
    row.copied_most = (double)live_bytes_kept(live, before, time, false);
    table_add(table, "collection", &row);
}

void live_bytes_table(const struct live_bytes *live, const char *path, uint64_t n, struct arena *arena,
                      struct table *table)
{
    uint64_t all = live_bytes_allocated(live, UINT64_MAX);
    uint32_t collection = 0;
    n = n == 0 ? POINTS : n;
    begin_table(live, path, arena, table);
    TABLE_COLUMNS(table, curve_columns, 0);
    for (uint64_t i = 1; i <= n; i++) {
        uint64_t time = i == n ? live->time : live_bytes_time(live, (uint64_t)((double)all * (double)i / (double)n));
        for (; collection < live->n_collections && live->collections[collection] <= time; collection++)
            add_collection(live, collection, table);
        const struct curve_row row = row_at(live, time);
        table_add(table, "point", &row);
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
}

/* ---- favourable points ---- */

struct point_row {
    struct live_point of;
    const char *method, *choice;
};

static const struct table_column point_columns[] = {
    { "method", "End of", TABLE_TEXT, FROM(struct point_row, method) },
    { "calls", "Calls", TABLE_COUNT, FROM(struct point_row, of.n_calls) },
    { "created_bytes_per_call", "Created", TABLE_BYTES, FROM(struct point_row, of.call_bytes) },
    { "live_bytes", "Live there", TABLE_BYTES, FROM(struct point_row, of.live) },
    { "live_cov", "CoV", TABLE_RATE, FROM(struct point_row, of.live_cov) },
    { "live_mean_bytes", "on the way", TABLE_BYTES, FROM(struct point_row, of.live_mean) },
    { "minima_share", "Minima (%)", TABLE_SHARE, FROM(struct point_row, of.minima) },
    { "copied_bytes", "Copies there", TABLE_BYTES, FROM(struct point_row, of.kept) },
    { "copied_elsewhere_bytes", "elsewhere", TABLE_BYTES, FROM(struct point_row, of.kept_mean) },
    { "choice", "Collect", TABLE_TEXT, FROM(struct point_row, choice) },
    { "old_dead_bytes", NULL, TABLE_BYTES, FROM(struct point_row, of.old_dead), .width = COLUMN_DATA },
    { "saved_bytes", NULL, TABLE_BYTES, FROM(struct point_row, of.saved), .width = COLUMN_DATA },
    { "copied_elsewhere_most_bytes", NULL, TABLE_BYTES, FROM(struct point_row, of.kept_most), .width = COLUMN_DATA },
};

void live_points_table(const struct live_bytes *live, const struct live_points *points, const char *path, uint64_t top,
                       struct arena *arena, struct table *table)
{
    static const char *const choices[] = { "none", "young", "full" };
    begin_table(live, path, arena, table);
    TABLE_COLUMNS(table, point_columns, 0);
    for (uint32_t i = 0; i < points->n && (top == 0 || i < top); i++) {
        const struct live_point *p = &points->all[i];
        const struct point_row row = { *p, memtrace_names_method(&live->names, p->method, JAVA_NAMES_SHORT, arena),
                                       choices[p->choice] };
        table_add(table, "method", &row);
    }
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
}
