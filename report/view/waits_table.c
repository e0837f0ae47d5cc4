#include "report/view/tables.h"

#include "core/base/xalloc.h"
#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/view/waits.h"

/* Labels of all methods in the rows, each of one method. */
struct method_labels {
    struct hash_set by_method; /* the number of a label, from 1 on */
    const char **labels;
};

#define METHODS_OF_ROW 3u

static const struct method_name *method_of_row(const struct wait_row *row, size_t i)
{
    return i == 0 ? &row->where : i == 1 ? &row->called : &row->holder;
}

static void find_labels(const struct report_source *source, const struct waits *waits, struct method_labels *to)
{
    uint32_t n = 0;
    struct method_name *names = arena_alloc(source->arena, (waits->n * METHODS_OF_ROW + 1) * sizeof *names);
    for (size_t i = 0; i < waits->n * METHODS_OF_ROW; i++) {
        const struct method_name *name = method_of_row(&waits->rows[i / METHODS_OF_ROW], i % METHODS_OF_ROW);
        struct hash_slot *slot = name->class_name == NULL ? NULL : xhash_put(&to->by_method, method_name_hash(name));
        if (slot != NULL && slot->value == 0) {
            names[n++] = *name;
            slot->value = n;
        }
    }
    to->labels = java_names_labels(source->arena, names, n);
}

/* NULL: the method is not known. */
static const char *label_of(const struct method_labels *labels, const struct method_name *name)
{
    const struct hash_slot *slot =
        name->class_name == NULL ? NULL : hash_get(&labels->by_method, method_name_hash(name));
    return slot == NULL ? NULL : labels->labels[slot->value - 1];
}

/* A row of either table. */
struct wait_line {
    struct wait_row of;
    const char *cause, *lock, *method, *called, *waiter, *holder; /* NULL: not known */
    double ns, error_ns, holder_share;                            /* NAN: not known */
};

static struct wait_line line_of(const struct waits *waits, const struct wait_row *row,
                                const struct method_labels *labels, struct arena *arena)
{
    const char *cause = trace_cause_name(row->cause);
    return (struct wait_line){ .of = *row,
                               .cause = row->is_idle ? arena_printf(arena, "idle (%s)", cause) : cause,
                               .lock = wait_short_class(row->lock_class),
                               .method = label_of(labels, &row->where),
                               .called = label_of(labels, &row->called),
                               .waiter = label_of(labels, row->where.class_name != NULL ? &row->where : &row->called),
                               .holder = label_of(labels, &row->holder),
                               .ns = (double)row->ns,
                               .error_ns = row->error * (double)waits->wall_ns,
                               .holder_share = row->holder.class_name == NULL ? NAN : row->holder_share };
}

#define WAIT(member) FROM(struct wait_line, member)

static int refuse(const struct report_source *source, struct err *err)
{
    const char *why = info_text(source->reader, INFO_WAIT_FAILED);
    err_set(err, "'%s' does not say what threads waited for%s%s", source->path, why == NULL ? "" : ": ",
            why == NULL ? "" : why);
    return err_next(err, why != NULL ? "record it again as root"
                                     : "record it with 'mmprof profile -p PID', or with 'mmprof sample --wall -o'");
}

static uint64_t sum_of(const struct waits *waits, bool is_idle, enum trace_cause cause)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < waits->n; i++)
        if (is_idle ? waits->rows[i].is_idle : waits->rows[i].cause == cause)
            ns += waits->rows[i].ns;
    return ns;
}

static void add_metadata(const struct report_source *source, const struct waits *waits, struct table *table)
{
    char wall[64], waited[64], idle[64], on_cpu[64], duration[64];
    uint64_t idle_ns = sum_of(waits, true, TRACE_CAUSE_UNKNOWN), on_cpu_ns = sum_of(waits, false, TRACE_CAUSE_ON_CPU);
    double duration_ns = report_ns(source, source->tree->end_ticks - source->tree->start_ticks);
    table_format_ns((double)waits->wall_ns, wall, sizeof wall);
    table_format_ns((double)waits->waited_ns, waited, sizeof waited);
    table_format_ns((double)idle_ns, idle, sizeof idle);
    table_format_ns((double)on_cpu_ns, on_cpu, sizeof on_cpu);
    table_format_ns(duration_ns, duration, sizeof duration);
    report_metadata_program(source, table);
    table_metadata_number(table, "duration_ns", duration_ns, NULL);
    table_metadata_number(table, "visits", (double)waits->n_visits, NULL);
    table_metadata_number(table, "threads", waits->n_threads, NULL);
    table_metadata_number(table, "waited_ns", (double)waits->waited_ns, NULL);
    table_metadata_number(table, "idle_ns", (double)idle_ns, NULL);
    table_metadata_number(table, "wall_ns", (double)waits->wall_ns,
                          arena_printf(source->arena,
                                       "threads  %" PRIu32
                                       " in %s: together they waited %s, were idle %s, on a CPU %s: "
                                       "%s, by %" PRIu64 " samples of all threads",
                                       waits->n_threads, duration, waited, idle, on_cpu, wall, waits->n_visits));
}

/* Nothing where it is a few that ended while they were looked at. */
static void tell_unknown(const struct waits *waits, struct table *table)
{
    uint64_t ns = 0, unknown_ns = 0;
    char text[64];
    for (size_t i = 0; i < waits->n; i++) {
        bool is_monitor = waits->rows[i].cause == TRACE_CAUSE_MONITOR;
        ns += is_monitor ? waits->rows[i].ns : 0;
        unknown_ns += is_monitor && waits->rows[i].lock_class == NULL ? waits->rows[i].ns : 0;
    }
    if (unknown_ns <= ns / 10)
        return;
    table_format_ns((double)unknown_ns, text, sizeof text);
    table_note(table, arena_printf(table->arena,
                                   "which monitor it is, and who holds it, is not known for %s: this JVM's threads do "
                                   "not say it where it is expected",
                                   text));
}

/* ---- waits ---- */

static const struct table_column wait_columns[] = {
    { "cause", "Cause", TABLE_TEXT, WAIT(cause) },
    { "method", "Method", TABLE_TEXT, WAIT(method) },
    { "called", "Called", TABLE_TEXT, WAIT(called) },
    { "waited_ns", "Time", TABLE_NS, WAIT(ns), ERROR_FROM(struct wait_line, error_ns) },
    { "wall_share", "Share (%)", TABLE_SHARE, WAIT(of.share) },
    { "threads", "Threads", TABLE_COUNT, WAIT(of.n_threads) },
    { "waited_ns_error", NULL, TABLE_NS, WAIT(error_ns), .width = COLUMN_DATA },
    { "lock_class", NULL, TABLE_TEXT, WAIT(of.lock_class), .width = COLUMN_DATA },
    { "idle", NULL, TABLE_COUNT, WAIT(of.is_idle), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, WAIT(of.where.class_name), .width = COLUMN_DATA },
    { "name", NULL, TABLE_TEXT, WAIT(of.where.method), .width = COLUMN_DATA },
    { "samples", NULL, TABLE_COUNT, WAIT(of.n), .width = COLUMN_DATA },
};

/* ---- virtual threads ---- */

/* What no visit sees: how many times a virtual thread waited in calls of a method, and how many did at a time. */
static void add_virtual_row(const struct report_source *source, uint32_t method, bool after_rule, struct table *table)
{
    const struct calltree_unmounted *of = &source->tree->unmounted[method];
    struct method_name name = report_name(source, method);
    const struct wait_line line = {
        .of = { .where = name, .n = of->n, .n_threads = of->n_most, .share = NAN },
        .cause = "virtual thread",
        .method = java_names_display(table->arena, &name, JAVA_NAMES_SHORT),
        .ns = report_ns(source, of->ticks),
        .error_ns = NAN,
    };
    table_add(table, "virtual", &line)->after_rule = after_rule;
}

/* Those without a carrier, in calls that probes recorded. */
static void add_virtual_rows(const struct report_source *source, struct table *table)
{
    const struct calltree *tree = source->tree;
    bool any = false;
    for (uint32_t i = 0; i < tree->n_unmounted; i++) {
        if (tree->unmounted[i].n == 0)
            continue;
        add_virtual_row(source, i, !any, table);
        any = true;
    }
    if (any)
        table_note(table, "waits of virtual threads are exact, but known only in calls of methods with probes, and "
                          "count for the innermost one; Threads is the most at one time");
}

/* ---- virtual threads that were looked at ---- */

static const char *virtual_key(enum trace_cause cause, struct arena *arena)
{
    return cause == TRACE_CAUSE_READY    ? "virtual_ready"
           : cause == TRACE_CAUSE_ON_CPU ? "virtual_mounted"
                                         : arena_printf(arena, "virtual_%s", trace_cause_key(cause));
}

static const char *virtual_cause(const struct virtual_wait_row *row, struct arena *arena)
{
    const char *name = row->cause == TRACE_CAUSE_READY     ? "no carrier"
                       : row->cause == TRACE_CAUSE_ON_CPU  ? "on a carrier"
                       : row->cause == TRACE_CAUSE_UNKNOWN ? "not read"
                                                           : trace_cause_name(row->cause);
    return arena_printf(arena, row->is_idle ? "virtual, idle (%s)" : "virtual, %s", name);
}

/* Threads of a row are those of a mean look. */
static void add_looked_at(const struct virtual_wait_row *row, bool after_rule, struct table *table)
{
    const struct wait_line line = {
        .of = { .where = row->where,
                .n = row->n,
                .n_threads = (uint32_t)(row->mean_threads + 0.5),
                .is_idle = row->is_idle,
                .share = NAN,
                .lock_class = row->lock_class },
        .cause = virtual_cause(row, table->arena),
        .method =
            row->where.class_name == NULL ? NULL : java_names_display(table->arena, &row->where, JAVA_NAMES_SHORT),
        .called =
            row->called.class_name == NULL ? NULL : java_names_display(table->arena, &row->called, JAVA_NAMES_SHORT),
        .ns = row->ns,
        .error_ns = NAN,
    };
    table_add(table, virtual_key(row->cause, table->arena), &line)->after_rule = after_rule;
}

static void add_virtual(const struct virtual_waits *waits, double min_share, const char *whole, struct table *table)
{
    uint64_t n_left = 0;
    for (size_t i = 0; i < waits->n; i++) {
        bool is_small = waits->rows[i].share < min_share && waits->rows[i].cause != TRACE_CAUSE_UNKNOWN;
        n_left += is_small;
        if (!is_small)
            add_looked_at(&waits->rows[i], i == 0 && table->n_rows > 0, table);
    }
    if (waits->n == 0)
        return;
    table_metadata_number(table, "virtual_threads", waits->mean_threads, NULL);
    table_metadata_number(table, "virtual_looks", (double)waits->n_looks, NULL);
    table_note(table, arena_printf(table->arena,
                                   "virtual threads without a carrier are in no share: %.0f on average, by %" PRIu64
                                   " look%s at %s; Threads is the mean of these",
                                   waits->mean_threads, waits->n_looks, text_plural(waits->n_looks), whole));
    if (n_left > 0)
        table_note(table, arena_printf(table->arena, "%" PRIu64 " smaller row%s of virtual threads not shown (--all)",
                                       n_left, text_plural(n_left)));
}

static void tell_virtual(const struct report_source *source, const struct waits *waits,
                         const struct waits_table_options *options, struct table *table)
{
    const char *failed = info_text(source->reader, INFO_VIRTUAL_FAILED);
    const char *lost = info_text(source->reader, INFO_VIRTUAL_LOST);
    bool is_whole = info_number(source->reader, INFO_VIRTUAL_WHOLE) >= (double)waits->virtuals.n_looks;
    add_virtual(&waits->virtuals, options->min_share, is_whole ? "all of them" : "all or some of them", table);
    if (lost != NULL)
        table_note(table, arena_printf(table->arena, "virtual threads not read: %s", lost));
    if (failed != NULL)
        table_note(table, arena_printf(table->arena, "virtual threads were not looked at: %s", failed));
}

int virtual_waits_table(const struct virtual_waits *waits, double min_share, const char *whole, struct arena *arena,
                        struct table *table)
{
    table_begin(table, arena);
    TABLE_COLUMNS(table, wait_columns, 0);
    add_virtual(waits, min_share, whole, table);
    return table->n_rows > 0;
}

int waits_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err)
{
    struct method_labels labels = { .labels = NULL };
    uint64_t n = 0, n_left = 0;
    bool was_idle = false;
    if (waits->n_visits == 0)
        return refuse(source, err);
    table_begin(table, source->arena);
    find_labels(source, waits, &labels);
    TABLE_COLUMNS(table, wait_columns, 0);
    add_metadata(source, waits, table);
    for (size_t i = 0; i < waits->n; i++) {
        const struct wait_row *row = &waits->rows[i];
        bool is_idle = row->is_idle || row->cause == TRACE_CAUSE_ON_CPU;
        bool is_small = row->share < options->min_share || (options->top > 0 && n >= options->top);
        n_left += is_small;
        n += !is_small;
        if (is_small)
            continue;
        const struct wait_line line = line_of(waits, row, &labels, table->arena);
        table_add(table, trace_cause_key(row->cause), &line)->after_rule = is_idle && !was_idle;
        was_idle = is_idle;
    }
    add_virtual_rows(source, table);
    tell_virtual(source, waits, options, table);
    tell_unknown(waits, table);
    quota_note(source, table);
    if (n_left > 0)
        table_note(table, arena_printf(source->arena, "not shown: %" PRIu64 " smaller row%s (--all)", n_left,
                                       text_plural(n_left)));
    hash_free(&labels.by_method);
    return 0;
}

/* ---- locks ---- */

static const struct table_column lock_columns[] = {
    { "lock", "Lock", TABLE_TEXT, WAIT(lock) },
    { "cause", "Kind", TABLE_TEXT, WAIT(cause) },
    { "method", "Waits in", TABLE_TEXT, WAIT(waiter) },
    { "holder", "Held in", TABLE_TEXT, WAIT(holder) },
    { "holder_share", "Held (%)", TABLE_SHARE, WAIT(holder_share) },
    { "waited_ns", "Time", TABLE_NS, WAIT(ns), ERROR_FROM(struct wait_line, error_ns) },
    { "wall_share", "Share (%)", TABLE_SHARE, WAIT(of.share) },
    { "threads", "Threads", TABLE_COUNT, WAIT(of.n_threads) },
    { "mean_waiting", "Waiting", TABLE_RATE, WAIT(of.mean_waiting) },
    { "max_waiting", "Most", TABLE_COUNT, WAIT(of.max_waiting) },
    { "waited_ns_error", NULL, TABLE_NS, WAIT(error_ns), .width = COLUMN_DATA },
    { "lock_class", NULL, TABLE_TEXT, WAIT(of.lock_class), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, WAIT(of.where.class_name), .width = COLUMN_DATA },
    { "name", NULL, TABLE_TEXT, WAIT(of.where.method), .width = COLUMN_DATA },
};

int locks_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err)
{
    struct method_labels labels = { .labels = NULL };
    uint64_t n = 0;
    if (waits->n_visits == 0)
        return refuse(source, err);
    table_begin(table, source->arena);
    find_labels(source, waits, &labels);
    TABLE_COLUMNS(table, lock_columns, 0);
    add_metadata(source, waits, table);
    for (size_t i = 0; i < waits->n; i++)
        if (wait_row_is_lock(&waits->rows[i]) && (options->top == 0 || n++ < options->top)) {
            const struct wait_line line = line_of(waits, &waits->rows[i], &labels, table->arena);
            table_add(table, trace_cause_key(waits->rows[i].cause), &line);
        }
    tell_unknown(waits, table);
    if (table->n_rows == 0)
        table_note(table, "no sample found a thread waiting for a monitor or lock");
    hash_free(&labels.by_method);
    return 0;
}
