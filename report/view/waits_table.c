#include "report/view/waits_table.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/sample_cells.h"
#include "report/view/quota.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

/* Returns 0, or -1: no memory. */
static int find_labels(const struct report_source *source, const struct waits *waits, struct method_labels *to)
{
    uint32_t n = 0;
    struct method_name *names = arena_alloc(source->arena, (waits->n * METHODS_OF_ROW + 1) * sizeof *names);
    to->labels = arena_alloc(source->arena, (waits->n * METHODS_OF_ROW + 1) * sizeof *to->labels);
    if (names == NULL || to->labels == NULL)
        return -1;
    for (size_t i = 0; i < waits->n * METHODS_OF_ROW; i++) {
        const struct method_name *name = method_of_row(&waits->rows[i / METHODS_OF_ROW], i % METHODS_OF_ROW);
        struct hash_slot *slot = name->class_name == NULL ? NULL : hash_put(&to->by_method, method_name_hash(name));
        if (name->class_name != NULL && slot == NULL)
            return -1;
        if (slot != NULL && slot->value == 0) {
            names[n++] = *name;
            slot->value = n;
        }
    }
    return java_names_labels(source->arena, names, n, to->labels);
}

static struct table_cell label_cell(const struct method_labels *labels, const struct method_name *name)
{
    const struct hash_slot *slot =
        name->class_name == NULL ? NULL : hash_get(&labels->by_method, method_name_hash(name));
    return slot == NULL ? table_unmeasured() : table_words(labels->labels[slot->value - 1]);
}

static struct table_cell text_cell(const char *text)
{
    return text == NULL ? table_unmeasured() : table_words(text);
}

/* "12.3 s ±0.4 s" */
static struct table_cell time_cell(const struct waits *waits, const struct wait_row *row, struct arena *arena)
{
    struct table_cell cell = table_number((double)row->ns);
    char ns[64], error[64];
    if (isnan(row->error))
        return cell;
    table_format_ns((double)row->ns, ns, sizeof ns);
    table_format_ns(row->error * (double)waits->wall_ns, error, sizeof error);
    cell.words = arena_printf(arena, "%s ±%s", ns, error);
    return cell;
}

static struct table_cell error_cell(const struct waits *waits, const struct wait_row *row)
{
    return isnan(row->error) ? table_unmeasured() : table_number(row->error * (double)waits->wall_ns);
}

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
    char wall[64], waited[64], idle[64], on_cpu[64];
    uint64_t idle_ns = sum_of(waits, true, TRACE_CAUSE_UNKNOWN), on_cpu_ns = sum_of(waits, false, TRACE_CAUSE_ON_CPU);
    double duration_ns = report_ns(source, source->tree->end_ticks - source->tree->start_ticks);
    table_format_ns((double)waits->wall_ns, wall, sizeof wall);
    table_format_ns((double)waits->waited_ns, waited, sizeof waited);
    table_format_ns((double)idle_ns, idle, sizeof idle);
    table_format_ns((double)on_cpu_ns, on_cpu, sizeof on_cpu);
    report_metadata_program(source, table);
    table_metadata_number(table, "duration_ns", duration_ns, NULL);
    table_metadata_number(table, "visits", (double)waits->n_visits, NULL);
    table_metadata_number(table, "threads", waits->n_threads, NULL);
    table_metadata_number(table, "waited_ns", (double)waits->waited_ns, NULL);
    table_metadata_number(table, "idle_ns", (double)idle_ns, NULL);
    table_metadata_number(table, "wall_ns", (double)waits->wall_ns,
                          arena_printf(source->arena,
                                       "threads  %" PRIu32 ", total %s: waited %s, idle %s, on a CPU %s (%" PRIu64
                                       " visits)",
                                       waits->n_threads, wall, waited, idle, on_cpu, waits->n_visits));
}

/* ---- waits ---- */

static void add_wait_columns(struct table *table)
{
    table_column(table, "Cause", "cause", TABLE_TEXT);
    table_column(table, "Method", "method", TABLE_TEXT);
    table_column(table, "Called", "called", TABLE_TEXT);
    table_column(table, "Time", "waited_ns", TABLE_NS);
    table_column(table, "Share (%)", "wall_share", TABLE_SHARE);
    table_column(table, "Threads", "threads", TABLE_COUNT);
    sample_cells_hide(table, "waited_ns_error", TABLE_NS);
    sample_cells_hide(table, "lock_class", TABLE_TEXT);
    sample_cells_hide(table, "idle", TABLE_COUNT);
    sample_cells_hide(table, "class", TABLE_TEXT);
    sample_cells_hide(table, "name", TABLE_TEXT);
    sample_cells_hide(table, "samples", TABLE_COUNT);
}

static void add_wait_row(const struct waits *waits, const struct wait_row *row, const struct method_labels *labels,
                         bool after_rule, struct table *table)
{
    struct sample_cells to = { table, table_row(table, trace_cause_key(row->cause)) };
    if (to.next == NULL)
        return;
    table->rows[table->n_rows - 1].after_rule = after_rule;
    const char *cause = row->is_idle ? arena_printf(table->arena, "idle (%s)", trace_cause_name(row->cause))
                                     : trace_cause_name(row->cause);
    sample_cells_put(&to, table_words(cause));
    sample_cells_put(&to, label_cell(labels, &row->where));
    sample_cells_put(&to, label_cell(labels, &row->called));
    sample_cells_put(&to, time_cell(waits, row, table->arena));
    sample_cells_put(&to, table_number(row->share));
    sample_cells_put(&to, table_number(row->n_threads));
    sample_cells_put(&to, error_cell(waits, row));
    sample_cells_put(&to, text_cell(row->lock_class));
    sample_cells_put(&to, table_number(row->is_idle));
    sample_cells_put(&to, text_cell(row->where.class_name));
    sample_cells_put(&to, text_cell(row->where.method));
    sample_cells_put(&to, table_number((double)row->n));
}

/* ---- virtual threads ---- */

/* What no visit sees: how many times a virtual thread waited in calls of a method, and how many did at a time. */
static void add_virtual_row(const struct report_source *source, uint32_t method, bool after_rule, struct table *table)
{
    const struct calltree_unmounted *of = &source->tree->unmounted[method];
    struct sample_cells to = { table, table_row(table, "virtual") };
    struct method_name name = report_name(source, method);
    const char *label = java_names_display(table->arena, &name, JAVA_NAMES_SHORT);
    if (to.next == NULL)
        return;
    table->rows[table->n_rows - 1].after_rule = after_rule;
    sample_cells_put(&to, table_words("virtual thread"));
    sample_cells_put(&to, text_cell(label));
    sample_cells_put(&to, text_cell(NULL));
    sample_cells_put(&to, table_number(report_ns(source, of->ticks)));
    sample_cells_put(&to, table_unmeasured());
    sample_cells_put(&to, table_number(of->n_most));
    sample_cells_put(&to, table_unmeasured());
    sample_cells_put(&to, text_cell(NULL));
    sample_cells_put(&to, table_number(0));
    sample_cells_put(&to, text_cell(name.class_name));
    sample_cells_put(&to, text_cell(name.method));
    sample_cells_put(&to, table_number((double)of->n));
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

int waits_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err)
{
    struct method_labels labels = { .labels = NULL };
    uint64_t n = 0, n_left = 0;
    bool was_idle = false;
    if (waits->n_visits == 0)
        return refuse(source, err);
    table_begin(table, source->arena);
    int rc = find_labels(source, waits, &labels);
    add_wait_columns(table);
    add_metadata(source, waits, table);
    for (size_t i = 0; rc == 0 && i < waits->n; i++) {
        const struct wait_row *row = &waits->rows[i];
        bool is_idle = row->is_idle || row->cause == TRACE_CAUSE_ON_CPU;
        bool is_small = row->share < options->min_share || (options->top > 0 && n >= options->top);
        n_left += is_small;
        n += !is_small;
        if (is_small)
            continue;
        add_wait_row(waits, row, &labels, is_idle && !was_idle, table);
        was_idle = is_idle;
    }
    add_virtual_rows(source, table);
    quota_note(source, table);
    if (n_left > 0)
        table_note(table, arena_printf(source->arena, "not shown: %" PRIu64 " smaller row%s (--all)", n_left,
                                       text_plural(n_left)));
    hash_free(&labels.by_method);
    return rc < 0 || table->is_broken ? err_set(err, "out of memory for %zu waits", waits->n) : 0;
}

/* ---- locks ---- */

static void add_lock_columns(struct table *table)
{
    table_column(table, "Lock", "lock", TABLE_TEXT);
    table_column(table, "Kind", "cause", TABLE_TEXT);
    table_column(table, "Waits in", "method", TABLE_TEXT);
    table_column(table, "Held in", "holder", TABLE_TEXT);
    table_column(table, "Held (%)", "holder_share", TABLE_SHARE);
    table_column(table, "Time", "waited_ns", TABLE_NS);
    table_column(table, "Share (%)", "wall_share", TABLE_SHARE);
    table_column(table, "Threads", "threads", TABLE_COUNT);
    table_column(table, "Waiting", "mean_waiting", TABLE_RATE);
    table_column(table, "Most", "max_waiting", TABLE_COUNT);
    sample_cells_hide(table, "waited_ns_error", TABLE_NS);
    sample_cells_hide(table, "lock_class", TABLE_TEXT);
    sample_cells_hide(table, "class", TABLE_TEXT);
    sample_cells_hide(table, "name", TABLE_TEXT);
}

/* Without its package. */
static const char *short_class(const char *name)
{
    const char *point = name == NULL ? NULL : strrchr(name, '.');
    return point == NULL ? name : point + 1;
}

static void add_lock_row(const struct waits *waits, const struct wait_row *row, const struct method_labels *labels,
                         struct table *table)
{
    struct sample_cells to = { table, table_row(table, trace_cause_key(row->cause)) };
    if (to.next == NULL)
        return;
    bool has_holder = row->holder.class_name != NULL;
    sample_cells_put(&to, text_cell(short_class(row->lock_class)));
    sample_cells_put(&to, table_words(trace_cause_name(row->cause)));
    sample_cells_put(&to, label_cell(labels, row->where.class_name != NULL ? &row->where : &row->called));
    sample_cells_put(&to, label_cell(labels, &row->holder));
    sample_cells_put(&to, has_holder ? table_number(row->holder_share) : table_unmeasured());
    sample_cells_put(&to, time_cell(waits, row, table->arena));
    sample_cells_put(&to, table_number(row->share));
    sample_cells_put(&to, table_number(row->n_threads));
    sample_cells_put(&to, isnan(row->mean_waiting) ? table_unmeasured() : table_number(row->mean_waiting));
    sample_cells_put(&to, table_number(row->max_waiting));
    sample_cells_put(&to, error_cell(waits, row));
    sample_cells_put(&to, text_cell(row->lock_class));
    sample_cells_put(&to, text_cell(row->where.class_name));
    sample_cells_put(&to, text_cell(row->where.method));
}

int locks_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err)
{
    struct method_labels labels = { .labels = NULL };
    uint64_t n = 0;
    if (waits->n_visits == 0)
        return refuse(source, err);
    table_begin(table, source->arena);
    int rc = find_labels(source, waits, &labels);
    add_lock_columns(table);
    add_metadata(source, waits, table);
    for (size_t i = 0; rc == 0 && i < waits->n; i++)
        if (wait_row_is_lock(&waits->rows[i]) && (options->top == 0 || n++ < options->top))
            add_lock_row(waits, &waits->rows[i], &labels, table);
    if (table->n_rows == 0)
        table_note(table, "no sample found a thread waiting for a monitor or lock");
    hash_free(&labels.by_method);
    return rc < 0 || table->is_broken ? err_set(err, "out of memory for %zu locks", waits->n) : 0;
}
