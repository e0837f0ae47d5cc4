/*
 * What the recorder did to the program while it ran: stops, and since when methods have probes; and when threads ran.
 */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"
#include "core/wire/ring.h"
#include "core/trace/recording_info.h"

#define FAULT_PERIOD_LIMIT 1000000

static void add_flag(struct builder *b, const struct calltree_flag *flag)
{
    *xpush(b->tree->flags, b->flags_room, b->tree->n_flags) = *flag;
}

static void add_pause(struct calltree_pauses *pauses, const struct trace_event *event)
{
    if (pauses->n < CALLTREE_PAUSES_KEPT) {
        pauses->kept[pauses->n].ticks = event->ticks;
        pauses->kept[pauses->n].ns = event->count;
    }
    pauses->n++;
    pauses->ns += event->count;
    if (event->count > pauses->longest_ns)
        pauses->longest_ns = event->count;
}

void control_take(struct builder *b, const struct trace_event *event)
{
    if (event->kind == TRACE_PAUSE) {
        add_pause(&b->tree->pauses, event);
        b->paused = event->ticks;
    }
    if (event->kind != TRACE_ENABLED && event->kind != TRACE_DISABLED)
        return;
    bool is_on = event->kind == TRACE_ENABLED;
    struct calltree_flag flag = { event->method, is_on ? CALLTREE_FLAG_ON : CALLTREE_FLAG_OFF, event->ticks, 0 };
    if (event->method > RING_METHOD_MAX)
        return;
    xgrow_zeroed(b->flagged, b->n_flagged, (size_t)event->method + 1);
    /* A method gets its probes while the program stands still; that they are there is told of some time later. */
    if (is_on && !b->flagged[event->method].was_told && b->paused != 0 && b->paused < flag.ticks)
        flag.ticks = b->paused;
    b->flagged[event->method].was_told = true;
    if (is_on && (b->probes_since == 0 || flag.ticks < b->probes_since))
        b->probes_since = flag.ticks;
    add_flag(b, &flag);
    b->flagged[event->method].off_at = is_on ? 0 : b->tree->n_flags;
}

/* Has it been called before, as far as is known? */
static bool has_node(const struct builder *b, uint32_t method)
{
    for (uint32_t i = 1; method < b->store.n_methods && i < b->store.n_nodes; i++)
        if (b->store.nodes[i].method == method)
            return true;
    return false;
}

void control_found(struct builder *b, uint32_t method, uint64_t ticks)
{
    const struct calltree_flag flag = { method, CALLTREE_FLAG_FOUND, ticks, 0 };
    xgrow_zeroed(b->flagged, b->n_flagged, (size_t)method + 1);
    bool is_first = !b->flagged[method].is_found && !has_node(b, method);
    b->flagged[method].is_found = true;
    if (is_first)
        add_flag(b, &flag);
}

static int by_method(const void *a, const void *b)
{
    const struct calltree_flag *x = a, *y = b;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

void control_end(struct builder *b)
{
    struct calltree *tree = b->tree;
    if (tree->n_flags > 0)
        qsort(tree->flags, tree->n_flags, sizeof *tree->flags, by_method);
    activity_sum_up(&tree->activity);
    tree->probes_since_ticks = tree->start_ticks;
    if (b->probes_since != 0)
        tree->probes_since_ticks =
            b->first_record != 0 && b->first_record < b->probes_since ? b->first_record : b->probes_since;
}

uint64_t control_faults(struct builder *b)
{
    if (b->fault_period == 0) {
        const char *period = info_text(b->reader, INFO_FAULTS_PERIOD);
        uint64_t n = period == NULL ? 1 : strtoull(period, NULL, 10);
        b->fault_period = n > 0 && n < FAULT_PERIOD_LIMIT ? n : 1;
    }
    return b->fault_period;
}

/* ---- when threads ran ---- */

static void count_run(struct builder *b, const struct thread *t, uint64_t from_ticks, uint64_t to_ticks)
{
    const struct trace_thread *about = trace_thread(b->reader, (uint32_t)(t - b->threads));
    enum vm_part part = t->is_placed || about == NULL ? t->known.part : vm_part_of(about->comm);
    activity_add(&b->tree->activity, ACTIVITY_CPU, from_ticks, to_ticks);
    if (part == VM_PART_APPLICATION)
        activity_add(&b->tree->activity, ACTIVITY_APPLICATION, from_ticks, to_ticks);
}

static void count_early(struct builder *b, struct thread *t)
{
    for (uint32_t i = 0; t->runs != NULL && i < t->runs->n; i++)
        count_run(b, t, t->runs->all[i].from_ticks, t->runs->all[i].to_ticks);
    free(t->runs);
    t->runs = NULL;
}

static void add_run(struct builder *b, struct thread *t, uint64_t ticks)
{
    if (t->on_since == NOT_ON)
        return;
    if (t->runs != NULL && !t->is_placed && t->runs->n < EARLY_RUNS) {
        t->runs->all[t->runs->n].from_ticks = t->on_since;
        t->runs->all[t->runs->n++].to_ticks = ticks;
    } else {
        count_early(b, t);
        count_run(b, t, t->on_since, ticks);
    }
    t->on_since = NOT_ON;
}

void runs_switch(struct builder *b, struct thread *t, bool was_seen, const struct clock_event *event)
{
    switch (event->kind) {
    case TRACE_CPU_IN:
        if (!was_seen || t->on_since == NOT_ON)
            t->on_since = event->ticks;
        break;
    case TRACE_THREAD_START:
        t->on_since = was_seen ? t->on_since : NOT_ON;
        if (t->runs == NULL)
            t->runs = xcalloc(1, sizeof *t->runs);
        break;
    case TRACE_CPU_OUT:
    case TRACE_CPU_PREEMPTED:
    case TRACE_THREAD_END:
        add_run(b, t, event->ticks);
        break;
    default:
        break;
    }
}

void runs_end(struct builder *b, struct thread *t, const struct trace_thread *about)
{
    bool counts = !b->tree->cpu_is_wall || t->known.has_records;
    if (t->clock.state == CLOCK_ON && counts)
        add_run(b, t, t->clock.now);
    count_early(b, t);
    bool is_new = about != NULL && about->start_ticks != TRACE_UNKNOWN;
    if (t->known.has_records)
        activity_add(&b->tree->activity, ACTIVITY_WALL, is_new ? about->start_ticks : trace_start_ticks(b->reader),
                     t->clock.now);
}
