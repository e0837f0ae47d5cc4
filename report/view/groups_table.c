#include "report/view/groups.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/view/waits.h"
#include "report/view/report_internal.h"

#define SCREEN_ROWS  5u
#define SCREEN_KINDS 2u
#define SCREEN_LEAST 0.02 /* of the time, or of the waiting: a kind of request; and */
#define SCREEN_ALL   0.2  /* all of them */

#define PACKAGE (1u << GROUPS_BY_PACKAGE)
#define THREAD  (1u << GROUPS_BY_THREAD)
#define METHOD  (1u << GROUPS_BY_METHOD)
#define REQUEST (1u << GROUPS_BY_REQUEST)

/* A row as it is printed; NAN: not known, TABLE_NONE: not applicable. */
struct group_line {
    const char *label;
    struct method_name name;
    double n_threads, time_share, time_error, self_share, self_error;
    double ns, waited_ns, idle_ns, bytes, self_ns, self_waited_ns, self_bytes;
    double calls, p50, p99, longest, n_samples;
    struct wait_causes causes;
};

#define GROUP(member) FROM(struct group_line, member)

static const struct table_column columns[] = {
    { "label", "Package", TABLE_TEXT, GROUP(label), .when = PACKAGE },
    { "label", "Thread", TABLE_TEXT, GROUP(label), .when = THREAD },
    { "label", "Method", TABLE_TEXT, GROUP(label), .when = METHOD },
    { "label", "Request", TABLE_TEXT, GROUP(label), .when = REQUEST },
    { "threads", "Threads", TABLE_COUNT, GROUP(n_threads), .text_when = THREAD },
    { "time_share", "Time (%)", TABLE_SHARE, GROUP(time_share), ERROR_FROM(struct group_line, time_error) },
    { "self_share", "Self (%)", TABLE_SHARE, GROUP(self_share), ERROR_FROM(struct group_line, self_error),
      .text_when = PACKAGE | METHOD },
    { "total_ns", "Time", TABLE_NS, GROUP(ns), .text_when = PACKAGE | THREAD | REQUEST },
    { "calls", "Calls", TABLE_COUNT, GROUP(calls), .text_when = METHOD | REQUEST },
    { "p50_ns", "p50", TABLE_NS, GROUP(p50), .text_when = METHOD | REQUEST },
    { "p99_ns", "p99", TABLE_NS, GROUP(p99), .text_when = METHOD | REQUEST },
    { "max_ns", "Longest", TABLE_NS, GROUP(longest), .text_when = METHOD | REQUEST },
    { "waited_ns", "Waited", TABLE_NS, GROUP(waited_ns) },
    { "most_for", "Most for", TABLE_TEXT, GROUP(causes.most), .text_when = THREAD | METHOD | REQUEST },
    { "idle_ns", "Idle", TABLE_NS, GROUP(idle_ns), .text_when = THREAD },
    { "allocated_bytes", "Allocated", TABLE_BYTES, GROUP(bytes) },
    { "self_ns", NULL, TABLE_NS, GROUP(self_ns), .width = COLUMN_DATA },
    { "self_waited_ns", NULL, TABLE_NS, GROUP(self_waited_ns), .width = COLUMN_DATA },
    { "self_allocated_bytes", NULL, TABLE_BYTES, GROUP(self_bytes), .width = COLUMN_DATA },
    { "time_share_error", NULL, TABLE_SHARE, GROUP(time_error), .width = COLUMN_DATA },
    { "self_share_error", NULL, TABLE_SHARE, GROUP(self_error), .width = COLUMN_DATA },
    { "samples", NULL, TABLE_COUNT, GROUP(n_samples), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, GROUP(name.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, GROUP(name.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, GROUP(name.descriptor), .width = COLUMN_DATA },
};

/* ---- rows ---- */

static double share_of(const struct groups *groups, double ticks)
{
    return groups->total.ticks > 0 ? ticks / groups->total.ticks : NAN;
}

/* all: NULL where a sum of groups would have some of it twice; own: NULL where it is not told apart. */
static struct group_line line_of(const struct groups *groups, const char *label, double ns_per_tick,
                                 const struct group_sums *all, const struct group_sums *own)
{
    struct group_line line = { .label = label,
                               .n_threads = NAN,
                               .time_share = all == NULL ? TABLE_NONE : share_of(groups, all->ticks),
                               .time_error = NAN,
                               .self_share = own == NULL ? TABLE_NONE : share_of(groups, own->ticks),
                               .self_error = NAN,
                               .ns = all == NULL ? TABLE_NONE : all->ticks * ns_per_tick,
                               .self_ns = own == NULL ? TABLE_NONE : own->ticks * ns_per_tick,
                               .calls = NAN,
                               .p50 = NAN,
                               .p99 = NAN,
                               .longest = NAN,
                               .n_samples = NAN,
                               .causes = wait_causes_unknown() };
    line.waited_ns = !groups->has_waits ? NAN : all == NULL ? TABLE_NONE : all->waited_ns;
    line.idle_ns = !groups->has_waits ? NAN : all == NULL ? TABLE_NONE : all->idle_ns;
    line.self_waited_ns = !groups->has_waits ? NAN : own == NULL ? TABLE_NONE : own->waited_ns;
    line.bytes = !groups->has_allocations ? NAN : all == NULL ? TABLE_NONE : all->bytes;
    line.self_bytes = !groups->has_allocations ? NAN : own == NULL ? TABLE_NONE : own->bytes;
    return line;
}

static void add_group(const struct groups *groups, const struct groups_row *row, double ns_per_tick,
                      struct table *table)
{
    static const char *const kinds[] = { "package", "thread", "method", "request" };
    bool is_caller = row->caller_of != GROUPS_NONE;
    struct group_line line = line_of(groups, row->label, ns_per_tick, &row->all, is_caller ? NULL : &row->own);
    line.name = row->name;
    line.n_threads = row->n_threads > 0 ? row->n_threads : (double)NAN;
    line.time_error = row->time_error;
    line.self_error = row->self_error;
    line.calls = row->calls > 0 ? row->calls : NAN;
    line.p50 = row->p50;
    line.p99 = row->p99;
    line.longest = row->longest;
    line.n_samples = row->n_samples;
    line.causes = wait_causes_of(row->cause_ns, groups->has_waits, table->arena);
    table_add(table, is_caller ? "caller" : kinds[groups->by], &line)->is_below = is_caller;
}

/* Time that is no group's, of which no more is known. */
static void add_time(const struct groups *groups, const char *label, const char *kind, double ticks, double ns_per_tick,
                     struct table *table)
{
    const struct group_sums sums = { .ticks = ticks };
    struct group_line line = line_of(groups, label, ns_per_tick, &sums, &sums);
    line.waited_ns = line.idle_ns = line.self_waited_ns = line.bytes = line.self_bytes = NAN;
    table_add(table, kind, &line);
}

/* Groups that are not printed: they may be each other's callers, so that only what is their own adds up. */
static void add_others(const struct groups *groups, const struct group_sums *own, size_t n, double ns_per_tick,
                       struct table *table)
{
    if (n == 0)
        return;
    const struct group_line line =
        line_of(groups, arena_printf(table->arena, "%zu smaller one%s", n, text_plural(n)), ns_per_tick,
                groups->by == GROUPS_BY_THREAD || groups->by == GROUPS_BY_REQUEST ? own : NULL, own);
    table_add(table, "others", &line);
}

static void add_rest(const struct groups *groups, double ns_per_tick, struct table *table)
{
    static const char *const labels[] = { "application, other code", "application, other threads",
                                          "application, in none of them", "application, in no request" };
    const struct group_sums *rest = &groups->rest;
    if (rest->ticks <= 0 && rest->waited_ns <= 0 && rest->idle_ns <= 0 && rest->bytes <= 0)
        return;
    const struct group_line line = line_of(groups, labels[groups->by], ns_per_tick, rest, rest);
    table_add(table, "application", &line);
}

static void add_jvm(const struct groups *groups, double ns_per_tick, struct table *table)
{
    const struct shares *shares = &groups->shares;
    if (shares->switch_ticks > 0)
        add_time(groups, "application, switches", "switches", (double)shares->switch_ticks, ns_per_tick, table);
    for (enum vm_part part = VM_PART_GC; part < VM_PART_MMPROF; part++)
        if (shares->part_is_known[part])
            add_time(groups, vm_part_name(part), vm_part_key(part), (double)shares->part_ticks[part], ns_per_tick,
                     table);
    add_time(groups, vm_part_name(VM_PART_MMPROF), vm_part_key(VM_PART_MMPROF),
             (double)shares->probe_ticks + (double)shares->part_ticks[VM_PART_MMPROF], ns_per_tick, table);
    if (shares->kernel_ticks > 0)
        add_time(groups, report_kernel_label(shares), "kernel", (double)shares->kernel_ticks, ns_per_tick, table);
}

/* ---- the whole ---- */

/* Has a row less than a share of everything? */
static bool is_small(const struct groups *groups, const struct groups_row *row, double share)
{
    const struct group_sums *all = &row->all, *total = &groups->total;
    return all->ticks < share * total->ticks && (all->waited_ns <= 0 || all->waited_ns < share * total->waited_ns) &&
           (all->bytes <= 0 || all->bytes < share * total->bytes);
}

static void add_groups(const struct groups *groups, const struct report_row_options *options, double ns_per_tick,
                       struct table *table)
{
    struct group_sums others = { .ticks = 0 };
    size_t n_others = 0, n_put = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const struct groups_row *row = &groups->rows[i];
        bool is_beyond = options->top != 0 && n_put >= options->top;
        if (options->all || (!is_beyond && !is_small(groups, row, options->min_share))) {
            add_group(groups, row, ns_per_tick, table);
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
    add_others(groups, &others, n_others, ns_per_tick, table);
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
    TABLE_COLUMNS(table, columns, 1u << groups.by);
    wait_causes_columns(offsetof(struct group_line, causes), table);
    add_groups(&groups, rows, ns_per_tick, table);
    size_t n_groups = table->n_rows;
    add_rest(&groups, ns_per_tick, table);
    add_jvm(&groups, ns_per_tick, table);
    if (n_groups > 0 && table->n_rows > n_groups)
        table->rows[n_groups].after_rule = true;
    const struct group_line total = line_of(&groups, "total", ns_per_tick, &groups.total, &groups.total);
    table_add(table, "total", &total)->after_rule = true;
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
    return 0;
}

/* Do requests say what the program does? */
static bool tell_much(const struct groups *groups)
{
    double ticks = 0, waited_ns = 0;
    uint32_t n = 0;
    for (size_t i = 0; i < groups->n; i++) {
        n += !is_small(groups, &groups->rows[i], SCREEN_LEAST);
        ticks += groups->rows[i].all.ticks;
        waited_ns += groups->rows[i].all.waited_ns;
    }
    return n >= SCREEN_KINDS && (ticks >= SCREEN_ALL * groups->total.ticks ||
                                 (waited_ns > 0 && waited_ns >= SCREEN_ALL * groups->total.waited_ns));
}

int groups_requests(const struct view_pass *pass, const struct report_source *source, struct table *table,
                    struct err *err)
{
    struct groups groups;
    double ns_per_tick = source->tree->ns_per_tick > 0 ? source->tree->ns_per_tick : NAN;
    if (groups_find(pass, source, "request", &groups, err) < 0)
        return -1;
    if (!tell_much(&groups))
        return 0;
    table_begin(table, source->arena);
    TABLE_COLUMNS(table, columns, 1u << groups.by);
    for (size_t i = 0; i < groups.n && table->n_rows < SCREEN_ROWS; i++)
        if (!is_small(&groups, &groups.rows[i], SCREEN_LEAST))
            add_group(&groups, &groups.rows[i], ns_per_tick, table);
    return 1;
}
