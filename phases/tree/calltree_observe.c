/*
 * Tells an observer of each record what passed since the one before.
 */
#include "phases/tree/calltree_internal.h"

#include <stdlib.h>
#include <string.h>

void observe_before(struct builder *b, const struct thread *t)
{
    if (b->before != NULL)
        memcpy(b->before, b->store.metrics + t->node * b->store.n_metrics, b->store.n_metrics * sizeof *b->before);
}

/* The first metrics come with this very record: all of them are what passed. */
static int make_room(struct builder *b, struct err *err)
{
    b->before = calloc(2 * b->store.n_metrics, sizeof *b->before);
    if (b->before == NULL)
        return err_set(err, "out of memory for %zu counters", b->store.n_metrics);
    b->passed = b->before + b->store.n_metrics;
    return 0;
}

/* Readings from outside have come since the record before, not just with this one. */
static void take_counters(struct thread_counters *counters, uint64_t *passed)
{
    passed[CALLTREE_UNCOUNTED] = counters->uncounted - counters->told_uncounted;
    counters->told_uncounted = counters->uncounted;
    for (size_t i = 0; i < counters->n; i++) {
        passed[CALLTREE_COUNTERS + i] = counters->sums[i] - counters->told[i];
        counters->told[i] = counters->sums[i];
    }
}

int observe_after(struct builder *b, const struct thread *t, const struct trace_event *event, struct err *err)
{
    size_t n = b->store.n_metrics;
    if (n > 0 && b->before == NULL && make_room(b, err) < 0)
        return -1;
    const uint64_t *now = n > 0 ? b->store.metrics + t->node * n : NULL;
    for (size_t i = 0; i < n; i++)
        b->passed[i] = now[i] - b->before[i];
    if (t->counters != NULL && n > 0)
        take_counters(t->counters, b->passed);
    struct calltree_step step = { .kind = event->kind,
                                  .thread = event->thread,
                                  .method = event->method,
                                  .value = event->value,
                                  .ticket = event->count,
                                  .part = t->known.part,
                                  .ticks = event->ticks,
                                  .cpu_ticks = t->known.cpu_ticks - t->known.probe_ticks,
                                  .wall_ticks = t->known.wall_ticks - t->known.probe_ticks,
                                  .passed = b->passed,
                                  .n_metrics = n };
    return b->observer->step(b->observer->context, &step, err);
}
