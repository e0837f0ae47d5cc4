/*
 * What a live session tells of itself.
 */
#include "phases/live/live_internal.h"

#include <string.h>

enum live_stage live_stage(const struct live *live)
{
    return live->stage;
}

const struct live_method *live_methods(const struct live *live, size_t *n)
{
    *n = live->n_methods;
    return live->methods;
}

const struct live_recovery *live_recoveries(const struct live *live, size_t *n)
{
    *n = live->window.n;
    return live->window.all;
}

void live_cost(const struct live *live, struct live_cost *cost)
{
    *cost = (struct live_cost){ .probes_ns = live->budget.probes_ns,
                                .own_cpu_ns = live->now.own_cpu_ns - live->first.own_cpu_ns,
                                .cpu_ns = live->now.cpu_ns - live->first.cpu_ns,
                                .sampling_ns = live->now.sampling_ns,
                                .rewriting_ns = live->now.rewriting_ns,
                                .pauses_ms = live->now.pauses_ms,
                                .recovery_ms = (double)live->window.ns / 1e6,
                                .left_out_ns = live->window.ns,
                                .left_out_cpu_ns = live->window.cpu_ns,
                                .is_cut = live->window.is_cut,
                                .forgotten_ns = live->window.forgotten_ns,
                                .spared_ns = live->chooser.spared_ns,
                                .recompiling_ns =
                                    live->now.jit_cpu_ns == LIVE_UNKNOWN ? LIVE_UNKNOWN : live->window.recompiling_ns,
                                .n_put_off = live->chooser.n_put_off,
                                .n_batches = live->budget.n_batches };
    cost->compiling_ns = live->budget.knows_price               ? live->budget.priced_ns
                         : cost->recompiling_ns != LIVE_UNKNOWN ? (double)cost->recompiling_ns
                                                                : 0;
    if (live_is_frozen(live)) {
        cost->left_out_ns += live->now.now_ns - live->window.start_ns;
        cost->left_out_cpu_ns += live->now.cpu_ns - live->window.start_cpu_ns;
    }
    double cpu_ns = (double)(live->now.cpu_ns - live->budget.mark_cpu_ns[0]);
    double records = (double)(live->budget.records_seen - live->budget.mark_records[0]);
    cost->probes_now = cpu_ns <= 0 ? 0 : records * live->now.pair_ns / 2 / cpu_ns;
}

/* The latest choice knows best; a batch has taken what it wanted with it. */
enum live_without live_why_without(const struct live *live, const char *class_name, const char *name,
                                   const char *descriptor, double *price_ns)
{
    const struct live_candidate *asked =
                                    live_find(live->chooser.asked, live->chooser.n_asked, class_name, name, descriptor),
                                *wanted =
                                    live_find(live->chooser.wanted, live->chooser.n_wanted + live->chooser.n_unpaid,
                                              class_name, name, descriptor),
                                *latest = wanted != NULL ? wanted : asked;
    bool was_paid = asked != NULL && asked < live->chooser.asked + live->chooser.n_asked_paid;
    bool is_unpaid = wanted != NULL ? wanted >= live->chooser.wanted + live->chooser.n_wanted ||
                                          live->chooser.n_put_off > live->chooser.n_unpaid
                                    : asked != NULL && !was_paid;
    *price_ns = latest == NULL ? 0 : latest->price_ns;
    if (live->options.leaves_classes)
        return LIVE_ARCHIVED;
    if (live->chooser.spared_ns > 0)
        return LIVE_SPARED;
    if (live_is_held(live, class_name, name, descriptor))
        return LIVE_HELD;
    return is_unpaid ? LIVE_DEAR : was_paid ? LIVE_UNCHANGED : LIVE_NO_BATCH;
}

const char *live_state_name(enum live_state state)
{
    static const char *const names[] = { "armed", "disarmed", "tried", "removed" };
    return names[state];
}

const char *live_why_text(enum live_why why)
{
    static const char *const texts[] = { "", "its calls are too short", "it is called too often",
                                         "it does not fit into the budget" };
    return texts[why];
}
