#include "report/view/slow.h"

#include "report/wait_sites.h"

#define LATE_NS 1e7 /* a visit found a thread waiting that long after its beginning, at most */

struct slow_making {
    const struct view_pass *pass;
    const struct report_source *source;
    double *lock_ns; /* by row of the waits: how long the slowest calls of this method waited; the arena's */
};

/* ---- what a time off the CPU was for ---- */

/* Each visit tells of the time that it fell into. */
static void find_waits(const struct slow_making *making)
{
    const struct view_pass *pass = making->pass;
    uint64_t late_ticks = (uint64_t)(LATE_NS / report_ns(making->source, 1));
    for (size_t i = 0, n; i < pass->n_kept_waits; i++) {
        const struct trace_wait *wait = &pass->kept_waits[i];
        struct slow_off *off = wait->cause == TRACE_CAUSE_ON_CPU || wait->cause == TRACE_CAUSE_READY
                                   ? NULL
                                   : slow_calls_off(pass->slow_calls, wait->thread, wait->ticks, &n);
        if (off != NULL && off->start_ticks <= wait->ticks + late_ticks)
            off->wait = (uint32_t)i + 1;
    }
}

/* How much of a time collections stopped the program. */
static uint64_t collected_ticks(const struct slow_making *making, uint64_t start, uint64_t end)
{
    const struct trace_reader *reader = making->pass->reader;
    double ns_per_tick = report_ns(making->source, 1);
    uint64_t ticks = 0;
    for (size_t i = 0; i < trace_n_collections(reader); i++) {
        const struct trace_collection *of = trace_collection(reader, i);
        uint64_t from = of->start_ticks, to = from + (uint64_t)((double)of->ns / ns_per_tick);
        from = from < start ? start : from;
        to = to > end ? end : to;
        ticks += to > from && strstr(of->name, "concurrent") == NULL ? to - from : 0;
    }
    return ticks < end - start ? ticks : end - start;
}

static bool is_same(const struct method_name *a, const struct method_name *b)
{
    return a->class_name == NULL || b->class_name == NULL ? a->class_name == b->class_name : method_name_equals(a, b);
}

static const struct wait_row *row_of(const struct slow_making *making, const struct trace_wait *wait)
{
    const struct view_pass *pass = making->pass;
    const struct wait_site *site = wait_sites_find(pass->sites, wait->context);
    const char *lock = wait->lock_class[0] == '\0' ? "" : java_names_class(pass->arena, wait->lock_class);
    for (size_t i = 0; i < pass->waits.n; i++) {
        const struct wait_row *row = &pass->waits.rows[i];
        if (row->cause == wait->cause && strcmp(row->lock_class == NULL ? "" : row->lock_class, lock) == 0 &&
            is_same(&row->where, &site->where) && is_same(&row->called, &site->called))
            return row;
    }
    return NULL;
}

/* Half of a time in which no visit saw the thread, or some of one that it spent in the JVM, makes all of it a
 * collection's: these are known to some ms only. */
static void add_off(struct slow_making *making, uint32_t thread, const struct slow_off *off, uint64_t ticks,
                    bool is_slow, double *parts)
{
    const struct trace_wait *wait = off->wait == 0 ? NULL : &making->pass->kept_waits[off->wait - 1];
    enum trace_cause cause = off->is_preempted ? TRACE_CAUSE_READY : wait == NULL ? TRACE_CAUSE_UNKNOWN : wait->cause;
    bool may_be_collection = cause == TRACE_CAUSE_UNKNOWN || cause == TRACE_CAUSE_JVM;
    uint64_t collected = may_be_collection ? collected_ticks(making, off->start_ticks, off->end_ticks) : 0;
    bool is_collection = cause == TRACE_CAUSE_JVM ? collected > 0 : collected > (off->end_ticks - off->start_ticks) / 2;
    collected = is_collection || collected > ticks ? ticks : collected;
    uint64_t stopped = off->is_preempted ? throttled_ticks(&making->pass->throttled, thread, off->end_ticks) : 0;
    stopped = stopped < ticks ? stopped : ticks;
    parts[SLOW_COLLECTION] += (double)collected;
    parts[SLOW_THROTTLED] += (double)stopped;
    parts[cause] += (double)(ticks - collected - stopped);
    if (is_slow && (cause == TRACE_CAUSE_MONITOR || cause == TRACE_CAUSE_LOCK)) {
        const struct wait_row *row = row_of(making, wait);
        if (row != NULL)
            making->lock_ns[row - making->pass->waits.rows] += (double)ticks;
    }
}

/* ---- calls ---- */

static void add_call(struct slow_making *making, const struct statistics_call *call, bool is_slow, double *parts)
{
    size_t n;
    const struct slow_off *off = slow_calls_off(making->pass->slow_calls, call->thread, call->start_ticks, &n);
    double left = (double)call->ticks - (double)call->cpu_ticks;
    parts[TRACE_CAUSE_ON_CPU] += (double)call->cpu_ticks;
    for (size_t i = 0; i < n && off[i].start_ticks < call->end_ticks; i++) {
        uint64_t from = off[i].start_ticks > call->start_ticks ? off[i].start_ticks : call->start_ticks;
        uint64_t to = off[i].end_ticks < call->end_ticks ? off[i].end_ticks : call->end_ticks;
        add_off(making, call->thread, &off[i], to - from, is_slow, parts);
        left -= (double)(to - from);
    }
    parts[TRACE_CAUSE_UNKNOWN] += left;
}

/* Of calls from one to another, in the order of their times.  Returns their mean; parts are added to the sums. */
static double mean_of(struct slow_making *making, const struct slow_method *m, uint32_t from, uint32_t to,
                      double factor, double *sums)
{
    double parts[SLOW_PARTS] = { 0 }, all = 0, ns = report_ns(making->source, 1) / (to - from);
    for (uint32_t i = from; i < to; i++) {
        add_call(making, &m->calls[i].of, factor > 0, parts);
        all += (double)m->calls[i].of.ticks;
    }
    for (size_t i = 0; i < SLOW_PARTS; i++)
        sums[i] += factor * parts[i] * ns;
    return all * ns;
}

static int by_time(const void *a, const void *b)
{
    const struct slow_call *x = a, *y = b;
    return x->of.ticks < y->of.ticks ? -1 : x->of.ticks > y->of.ticks;
}

static const struct wait_row *most_waited(const struct slow_making *making)
{
    size_t most = 0, n = making->pass->waits.n;
    for (size_t i = 1; i < n; i++)
        most = making->lock_ns[i] > making->lock_ns[most] ? i : most;
    return n == 0 || making->lock_ns[most] <= 0 ? NULL : &making->pass->waits.rows[most];
}

static uint32_t n_with(const struct slow_method *m, uint32_t from, uint32_t value)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < m->n; i++)
        n += m->calls[i].of.value == value;
    return n;
}

/* Which value of the argument that tells calls apart the slowest ones have: more than half of them, and twice as often
 * as all calls. */
static void find_value(const struct slow_making *making, const struct slow_method *m, struct slow_row *row)
{
    uint32_t first = m->n - row->n_slow;
    for (uint32_t i = first; i < m->n && row->value == NULL; i++) {
        uint32_t n = n_with(m, first, m->calls[i].of.value);
        const struct trace_value *value = trace_value(making->pass->reader, m->calls[i].of.value);
        if (2 * n <= row->n_slow || value == NULL || value->method != row->method)
            continue;
        row->value_share = (double)n_with(m, 0, value->id) / m->n;
        row->n_slow_value = n;
        row->value = n >= 2 * row->value_share * row->n_slow ? value : NULL;
    }
}

static struct slow_row make_row(struct slow_making *making, uint32_t method)
{
    const struct slow_calls *calls = making->pass->slow_calls;
    const struct slow_method *m = &calls->methods[method];
    const struct statistics *s = calls->statistics;
    uint32_t n_slow = (uint32_t)(m->n * SLOW_PART), n_middle = (uint32_t)(m->n * SLOW_MIDDLE);
    double ns = report_ns(making->source, 1);
    struct slow_row row = { .method = method,
                            .calls = statistics_moments(s, method, 0).n,
                            .n_slow = n_slow < 1 ? 1 : n_slow,
                            .p50_ns = statistics_quantile(s, method, 0.5) * ns,
                            .p99_ns = statistics_quantile(s, method, 0.99) * ns,
                            .longest_ns = statistics_longest(s, method) * ns };
    n_middle = n_middle < 1 ? 1 : n_middle;
    memset(making->lock_ns, 0, (making->pass->waits.n + 1) * sizeof *making->lock_ns);
    qsort(m->calls, m->n, sizeof *m->calls, by_time);
    row.slow_ns = mean_of(making, m, m->n - row.n_slow, m->n, 1, row.parts_ns);
    row.middle_ns = mean_of(making, m, (m->n - n_middle) / 2, (m->n - n_middle) / 2 + n_middle, -1, row.parts_ns);
    row.lock = most_waited(making);
    find_value(making, m, &row);
    return row;
}

static int by_tail(const void *a, const void *b)
{
    const struct slow_row *x = a, *y = b;
    double of_x = (x->slow_ns - x->middle_ns) * (double)x->calls, of_y = (y->slow_ns - y->middle_ns) * (double)y->calls;
    return of_x < of_y ? 1 : of_x > of_y ? -1 : 0;
}

void slow_find(const struct view_pass *pass, const struct report_source *source, struct slow_rows *rows)
{
    const struct slow_calls *calls = pass->slow_calls;
    struct slow_making making = { .pass = pass,
                                  .source = source,
                                  .lock_ns = arena_alloc(pass->arena, (pass->waits.n + 1) * sizeof *making.lock_ns) };
    *rows = (struct slow_rows){ .rows = arena_alloc(pass->arena, ((size_t)calls->n_methods + 1) * sizeof *rows->rows) };
    find_waits(&making);
    for (uint32_t i = 0; i < calls->n_methods; i++) {
        uint64_t n = statistics_moments(calls->statistics, i, 0).n;
        if (n >= SLOW_CALLS_LEAST && calls->methods[i].n >= SLOW_CALLS_LEAST)
            rows->rows[rows->n++] = make_row(&making, i);
        else
            rows->n_few += n > 0;
    }
    qsort(rows->rows, rows->n, sizeof *rows->rows, by_tail);
}

bool slow_has_tail(const struct slow_row *row)
{
    return row->slow_ns > 1.5 * row->middle_ns;
}
