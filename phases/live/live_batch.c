/*
 * A batch of changed classes, from its order to the end of its recompilation window: meanwhile no call counts.
 */
#include "phases/live/live_internal.h"

void live_begin_batch(struct live *live)
{
    live_window_begin(&live->window, &live->now, live->options.forgets_code && live->budget.n_batches == 0);
    for (size_t i = 0; i < live->n_methods; i++)
        live_net(live, i, &live->methods[i].frozen);
    live->budget.n_batches++;
    live_go(live, LIVE_INSTRUMENTING);
}

void live_batch_done(struct live *live, uint32_t n_classes)
{
    if (live->stage != LIVE_INSTRUMENTING)
        return;
    if (n_classes == 0) { /* no class could be changed now: what was wanted is so again */
        live->budget.n_batches--;
        live_window_cancel(&live->window, live->budget.n_batches == 0);
        live->chooser.is_asked_again = true;
        live_go(live, LIVE_WATCHING);
        return;
    }
    double expected_ns = live->window.is_for_probes ? live_changed_ns(live) : 0;
    live->budget.priced_ns += expected_ns;
    live_window_changed(&live->window, &live->now, expected_ns);
    live_go(live, LIVE_RECOVERING);
}

void live_removed(struct live *live, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct live_method *method = live_by_id(live, ids[i]);
        if (method != NULL && method->state == LIVE_DISABLED)
            method->state = LIVE_REMOVED;
    }
}

/* From here on the figures count again. */
int live_end_window(struct live *live, struct err *err)
{
    double more_ns;
    if (live_window_end(&live->window, &live->now, &more_ns, err) < 0)
        return -1;
    /* Of a program that has just begun the usual is much: so what is more is no measure of what a batch costs. */
    if (!live->options.is_new && live->budget.knows_price)
        live->budget.priced_ns += more_ns;
    if (live_refresh(live, err) < 0)
        return -1;
    for (size_t i = 0; i < live->n_methods; i++) {
        struct live_method *method = &live->methods[i];
        method->base = live->accounts[i];
        live_subtract(&method->base, &method->frozen);
    }
    live_go(live, LIVE_WATCHING);
    return 0;
}

int live_finish(struct live *live, struct err *err)
{
    if (live->stage != LIVE_RECOVERING)
        return 0;
    live->window.is_cut = true;
    return live_end_window(live, err);
}
