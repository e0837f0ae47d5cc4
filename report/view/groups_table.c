#include "report/view/groups.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/view/cause_cells.h"
#include "report/view/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* In the text of which groups a column is. */
#define PACKAGE (1u << GROUPS_BY_PACKAGE)
#define THREAD  (1u << GROUPS_BY_THREAD)
#define METHOD  (1u << GROUPS_BY_METHOD)

enum group_cell {
    CELL_LABEL,
    CELL_THREADS,
    CELL_TIME,
    CELL_SELF,
    CELL_TOTAL_NS,
    CELL_CALLS,
    CELL_P50,
    CELL_P99,
    CELL_LONGEST,
    CELL_WAITED,
    CELL_MOST,
    CELL_IDLE,
    CELL_BYTES,
    CELL_SELF_NS,
    CELL_SELF_WAITED,
    CELL_SELF_BYTES,
    CELL_TIME_ERROR,
    CELL_SELF_ERROR,
    CELL_SAMPLES,
    CELL_CLASS,
    CELL_METHOD,
    CELL_DESCRIPTOR,
    CELL_CAUSE_NS /* and up: trace_cause */
};

static const struct {
    const char *heading, *key;
    enum table_unit unit;
    unsigned in_text;
} columns[] = {
    [CELL_LABEL] = { "", "label", TABLE_TEXT, PACKAGE | THREAD | METHOD },
    [CELL_THREADS] = { "Threads", "threads", TABLE_COUNT, THREAD },
    [CELL_TIME] = { "Time (%)", "time_share", TABLE_SHARE, PACKAGE | THREAD | METHOD },
    [CELL_SELF] = { "Self (%)", "self_share", TABLE_SHARE, PACKAGE | METHOD },
    [CELL_TOTAL_NS] = { "Time", "total_ns", TABLE_NS, PACKAGE | THREAD },
    [CELL_CALLS] = { "Calls", "calls", TABLE_COUNT, METHOD },
    [CELL_P50] = { "p50", "p50_ns", TABLE_NS, METHOD },
    [CELL_P99] = { "p99", "p99_ns", TABLE_NS, METHOD },
    [CELL_LONGEST] = { "Longest", "max_ns", TABLE_NS, METHOD },
    [CELL_WAITED] = { "Waited", "waited_ns", TABLE_NS, PACKAGE | THREAD | METHOD },
    [CELL_MOST] = { "Most for", "most_for", TABLE_TEXT, THREAD | METHOD },
    [CELL_IDLE] = { "Idle", "idle_ns", TABLE_NS, THREAD },
    [CELL_BYTES] = { "Allocated", "allocated_bytes", TABLE_BYTES, PACKAGE | THREAD | METHOD },
    [CELL_SELF_NS] = { "", "self_ns", TABLE_NS, 0 },
    [CELL_SELF_WAITED] = { "", "self_waited_ns", TABLE_NS, 0 },
    [CELL_SELF_BYTES] = { "", "self_allocated_bytes", TABLE_BYTES, 0 },
    [CELL_TIME_ERROR] = { "", "time_share_error", TABLE_SHARE, 0 },
    [CELL_SELF_ERROR] = { "", "self_share_error", TABLE_SHARE, 0 },
    [CELL_SAMPLES] = { "", "samples", TABLE_COUNT, 0 },
    [CELL_CLASS] = { "", "class", TABLE_TEXT, 0 },
    [CELL_METHOD] = { "", "method", TABLE_TEXT, 0 },
    [CELL_DESCRIPTOR] = { "", "descriptor", TABLE_TEXT, 0 },
};

static void add_columns(const struct groups *groups, struct table *table)
{
    static const char *const headings[] = { "Package", "Thread", "Method" };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *heading = i == CELL_LABEL ? headings[groups->by] : columns[i].heading;
        size_t at = table_column(table, heading, columns[i].key, columns[i].unit);
        table->columns[at].not_in_text = (columns[i].in_text & (1u << groups->by)) == 0;
    }
    cause_cells_hide(table);
}

/* ---- cells ---- */

static struct table_cell share_cell(const struct groups *groups, double ticks, double error, struct arena *arena)
{
    const struct sample_share share = { .share = ticks / groups->total.ticks, .error = error };
    return groups->total.ticks > 0 ? sample_cells_share(&share, arena) : table_unmeasured();
}

/* all: NULL where a sum of groups would have some of it twice; own: NULL where it is not told apart. */
static void fill_sums(const struct groups *groups, double ns_per_tick, const struct group_sums *all,
                      const struct group_sums *own, struct table_cell *cells)
{
    const struct table_cell none = { .value = TABLE_NOT_APPLICABLE };
    cells[CELL_TOTAL_NS] = all == NULL ? none : table_number(all->ticks * ns_per_tick);
    cells[CELL_SELF_NS] = own == NULL ? none : table_number(own->ticks * ns_per_tick);
    if (groups->has_waits) {
        cells[CELL_WAITED] = all == NULL ? none : table_number(all->waited_ns);
        cells[CELL_IDLE] = all == NULL ? none : table_number(all->idle_ns);
        cells[CELL_SELF_WAITED] = own == NULL ? none : table_number(own->waited_ns);
    }
    if (groups->has_allocations) {
        cells[CELL_BYTES] = all == NULL ? none : table_number(all->bytes);
        cells[CELL_SELF_BYTES] = own == NULL ? none : table_number(own->bytes);
    }
}

static void put_group(const struct groups *groups, const struct groups_row *row, double ns_per_tick,
                      struct table *table)
{
    static const char *const kinds[] = { "package", "thread", "method" };
    bool is_caller = row->caller_of != GROUPS_NONE;
    struct table_cell *cells = table_row(table, is_caller ? "caller" : kinds[groups->by]);
    const struct table_cell none = { .value = TABLE_NOT_APPLICABLE };
    if (cells == NULL)
        return;
    table->rows[table->n_rows - 1].is_below = is_caller;
    cells[CELL_LABEL] = table_words(row->label);
    cells[CELL_THREADS] = row->n_threads > 0 ? table_number(row->n_threads) : table_unmeasured();
    cells[CELL_TIME] = share_cell(groups, row->all.ticks, row->time_error, table->arena);
    cells[CELL_SELF] = is_caller ? none : share_cell(groups, row->own.ticks, row->self_error, table->arena);
    fill_sums(groups, ns_per_tick, &row->all, is_caller ? NULL : &row->own, cells);
    cells[CELL_CALLS] = row->calls > 0 ? table_number(row->calls) : table_unmeasured();
    cells[CELL_P50] = table_number(row->p50);
    cells[CELL_P99] = table_number(row->p99);
    cells[CELL_LONGEST] = table_number(row->longest);
    cells[CELL_MOST] = cause_cells_most(row->cause_ns, table->arena);
    cells[CELL_TIME_ERROR] = sample_cells_error(row->time_error);
    cells[CELL_SELF_ERROR] = sample_cells_error(row->self_error);
    cells[CELL_SAMPLES] = table_number(row->n_samples);
    if (row->name.method != NULL) {
        cells[CELL_CLASS] = table_words(row->name.class_name);
        cells[CELL_METHOD] = table_words(row->name.method);
        cells[CELL_DESCRIPTOR] = table_words(row->name.descriptor);
    }
    struct sample_cells to = { table, cells + CELL_CAUSE_NS };
    cause_cells_put(&to, groups->has_waits ? row->cause_ns : NULL);
}

/* ---- other rows ---- */

/* Returns its cells, or NULL. */
static struct table_cell *put_time(const struct groups *groups, const char *label, const char *kind, double ticks,
                                   double ns_per_tick, struct table *table)
{
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return NULL;
    cells[CELL_LABEL] = table_words(label);
    cells[CELL_TIME] = cells[CELL_SELF] = share_cell(groups, ticks, NAN, table->arena);
    cells[CELL_TOTAL_NS] = cells[CELL_SELF_NS] = table_number(ticks * ns_per_tick);
    return cells;
}

/* Groups that are not printed: they may be each other's callers, so that only what is their own adds up. */
static void put_others(const struct groups *groups, const struct group_sums *own, size_t n, double ns_per_tick,
                       struct table *table)
{
    const char *label = arena_printf(table->arena, "%zu smaller one%s", n, text_plural(n));
    struct table_cell *cells = n == 0 ? NULL : put_time(groups, label, "others", own->ticks, ns_per_tick, table);
    if (cells == NULL)
        return;
    if (groups->by != GROUPS_BY_THREAD)
        cells[CELL_TIME] = (struct table_cell){ .value = TABLE_NOT_APPLICABLE };
    fill_sums(groups, ns_per_tick, groups->by == GROUPS_BY_THREAD ? own : NULL, own, cells);
}

static void put_rest(const struct groups *groups, double ns_per_tick, struct table *table)
{
    static const char *const labels[] = { "application, other code", "application, other threads",
                                          "application, in none of them" };
    const struct group_sums *rest = &groups->rest;
    if (rest->ticks <= 0 && rest->waited_ns <= 0 && rest->idle_ns <= 0 && rest->bytes <= 0)
        return;
    struct table_cell *cells = put_time(groups, labels[groups->by], "application", rest->ticks, ns_per_tick, table);
    if (cells != NULL)
        fill_sums(groups, ns_per_tick, rest, rest, cells);
}

static void put_jvm(const struct groups *groups, double ns_per_tick, struct table *table)
{
    const struct shares *shares = &groups->shares;
    if (shares->switch_ticks > 0)
        put_time(groups, "application, switches", "switches", (double)shares->switch_ticks, ns_per_tick, table);
    for (enum vm_part part = VM_PART_GC; part < VM_PART_MMPROF; part++)
        if (shares->part_is_known[part])
            put_time(groups, vm_part_name(part), vm_part_key(part), (double)shares->part_ticks[part], ns_per_tick,
                     table);
    put_time(groups, vm_part_name(VM_PART_MMPROF), vm_part_key(VM_PART_MMPROF),
             (double)shares->probe_ticks + (double)shares->part_ticks[VM_PART_MMPROF], ns_per_tick, table);
    if (shares->kernel_ticks > 0)
        put_time(groups, report_kernel_label(shares), "kernel", (double)shares->kernel_ticks, ns_per_tick, table);
}

static void put_total(const struct groups *groups, double ns_per_tick, struct table *table)
{
    struct table_cell *cells = put_time(groups, "total", "total", groups->total.ticks, ns_per_tick, table);
    if (cells == NULL)
        return;
    table->rows[table->n_rows - 1].after_rule = true;
    fill_sums(groups, ns_per_tick, &groups->total, &groups->total, cells);
}

/* ---- the whole ---- */

/* Has a row less than a share of everything? */
static bool is_small(const struct groups *groups, const struct groups_row *row, double share)
{
    const struct group_sums *all = &row->all, *total = &groups->total;
    return all->ticks < share * total->ticks && (all->waited_ns <= 0 || all->waited_ns < share * total->waited_ns) &&
           (all->bytes <= 0 || all->bytes < share * total->bytes);
}

static void put_groups(const struct groups *groups, const struct report_row_options *options, double ns_per_tick,
                       struct table *table)
{
    struct group_sums others = { .ticks = 0 };
    size_t n_others = 0, n_put = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const struct groups_row *row = &groups->rows[i];
        bool is_beyond = options->top != 0 && n_put >= options->top;
        if (options->all || (!is_beyond && !is_small(groups, row, options->min_share))) {
            put_group(groups, row, ns_per_tick, table);
            n_put++;
            continue;
        }
        if (row->caller_of != GROUPS_NONE)
            continue;
        n_others++;
        others.ticks += row->own.ticks;
        others.waited_ns += row->own.waited_ns;
        others.idle_ns += row->own.idle_ns;
        others.bytes += row->own.bytes;
    }
    put_others(groups, &others, n_others, ns_per_tick, table);
}

static void add_renamed_note(const struct trace_reader *reader, struct table *table)
{
    double n = info_number(reader, INFO_THREADS_RENAMED);
    if (n > 0)
        table_note(table, arena_printf(table->arena,
                                       "%.0f thread%s changed %s; each has one row, under one of its names ('mmprof "
                                       "sample -o' records the name at each sample)",
                                       n, n > 1 ? "s" : "", n > 1 ? "their names" : "its name"));
}

int groups_table(const struct view_pass *pass, const struct report_source *source, const char *argument,
                 const struct report_row_options *rows, struct table *table, struct err *err)
{
    struct groups groups;
    double ns_per_tick = source->tree->ns_per_tick > 0 ? source->tree->ns_per_tick : NAN;
    if (groups_find(pass, source, argument, &groups, err) < 0)
        return -1;
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(&groups, table);
    put_groups(&groups, rows, ns_per_tick, table);
    size_t n_groups = table->n_rows;
    put_rest(&groups, ns_per_tick, table);
    put_jvm(&groups, ns_per_tick, table);
    if (n_groups > 0 && table->n_rows > n_groups)
        table->rows[n_groups].after_rule = true;
    put_total(&groups, ns_per_tick, table);
    if (groups.by == GROUPS_BY_METHOD && trace_samples_are_all(source->reader))
        table_note(table, "stack samples show callers, but no numbers of calls: record those with 'mmprof profile', "
                          "and add --by to group by an argument's value");
    if (groups.by != GROUPS_BY_THREAD && (groups.has_waits || groups.has_allocations))
        table_note(table, "waits and bytes include callees, as time does");
    if (groups.by == GROUPS_BY_THREAD)
        add_renamed_note(source->reader, table);
    if (groups.by != GROUPS_BY_THREAD && groups.has_waits)
        table_note(
            table,
            "the rows exclude time in which threads were ready to run, but had no CPU: where they were is unknown");
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table of groups") : 0;
}
