#include "report/view/tables.h"

#include "core/trace/recording_info.h"

#define COLLECTORS 4
#define BEFORE_NS  65e6 /* a start may be off by half the time between two looks at the JVM's counters */

struct pause {
    const char *label, *kind, *how;
    double n, ns; /* n: TABLE_NONE: it has no number */
    double mean_ns, share;
};

static const struct table_column pause_columns[] = {
    { "what", "What the JVM counted", TABLE_TEXT, FROM(struct pause, label) },
    { "number", "Number", TABLE_COUNT, FROM(struct pause, n) },
    { "total_ns", "Time", TABLE_NS, FROM(struct pause, ns) },
    { "mean_ns", "Mean", TABLE_NS, FROM(struct pause, mean_ns) },
    { "wall_share", "Share (%)", TABLE_SHARE, FROM(struct pause, share) },
    { "how", "How it counts", TABLE_TEXT, FROM(struct pause, how) },
};

static void add_pause(const struct report_source *source, struct pause pause, struct table *table)
{
    pause.mean_ns = pause.n == TABLE_NONE ? TABLE_NONE : pause.n == 0 ? NAN : pause.ns / pause.n;
    pause.share = pause.ns / report_ns(source, source->tree->end_ticks - source->tree->start_ticks);
    table_add(table, pause.kind, &pause);
}

/* The JVM's own names: "G1 young collection pauses", "ZGC major collection pauses"; JDK 8 and 11: "PSScavenge". */
const char *pause_kind(const char *name)
{
    static const struct {
        const char *word, *kind;
    } kinds[] = { { "young", "gc_young" },      { "minor", "gc_young" },
                  { "full", "gc_full" },        { "concurrent", "gc_concurrent" },
                  { "major", "gc_concurrent" }, { "Copy", "gc_young" }, /* JDK 8 and 11, also PCopy */
                  { "PSScavenge", "gc_young" }, { "incremental", "gc_young" },
                  { "MSC", "gc_full" },         { "PSParallelCompact", "gc_full" },
                  { "phases", "gc_concurrent" } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(name, kinds[i].word) != NULL)
            return kinds[i].kind;
    return "gc";
}

static void add_collections(const struct report_source *source, struct table *table)
{
    struct pause all = { .label = "all collections' pauses", .kind = "gc_all", .how = "sum" };
    for (size_t i = 0; i < COLLECTORS; i++) {
        struct info_collector told;
        if (info_read(source->reader, INFO_PAUSES_GC, (uint32_t)i, source->arena, &told) < 3)
            continue;
        double n = (double)told.n, ns = (double)told.ns;
        const char *name = told.name;
        all.n += n;
        all.ns += ns;
        add_pause(source, (struct pause){ name, pause_kind(name), "the program is stopped", n, ns, 0, 0 }, table);
    }
    add_pause(source, all, table);
}

static void add_safepoints(const struct report_source *source, struct table *table)
{
    struct info_safepoints stops;
    if (info_read(source->reader, INFO_PAUSES_SAFEPOINTS, 0, source->arena, &stops) < 3)
        return;
    const struct pause rows[] = {
        { "safepoints", "safepoints", "all stops, including collections", (double)stops.n, (double)stops.ns, 0, 0 },
        { "reaching safepoints", "safepoint_sync", "until all threads have stopped", TABLE_NONE, (double)stops.sync_ns,
          0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_pause(source, rows[i], table);
}

static void add_classes(const struct report_source *source, struct table *table)
{
    struct info_classes told;
    if (info_read(source->reader, INFO_PAUSES_CLASSES, 0, source->arena, &told) < 6)
        return;
    const struct pause rows[] = {
        { "loading classes", "classes", "in the threads that need them",
          (double)told.n_loaded + (double)told.n_archived, (double)told.load_ns, 0, 0 },
        { "  linking", "classes_link", "part of loading; includes verifying", TABLE_NONE, (double)told.link_ns, 0, 0 },
        { "  verifying", "classes_verify", "of it", TABLE_NONE, (double)told.verify_ns, 0, 0 },
        { "  initializing", "classes_init", "part of loading: <clinit> with callees", TABLE_NONE, (double)told.init_ns,
          0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_pause(source, rows[i], table);
}

int pauses_table(const struct report_source *source, struct table *table, struct err *err)
{
    const char *why = info_text(source->reader, INFO_PAUSES_FAILED);
    if (why != NULL || info_text(source->reader, INFO_PAUSES_SAFEPOINTS) == NULL) {
        err_set(err, "'%s' has no data on collections and safepoints%s%s", source->path, why == NULL ? "" : ": ",
                why == NULL ? "" : why);
        return err_next(err, "record it again, without -XX:-UsePerfData in the JVM's options");
    }
    table_begin(table, source->arena);
    TABLE_COLUMNS(table, pause_columns, 0);
    add_collections(source, table);
    add_safepoints(source, table);
    add_classes(source, table);
    return 0;
}

/* ---- one by one ---- */

static int refuse_collections(const struct report_source *source, struct err *err)
{
    const char *why = info_text(source->reader, INFO_PAUSES_FAILED);
    err_set(err, "'%s' has no collection%s%s", source->path, why == NULL ? "" : ": ", why == NULL ? "" : why);
    if (why == NULL)
        return err_next(
            err,
            "run 'mmprof report --view pauses' for their number; very short collections close together have no rows");
    return err_next(err, "record it again, without -XX:-UsePerfData in the JVM's options");
}

/* What was written with the collection that begins then; the next one to look at is *at. */
static double heap_after(const struct view_pass *pass, uint64_t ticks, size_t *at)
{
    while (*at < pass->n_heap_uses && pass->heap_uses[*at].ticks != ticks)
        ++*at;
    return *at < pass->n_heap_uses ? (double)pass->heap_uses[(*at)++].bytes : NAN;
}

#define NO_USE SIZE_MAX

/* The heap's uses before collections, which are told when these begin. */
struct heap_row {
    const struct view_pass *pass;
    const size_t *events; /* of the pass: by use */
    size_t n;
};

/* How far from a collection's start a use was told; INFINITY: that is another one's, or there is no such use. */
static double off_ns(const struct heap_row *before, size_t use, size_t collection)
{
    const struct trace_collection *of = trace_collection(before->pass->reader, collection);
    if (use >= before->n)
        return INFINITY;
    uint64_t a = before->pass->heap_events[before->events[use]].ticks, b = of->start_ticks;
    double ns = report_ns(&before->pass->source, a < b ? b - a : a - b);
    return ns <= fmax(BEFORE_NS, (double)of->ns) ? ns : INFINITY;
}

/*
 * Both the i-th collection and the one before it are nearest to one use: the other one of them has the use behind it or
 * before it, whichever fits better; or none.
 */
static void share_use(const struct heap_row *before, size_t i, size_t *use_of)
{
    size_t use = use_of[i - 1], taken = i > 1 ? use_of[i - 2] : NO_USE;
    bool may_be_missed = trace_collection(before->pass->reader, i - 1)->n_missed > 0;
    bool is_free = use > 0 && taken != use - 1 && !may_be_missed;
    double up = off_ns(before, use + 1, i), here = off_ns(before, use, i) - off_ns(before, use, i - 1);
    double down = is_free ? off_ns(before, use - 1, i - 1) + here : INFINITY;
    use_of[i] = isinf(up) && isinf(down) ? NO_USE : up <= down ? use + 1 : use;
    use_of[i - 1] = !isinf(down) && down < up ? use - 1 : use;
}

/* By collection: its use; starts are known as well as the JVM's counters are looked at. */
static void match_uses(const struct heap_row *before, size_t n, size_t *use_of)
{
    size_t use = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t start = trace_collection(before->pass->reader, i)->start_ticks;
        while (use + 1 < before->n && before->pass->heap_events[before->events[use + 1]].ticks <= start)
            use++;
        bool is_next = off_ns(before, use + 1, i) < off_ns(before, use, i);
        use_of[i] = isinf(off_ns(before, use + is_next, i)) ? NO_USE : use + is_next;
        if (i > 0 && use_of[i] != NO_USE && use_of[i - 1] != NO_USE && use_of[i] < use_of[i - 1])
            use_of[i] = use_of[i - 1];
        if (i > 0 && use_of[i] != NO_USE && use_of[i] == use_of[i - 1])
            share_use(before, i, use_of);
    }
}

/* By collection, in the arena: the bytes in use before it; NAN: not known. */
static double *find_before(const struct view_pass *pass)
{
    size_t n = trace_n_collections(pass->reader);
    size_t *events = arena_alloc(pass->arena, (pass->n_heap_events + 1) * sizeof *events);
    size_t *use_of = arena_alloc(pass->arena, (n + 1) * sizeof *use_of);
    double *bytes = arena_alloc(pass->arena, (n + 1) * sizeof *bytes);
    struct heap_row before = { pass, events, 0 };
    for (size_t i = 0; i < pass->n_heap_events; i++)
        if (pass->heap_events[i].kind == TRACE_HEAP_BEFORE)
            events[before.n++] = i;
    match_uses(&before, n, use_of);
    for (size_t i = 0; i < n; i++)
        bytes[i] = use_of[i] == NO_USE ? NAN : (double)pass->heap_events[events[use_of[i]]].number;
    return bytes;
}

struct collection_row {
    double start_ns, ns, n_missed, before, after; /* bytes: NAN: not known */
    const char *name, *cause;
};

static const struct table_column collection_columns[] = {
    { "start_ns", "Start", TABLE_NS, FROM(struct collection_row, start_ns) },
    { "total_ns", "Time", TABLE_NS, FROM(struct collection_row, ns) },
    { "what", "Pause", TABLE_TEXT, FROM(struct collection_row, name) },
    { "cause", "Cause", TABLE_TEXT, FROM(struct collection_row, cause) },
    { "not_seen", "Not seen before", TABLE_COUNT, FROM(struct collection_row, n_missed) },
    { "heap_before_bytes", "Heap before", TABLE_BYTES, FROM(struct collection_row, before), .is_told = true },
    { "heap_after_bytes", "Heap after", TABLE_BYTES, FROM(struct collection_row, after) },
};

/* Why no row tells of it, if so. */
static void explain_before(const struct view_pass *pass, struct table *table)
{
    bool samples = info_number(pass->reader, INFO_ALLOCATIONS_NS) >= 0;
    for (size_t i = 0; i < pass->n_heap_events; i++)
        if (pass->heap_events[i].kind == TRACE_HEAP_BEFORE)
            return;
    table_note(table,
               samples
                   ? "the heap before collections is unknown: mmprof cannot read it (ZGC and Shenandoah after JDK 17)"
                   : "the heap before collections is unknown: only live recordings that sample allocations have it");
}

int collections_table(const struct view_pass *pass, struct table *table, struct err *err)
{
    const struct report_source *source = &pass->source;
    size_t at = 0, n = trace_n_collections(source->reader);
    uint64_t n_missed = 0;
    if (n == 0)
        return refuse_collections(source, err);
    const double *before = find_before(pass);
    table_begin(table, source->arena);
    TABLE_COLUMNS(table, collection_columns, 0);
    for (size_t i = 0; i < n; i++) {
        const struct trace_collection *collection = trace_collection(source->reader, i);
        uint64_t start = source->tree->start_ticks, ticks = collection->start_ticks;
        size_t here = at;
        double after = heap_after(pass, ticks, &here);
        at = isnan(after) ? at : here;
        const struct collection_row row = { .start_ns = ticks > start ? report_ns(source, ticks - start) : 0,
                                            .ns = (double)collection->ns,
                                            .n_missed = (double)collection->n_missed,
                                            .before = before[i],
                                            .after = after,
                                            .name = collection->name,
                                            .cause = collection->cause[0] == '\0' ? NULL : collection->cause };
        table_add(table, pause_kind(collection->name), &row);
        n_missed += collection->n_missed;
    }
    if (n_missed > 0)
        table_note(table,
                   arena_printf(source->arena,
                                "%" PRIu64
                                " more collections have no row: they ended between two reads of the JVM's counters",
                                n_missed));
    explain_before(pass, table);
    return 0;
}
