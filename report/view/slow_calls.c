#include "report/view/slow_calls.h"

#include "core/base/xalloc.h"

/* ---- calls ---- */

static bool is_drawn(const struct slow_method *m, uint32_t draw)
{
    return (draw & ((UINT32_C(1) << m->shift) - 1)) == 0;
}

/* Keep half as many calls of a method. */
static void thin_out(struct slow_calls *c, struct slow_method *m)
{
    uint32_t n = 0;
    m->shift++;
    for (uint32_t i = 0; i < m->n; i++)
        if (is_drawn(m, m->calls[i].draw))
            m->calls[n++] = m->calls[i];
    c->n_calls -= m->n - n;
    m->n = n;
}

/* Fewer calls of each method, so that there is room for all methods; and the room that had more goes back. */
static void make_room(struct slow_calls *c)
{
    c->most /= 2;
    for (uint32_t i = 0; i < c->n_methods; i++) {
        struct slow_method *m = &c->methods[i];
        while (m->n > c->most)
            thin_out(c, m);
        if (m->n > 0 && m->room > m->n) {
            m->calls = xreallocarray(m->calls, m->n, sizeof *m->calls);
            m->room = m->n;
        }
    }
}

static void hear_call(void *context, const struct statistics_call *call)
{
    struct slow_calls *c = context;
    xgrow_zeroed(c->methods, c->n_methods, (size_t)call->method + 1);
    struct slow_method *m = &c->methods[call->method];
    c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t draw = (uint32_t)(c->random >> 32);
    while (m->n >= c->most && m->shift < 31)
        thin_out(c, m);
    if (!is_drawn(m, draw))
        return;
    *xpush(m->calls, m->room, m->n) = (struct slow_call){ *call, draw };
    if (++c->n_calls > SLOW_CALLS_OF_ALL && c->most > 1)
        make_room(c);
}

/* ---- times off the CPU ---- */

static void add_off(struct slow_calls *c, struct slow_thread *t, uint64_t start, uint64_t end)
{
    struct slow_off *last = t->n == 0 ? NULL : &t->off[t->n - 1];
    if (last != NULL && last->end_ticks == start) {
        last->end_ticks = end;
        return;
    }
    c->n_off_lost += c->n_off == SLOW_OFF_OF_ALL;
    if (c->n_off == SLOW_OFF_OF_ALL)
        return;
    c->n_off++;
    *xpush(t->off, t->room, t->n) = (struct slow_off){ start, end, t->is_preempted, 0 };
}

static void take_flow(void *context, const struct calltree_flow *flow)
{
    struct slow_calls *c = context;
    if (flow->kind != CALLTREE_PASSED && flow->kind != CALLTREE_SWITCHED)
        return;
    xgrow_zeroed(c->threads, c->n_threads, (size_t)flow->thread + 1);
    struct slow_thread *t = &c->threads[flow->thread];
    if (flow->kind == CALLTREE_SWITCHED)
        t->is_preempted = flow->is_on;
    else if (!flow->is_on && flow->is_placed && flow->part == VM_PART_APPLICATION)
        add_off(c, t, flow->from_ticks, flow->ticks);
}

static void take_step(void *context, const struct calltree_step *step)
{
    struct slow_calls *c = context;
    struct calltree_observer observer = statistics_observer(c->statistics);
    observer.step(observer.context, step);
}

struct slow_off *slow_calls_off(const struct slow_calls *c, uint32_t thread, uint64_t ticks, size_t *n)
{
    const struct slow_thread *t = thread < c->n_threads ? &c->threads[thread] : NULL;
    uint32_t low = 0, high = t == NULL ? 0 : t->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->off[middle].end_ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    *n = t == NULL ? 0 : t->n - low;
    return *n == 0 ? NULL : &t->off[low];
}

/* ---- the whole ---- */

struct slow_calls *slow_calls_open(void)
{
    struct slow_calls *c = xcalloc(1, sizeof *c);
    const struct statistics_options wall = {
        .clock = PHASES_WALL, .metrics = { { .is_time = true } }, .n_metrics = 1, .hear = hear_call, .context = c
    };
    c->most = SLOW_CALLS_OF_METHOD;
    c->random = 1;
    c->statistics = statistics_open(&wall);
    return c;
}

void slow_calls_close(struct slow_calls *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->n_methods; i++)
        free(c->methods[i].calls);
    for (uint32_t i = 0; i < c->n_threads; i++)
        free(c->threads[i].off);
    statistics_close(c->statistics);
    free(c->methods);
    free(c->threads);
    free(c);
}

struct calltree_observer slow_calls_observer(struct slow_calls *c)
{
    return (struct calltree_observer){ .context = c, .step = take_step, .flow = take_flow };
}
