#include "report/view/pauses_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTORS 4

struct pause {
    const char *label, *kind, *how;
    double n, ns; /* n: negative: it has no number */
};

static void add(const struct report_source *source, const struct pause *pause, struct table *table)
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

/* The JVM's own names: "G1 young collection pauses", "ZGC major collection pauses". */
static const char *kind_of(const char *name)
{
    static const struct {
        const char *word, *kind;
    } kinds[] = { { "young", "gc_young" },
                  { "minor", "gc_young" },
                  { "full", "gc_full" },
                  { "concurrent", "gc_concurrent" },
                  { "major", "gc_concurrent" } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(name, kinds[i].word) != NULL)
            return kinds[i].kind;
    return "gc";
}

static void add_collections(const struct report_source *source, struct table *table)
{
    struct pause all = { "all collections' pauses", "gc_all", "sum", 0, 0 };
    for (size_t i = 0; i < COLLECTORS; i++) {
        char key[32], *end;
        snprintf(key, sizeof key, "pauses.gc.%zu", i);
        const char *fact = trace_info(source->reader, key);
        if (fact == NULL)
            continue;
        double n = strtod(fact, &end), ns = strtod(end, &end);
        const char *name = end + (*end == ' ');
        all.n += n;
        all.ns += ns;
        add(source, &(struct pause){ name, kind_of(name), "the program stands still", n, ns }, table);
    }
    add(source, &all, table);
}

/* The numbers of a fact; returns how many there are. */
static size_t numbers_of(const struct report_source *source, const char *key, double *numbers, size_t n)
{
    const char *fact = trace_info(source->reader, key);
    size_t i = 0;
    for (char *end; fact != NULL && i < n; fact = end, i++) {
        numbers[i] = strtod(fact, &end);
        if (end == fact)
            break;
    }
    return i;
}

static void add_others(const struct report_source *source, struct table *table)
{
    double stops[3], classes[6];
    if (numbers_of(source, "pauses.safepoints", stops, 3) == 3) {
        add(source, &(struct pause){ "safepoints", "safepoints", "all stops, collections too", stops[0], stops[1] },
            table);
        add(source, &(struct pause){ "reaching safepoints", "safepoint_sync", "until all threads stand", -1, stops[2] },
            table);
    }
    if (numbers_of(source, "pauses.classes", classes, 6) < 6)
        return;
    add(source,
        &(struct pause){ "loading classes", "classes", "in the threads that need them", classes[0] + classes[1],
                         classes[2] },
        table);
    add(source, &(struct pause){ "  linking", "classes_link", "of it; with verifying", -1, classes[3] }, table);
    add(source, &(struct pause){ "  verifying", "classes_verify", "of it", -1, classes[4] }, table);
    add(source,
        &(struct pause){ "  initializing", "classes_init", "of it: <clinit>, with what it calls", -1, classes[5] },
        table);
}

int pauses_table(const struct report_source *source, struct table *table, struct err *err)
{
    const char *why = trace_info(source->reader, "pauses.failed");
    if (why != NULL || trace_info(source->reader, "pauses.safepoints") == NULL) {
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
    add_others(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}

/* ---- one by one ---- */

static int refuse_collections(const struct report_source *source, struct err *err)
{
    const char *why = trace_info(source->reader, "pauses.failed");
    err_set(err, "'%s' has no collection%s%s", source->path, why == NULL ? "" : ": ", why == NULL ? "" : why);
    if (why == NULL)
        return err_next(err,
                        "run 'mmprof report --view pauses' for their number; very short pauses that follow each other "
                        "closely have no rows of their own");
    return err_next(err, "record it again, without -XX:-UsePerfData in the JVM's options");
}

static void add_collection(const struct report_source *source, const struct trace_collection *collection,
                           struct table *table)
{
    uint64_t start = source->tree->start_ticks, ticks = collection->start_ticks;
    struct table_cell *cells = table_row(table, kind_of(collection->name));
    if (cells == NULL)
        return;
    cells[0] = table_number(ticks > start ? report_ns(source, ticks - start) : 0);
    cells[1] = table_number((double)collection->ns);
    cells[2] = table_words(collection->name);
    cells[3] = collection->cause[0] == '\0' ? table_unmeasured() : table_words(collection->cause);
    cells[4] = table_number((double)collection->n_missed);
}

int collections_table(const struct report_source *source, struct table *table, struct err *err)
{
    size_t n = trace_n_collections(source->reader);
    uint64_t n_missed = 0;
    if (n == 0)
        return refuse_collections(source, err);
    table_begin(table, source->arena);
    table_column(table, "Start", "start_ns", TABLE_NS);
    table_column(table, "Time", "total_ns", TABLE_NS);
    table_column(table, "Pause", "what", TABLE_TEXT);
    table_column(table, "Cause", "cause", TABLE_TEXT);
    table_column(table, "Not seen before", "not_seen", TABLE_COUNT);
    for (size_t i = 0; i < n; i++) {
        add_collection(source, trace_collection(source->reader, i), table);
        n_missed += trace_collection(source->reader, i)->n_missed;
    }
    if (n_missed > 0)
        table_note(table,
                   arena_printf(source->arena,
                                "%" PRIu64
                                " more have no rows of their own: they ended between two samples of the JVM's counters",
                                n_missed));
    return table->is_broken ? err_set(err, "out of memory for %zu collections", n) : 0;
}
