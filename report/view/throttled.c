#include "report/view/throttled.h"

#include "core/base/xalloc.h"
#include "report/view/view_pass.h"

#define NEAREST_MOST 64u  /* samples that are looked at, to each side */
#define STOPS_MOST   256u /* in a step; a real one has ten, or a hundred where the quota's period is a millisecond */

/* ---- the pass ---- */

void throttled_hear(struct throttled_reading *r, const struct trace_pressure *pressure)
{
    *xpush(r->steps, r->steps_room, r->n_steps) = *pressure;
}

static void add_off(struct throttled_reading *r, struct throttled_thread *t, const struct calltree_flow *flow)
{
    struct throttled_off *last = t->latest == 0 ? NULL : &r->off[t->latest - 1];
    if (last != NULL && last->end_ticks == flow->from_ticks) {
        last->end_ticks = flow->ticks;
        return;
    }
    if (r->n_off == THROTTLED_OFF_OF_ALL)
        return;
    *xpush(r->off, r->off_room, r->n_off) = (struct throttled_off){ .start_ticks = flow->from_ticks,
                                                                    .end_ticks = flow->ticks,
                                                                    .thread = flow->thread,
                                                                    .node = t->unsettled,
                                                                    .part = flow->part };
    t->latest = t->unsettled = (uint32_t)r->n_off;
}

/* Those since the settlement before were in that node's calls. */
static void settle(struct throttled_reading *r, struct throttled_thread *t, const struct calltree_flow *flow)
{
    for (uint32_t i = t->unsettled, before; i != 0; i = before) {
        before = r->off[i - 1].node;
        r->off[i - 1].node = flow->is_placed ? flow->node : 0;
        r->off[i - 1].part = flow->part;
    }
    t->unsettled = 0;
}

static void take_flow(void *context, const struct calltree_flow *flow)
{
    struct throttled_reading *r = context;
    if (flow->kind != CALLTREE_PASSED && flow->kind != CALLTREE_SWITCHED && flow->kind != CALLTREE_SETTLED)
        return;
    xgrow_zeroed(r->threads, r->n_threads, (size_t)flow->thread + 1);
    struct throttled_thread *t = &r->threads[flow->thread];
    if (flow->kind == CALLTREE_SWITCHED)
        t->is_preempted = flow->is_on;
    else if (flow->kind == CALLTREE_SETTLED)
        settle(r, t, flow);
    else if (!flow->is_on && t->is_preempted)
        add_off(r, t, flow);
}

struct calltree_observer throttled_observer(struct throttled_reading *r)
{
    return (struct calltree_observer){ .context = r, .flow = take_flow };
}

void throttled_close(struct throttled_reading *r)
{
    free(r->steps);
    free(r->off);
    free(r->threads);
}

/* ---- what of it the quota did ---- */

static int by_thread(const void *a, const void *b)
{
    const struct throttled_off *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->end_ticks > y->end_ticks) - (x->end_ticks < y->end_ticks);
}

/* The first one of the thread, or a later one's, that ends after a moment. */
static size_t first_after(const struct throttled_reading *r, uint32_t thread, uint64_t ticks)
{
    const struct throttled_off key = { .thread = thread, .end_ticks = ticks };
    size_t low = 0, high = r->n_off;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_thread(&r->off[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of those from first to end the longest one that is not taken; NULL: all are. */
static struct throttled_off *longest_of(const struct throttled_reading *r, size_t first, size_t end)
{
    struct throttled_off *longest = NULL;
    for (size_t i = first; i < end; i++) {
        struct throttled_off *off = &r->off[i];
        if (!off->is_taken &&
            (longest == NULL || off->end_ticks - off->start_ticks > longest->end_ticks - longest->start_ticks))
            longest = off;
    }
    return longest;
}

/* Of the times that end in a step; what it takes of the stops, and of how long they were. */
static void take_longest(const struct throttled_reading *r, size_t first, size_t end, uint64_t *n, uint64_t *ticks)
{
    struct throttled_off *off;
    for (; *n > 0 && (off = longest_of(r, first, end)) != NULL; --*n) {
        uint64_t length = off->end_ticks - off->start_ticks;
        off->is_taken = true;
        off->stopped_ticks = length < *ticks ? length : *ticks;
        *ticks -= off->stopped_ticks;
    }
}

/* Behind the thread's times that have ended by then. */
static size_t end_of(const struct throttled_reading *r, size_t i, uint32_t thread, uint64_t ticks)
{
    while (i < r->n_off && r->off[i].thread == thread && r->off[i].end_ticks <= ticks)
        i++;
    return i;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A thread that was stopped went on when the stop had ended, and maybe in the next step. */
static void take_thread(const struct throttled_reading *r, uint32_t thread, double ns_per_tick)
{
    size_t first = first_after(r, thread, 0), end = first;
    uint64_t n_left = 0, ticks_left = 0;
    for (size_t s = 0; s < r->n_steps; s++) {
        const struct trace_pressure *step = &r->steps[s];
        uint64_t n_here = least_of(step->values[TRACE_PRESSURE_THROTTLED], STOPS_MOST), n = n_here + n_left;
        uint64_t here = (uint64_t)((double)step->values[TRACE_PRESSURE_THROTTLED_NS] / ns_per_tick);
        uint64_t ticks = here + ticks_left;
        first = end_of(r, end, thread, step->start_ticks);
        end = end_of(r, first, thread, step->end_ticks);
        take_longest(r, first, end, &n, &ticks);
        n_left = least_of(n, n_here);
        ticks_left = n_left == 0 ? 0 : least_of(ticks, here);
    }
}

void throttled_join(struct throttled_reading *r, double ns_per_tick)
{
    if (r->n_off == 0 || ns_per_tick <= 0)
        return;
    qsort(r->off, r->n_off, sizeof *r->off, by_thread);
    for (uint32_t t = 0; t < r->n_threads; t++)
        take_thread(r, t, ns_per_tick);
}

uint64_t throttled_ticks(const struct throttled_reading *r, uint32_t thread, uint64_t end_ticks)
{
    size_t i = end_ticks == 0 ? r->n_off : first_after(r, thread, end_ticks - 1);
    bool is_it = i < r->n_off && r->off[i].thread == thread && r->off[i].end_ticks == end_ticks;
    return is_it ? r->off[i].stopped_ticks : 0;
}

/* ---- in which calls ---- */

struct placing {
    const struct report_source *whole;
    uint32_t *order; /* of the kept samples: by thread and time; the arena's, as all here */
    size_t n_order;
    uint32_t *latest; /* by method: the time off that was counted last, + 1 */
    struct throttled *of;
};

static const struct trace_kept_sample *sample_of(const struct placing *p, size_t i)
{
    return &p->whole->sampled->samples->kept[p->order[i]];
}

static int by_time(const void *a, const void *b, void *context)
{
    const struct trace_kept_sample *kept = context, *x = &kept[*(const uint32_t *)a], *y = &kept[*(const uint32_t *)b];
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static void sort_samples(struct placing *p)
{
    const struct sampled_tree *sampled = p->whole->sampled;
    if (sampled == NULL)
        return;
    p->order = arena_alloc(p->whole->arena, (sampled->samples->n_kept + 1) * sizeof *p->order);
    for (size_t i = 0; i < sampled->samples->n_kept; i++)
        if (sampled->samples->kept[i].ticks != TRACE_UNKNOWN && sampled->leaf[i] != CALLTREE_NONE)
            p->order[p->n_order++] = (uint32_t)i;
    qsort_r(p->order, p->n_order, sizeof *p->order, by_time, sampled->samples->kept);
}

static bool is_sample_of(const struct placing *p, size_t i, const struct throttled_off *off)
{
    return i < p->n_order && sample_of(p, i)->thread == off->thread;
}

static bool is_same_call(const struct placing *p, size_t i, const struct throttled_off *off)
{
    return p->whole->sampled->anchor[p->order[i]] == off->node;
}

/* The thread's nearest sample in the same recorded call; n_order: there is none. */
static size_t nearest(const struct placing *p, const struct throttled_off *off)
{
    size_t low = 0, high = p->n_order, before, after;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct trace_kept_sample *sample = sample_of(p, middle);
        if (sample->thread < off->thread || (sample->thread == off->thread && sample->ticks <= off->start_ticks))
            low = middle + 1;
        else
            high = middle;
    }
    for (after = low; after < low + NEAREST_MOST && is_sample_of(p, after, off) && !is_same_call(p, after, off);)
        after++;
    for (before = low; before + NEAREST_MOST > low && before > 0 && is_sample_of(p, before - 1, off) &&
                       !is_same_call(p, before - 1, off);)
        before--;
    bool has_after = is_sample_of(p, after, off) && is_same_call(p, after, off),
         has_before = before > 0 && is_sample_of(p, before - 1, off) && is_same_call(p, before - 1, off);
    if (!has_before)
        return has_after ? after : p->n_order;
    bool is_after =
        has_after && sample_of(p, after)->ticks - off->start_ticks < off->start_ticks - sample_of(p, before - 1)->ticks;
    return is_after ? after : before - 1;
}

/* To the calls on a path: a method that calls itself counts once. */
static void add_path(struct placing *p, const struct calltree *tree, uint32_t node, uint32_t number, double ticks)
{
    for (; node != 0 && tree->nodes[node].parent != node; node = tree->nodes[node].parent) {
        uint32_t method = tree->nodes[node].method;
        if (method >= p->whole->tree->n_methods || p->latest[method] == number)
            continue;
        p->latest[method] = number;
        p->of->method_ticks[method] += ticks;
    }
}

static void place(struct placing *p, const struct throttled_off *off, uint32_t number)
{
    const struct report_source *whole = p->whole;
    double ticks = (double)off->stopped_ticks;
    size_t i = p->n_order == 0 ? 0 : nearest(p, off);
    p->of->part_ticks[off->part] += ticks;
    p->of->all_ticks += ticks;
    if (whole->sampled != NULL && i == p->n_order) {
        add_path(p, whole->sampled->measured, off->node, number, ticks);
        return;
    }
    uint32_t node = whole->sampled == NULL ? off->node : whole->sampled->leaf[p->order[i]];
    p->of->node_ticks[node] += ticks;
    add_path(p, whole->tree, node, number, ticks);
}

const struct throttled *throttled_find(const struct view_pass *pass, const struct report_source *whole)
{
    const struct throttled_reading *r = &pass->throttled;
    struct arena *arena = whole->arena;
    struct placing p = { .whole = whole, .of = arena_alloc(arena, sizeof *p.of) };
    if (r->n_off == 0 || whole->only_threads)
        return NULL;
    p.of->method_ticks = arena_alloc(arena, ((size_t)whole->tree->n_methods + 1) * sizeof *p.of->method_ticks);
    p.of->node_ticks = arena_alloc(arena, ((size_t)whole->tree->n_nodes + 1) * sizeof *p.of->node_ticks);
    p.latest = arena_alloc(arena, ((size_t)whole->tree->n_methods + 1) * sizeof *p.latest);
    sort_samples(&p);
    for (size_t i = 0; i < r->n_off; i++)
        if (r->off[i].stopped_ticks > 0)
            place(&p, &r->off[i], (uint32_t)i + 1);
    return p.of;
}

struct table_cell throttled_cell(const struct report_source *source, double ticks, double time_ticks)
{
    return table_quotient(ticks, source->clock == PHASES_WALL ? fmax(time_ticks, ticks) : time_ticks + ticks);
}

/* ---- when ---- */

static bool give(void *context, uint32_t step, uint64_t part)
{
    uint64_t *values = context; /* of the first step */
    values[(size_t)step * TRACE_PRESSURES] += part;
    return true;
}

/* A time is evenly over its reading, a number in the last step of that. */
const uint64_t *throttled_spread(const struct throttled_reading *r, struct timeline *timeline, struct arena *arena)
{
    uint64_t *values = arena_alloc(arena, (size_t)timeline_n_steps(timeline) * TRACE_PRESSURES * sizeof *values);
    for (size_t s = 0; s < r->n_steps; s++)
        for (int i = 0; i < TRACE_PRESSURES; i++) {
            const struct trace_pressure *of = &r->steps[s];
            timeline_spread(timeline, trace_pressure_is_time(i) ? of->start_ticks : of->end_ticks, of->end_ticks,
                            of->values[i], give, values + i);
        }
    return values;
}
