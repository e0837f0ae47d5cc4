#include "report/view/pauses_table.h"

#include "core/trace/recording_info.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTORS 4
#define BEFORE_NS  65e6 /* a start may be off by half the time between two looks at the JVM's counters */

struct pause {
    const char *label, *kind, *how;
    double n, ns; /* n: negative: it has no number */
};

static void add_pause(const struct report_source *source, const struct pause *pause, struct table *table)
{
    const struct table_cell none = { .value = TABLE_NOT_APPLICABLE };
    struct table_cell *cells = table_row(table, pause->kind);
    if (cells == NULL)
        return;
    cells[0] = table_words(pause->label);
    cells[1] = pause->n < 0 ? none : table_number(pause->n);
    cells[2] = table_number(pause->ns);
    cells[3] = pause->n < 0 ? none : table_quotient(pause->ns, pause->n);
    cells[4] = table_quotient(pause->ns, report_ns(source, source->tree->end_ticks - source->tree->start_ticks));
    cells[5] = table_words(pause->how);
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
    struct pause all = { "all collections' pauses", "gc_all", "sum", 0, 0 };
    for (size_t i = 0; i < COLLECTORS; i++) {
        struct info_collector told;
        if (info_read(source->reader, INFO_PAUSES_GC, (uint32_t)i, source->arena, &told) < 3)
            continue;
        double n = (double)told.n, ns = (double)told.ns;
        const char *name = told.name;
        all.n += n;
        all.ns += ns;
        add_pause(source, &(struct pause){ name, pause_kind(name), "the program is stopped", n, ns }, table);
    }
    add_pause(source, &all, table);
}

static void add_safepoints(const struct report_source *source, struct table *table)
{
    struct info_safepoints stops;
    if (info_read(source->reader, INFO_PAUSES_SAFEPOINTS, 0, source->arena, &stops) < 3)
        return;
    add_pause(source,
              &(struct pause){ "safepoints", "safepoints", "all stops, including collections", (double)stops.n,
                               (double)stops.ns },
              table);
    add_pause(source,
              &(struct pause){ "reaching safepoints", "safepoint_sync", "until all threads have stopped", -1,
                               (double)stops.sync_ns },
              table);
}

static void add_classes(const struct report_source *source, struct table *table)
{
    struct info_classes told;
    if (info_read(source->reader, INFO_PAUSES_CLASSES, 0, source->arena, &told) < 6)
        return;
    const struct pause rows[] = {
        { "loading classes", "classes", "in the threads that need them",
          (double)told.n_loaded + (double)told.n_archived, (double)told.load_ns },
        { "  linking", "classes_link", "part of loading; includes verifying", -1, (double)told.link_ns },
        { "  verifying", "classes_verify", "of it", -1, (double)told.verify_ns },
        { "  initializing", "classes_init", "part of loading: <clinit> with callees", -1, (double)told.init_ns },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_pause(source, &rows[i], table);
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
    table_column(table, "What the JVM counted", "what", TABLE_TEXT);
    table_column(table, "Number", "number", TABLE_COUNT);
    table_column(table, "Time", "total_ns", TABLE_NS);
    table_column(table, "Mean", "mean_ns", TABLE_NS);
    table_column(table, "Share (%)", "wall_share", TABLE_SHARE);
    table_column(table, "How it counts", "how", TABLE_TEXT);
    add_collections(source, table);
    add_safepoints(source, table);
    add_classes(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
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
static struct table_cell heap_after(const struct view_pass *pass, uint64_t ticks, size_t *at)
{
    while (*at < pass->n_heap_uses && pass->heap_uses[*at].ticks != ticks)
        ++*at;
    return *at < pass->n_heap_uses ? table_number((double)pass->heap_uses[(*at)++].bytes) : table_unmeasured();
}

#define NO_USE SIZE_MAX

/* The heap's uses before collections, which are told when these begin. */
struct heap_before {
    const struct view_pass *pass;
    const size_t *events; /* of the pass: by use */
    size_t n;
};

/* How far from a collection's start a use was told; INFINITY: that is another one's, or there is no such use. */
static double off_ns(const struct heap_before *before, size_t use, size_t collection)
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
static void share_use(const struct heap_before *before, size_t i, size_t *use_of)
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
static void match_uses(const struct heap_before *before, size_t n, size_t *use_of)
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

/* By collection, in the arena: the bytes in use before it; NAN: not known.  NULL: no memory. */
static double *find_before(const struct view_pass *pass)
{
    size_t n = trace_n_collections(pass->reader);
    size_t *events = arena_alloc(pass->arena, (pass->n_heap_events + 1) * sizeof *events);
    size_t *use_of = arena_alloc(pass->arena, (n + 1) * sizeof *use_of);
    double *bytes = arena_alloc(pass->arena, (n + 1) * sizeof *bytes);
    struct heap_before before = { pass, events, 0 };
    if (events == NULL || use_of == NULL || bytes == NULL)
        return NULL;
    for (size_t i = 0; i < pass->n_heap_events; i++)
        if (pass->heap_events[i].kind == TRACE_HEAP_BEFORE)
            events[before.n++] = i;
    match_uses(&before, n, use_of);
    for (size_t i = 0; i < n; i++)
        bytes[i] = use_of[i] == NO_USE ? NAN : (double)pass->heap_events[events[use_of[i]]].number;
    return bytes;
}

static void add_collection(const struct report_source *source, const struct trace_collection *collection,
                           struct table_cell before, struct table_cell after, struct table *table)
{
    uint64_t start = source->tree->start_ticks, ticks = collection->start_ticks;
    struct table_cell *cells = table_row(table, pause_kind(collection->name));
    if (cells == NULL)
        return;
    cells[0] = table_number(ticks > start ? report_ns(source, ticks - start) : 0);
    cells[1] = table_number((double)collection->ns);
    cells[2] = table_words(collection->name);
    cells[3] = collection->cause[0] == '\0' ? table_unmeasured() : table_words(collection->cause);
    cells[4] = table_number((double)collection->n_missed);
    cells[5] = before;
    cells[6] = after;
}

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
    if (before == NULL)
        return err_set(err, "out of memory for %zu collections", n);
    table_begin(table, source->arena);
    table_column(table, "Start", "start_ns", TABLE_NS);
    table_column(table, "Time", "total_ns", TABLE_NS);
    table_column(table, "Pause", "what", TABLE_TEXT);
    table_column(table, "Cause", "cause", TABLE_TEXT);
    table_column(table, "Not seen before", "not_seen", TABLE_COUNT);
    table->columns[table_column(table, "Heap before", "heap_before_bytes", TABLE_BYTES)].is_told = true;
    table_column(table, "Heap after", "heap_after_bytes", TABLE_BYTES);
    for (size_t i = 0; i < n; i++) {
        const struct trace_collection *collection = trace_collection(source->reader, i);
        size_t here = at;
        struct table_cell heap = heap_after(pass, collection->start_ticks, &here);
        at = heap.value == TABLE_NUMBER ? here : at;
        add_collection(source, collection, table_number(before[i]), heap, table);
        n_missed += collection->n_missed;
    }
    if (n_missed > 0)
        table_note(table,
                   arena_printf(source->arena,
                                "%" PRIu64
                                " more collections have no row: they ended between two reads of the JVM's counters",
                                n_missed));
    explain_before(pass, table);
    return table->is_broken ? err_set(err, "out of memory for %zu collections", n) : 0;
}
