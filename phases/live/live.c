#include "phases/live/live_internal.h"
#include "phases/live/live_policy.h"

#include <stdlib.h>
#include <string.h>

int live_open(struct live **live, const struct live_options *options, struct err *err)
{
    struct live *l = *live = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, "out of memory");
    l->options = *options;
    l->budget = (struct live_budget){ .options = &l->options, .first = &l->first, .now = &l->now };
    return live_tree_open(&l->tree, &options->tree, err);
}

void live_close(struct live *live)
{
    if (live == NULL)
        return;
    live_tree_close(live->tree);
    free(live->methods);
    free(live->by_id);
    free(live->accounts);
    free(live->scratch);
    free(live->pruner.enable.ids);
    free(live->pruner.disable.ids);
    free(live->pruner.remove.ids);
    free(live->chooser.wanted);
    free(live->chooser.asked);
    recompilation_costs_free(&live->chooser.prices);
    live_window_free(&live->window);
    arena_free(&live->arena);
    free(live);
}

struct live_tree *live_tree(struct live *live)
{
    return live->tree;
}

/* ---- choices ---- */

/*
 * One that no method is measured after was of no use.  Of a program that has just been started a second one is free
 * where a later batch could not be paid for in minutes; where prices are known, cheap classes can.
 */
static uint32_t n_free_choices(const struct live *live)
{
    return (live->options.is_new && !live->chooser.has_prices) || live_measures_nothing(live) ? FREE_CHOICES_NEW
                                                                                              : FREE_CHOICES;
}

static void choose(struct live *live, struct live_orders *orders)
{
    orders->chooses = true;
    live->chooser.has_candidates = false;
    if (live->budget.n_batches == 0) {
        live_window_watch(&live->window, &live->now);
    }
    live_go(live, LIVE_CHOOSING);
    live->chooser.n_choices++;
    live->chooser.choice_delay_ns =
        live->chooser.choice_delay_ns == 0 ? AGAIN_FIRST_NS : live->chooser.choice_delay_ns * 2;
    if (live->chooser.choice_delay_ns > AGAIN_LAST_NS)
        live->chooser.choice_delay_ns = AGAIN_LAST_NS;
    live->chooser.next_choice_ns = live->now.now_ns + live->chooser.choice_delay_ns;
}

/* ---- rounds ---- */

static void begin(struct live *live)
{
    live->is_begun = true;
    live->first = live->now;
    live_budget_begin(&live->budget);
}

static int watch(struct live *live, struct live_orders *orders, struct err *err)
{
    if (live_prune(live, err) < 0)
        return -1;
    if (live->now.busy)
        return 0;
    bool may_pause = live_budget_may_pause(&live->budget);
    live_choose_removals(live, may_pause);
    if (live->pruner.remove.n > 0) {
        if (live_refresh(live, err) < 0)
            return -1;
        live_begin_batch(live);
        orders->remove = live->pruner.remove.ids;
        orders->n_remove = live->pruner.remove.n;
    } else if (live->now.now_ns >= live->chooser.next_choice_ns) {
        choose(live, orders);
    }
    return 0;
}

static int chosen(struct live *live, struct live_orders *orders, struct err *err)
{
    if (live->budget.n_batches > 0 && live_prune(live, err) < 0)
        return -1;
    if (!live->chooser.has_candidates || live->now.busy)
        return 0;
    bool is_first = live->budget.n_batches == 0, is_of_free = live->chooser.n_choices <= n_free_choices(live);
    bool is_free = is_first || (is_of_free && (live_measures_nothing(live) || live_is_elsewhere(live)));
    bool has_part = live->chooser.has_prices && live_has_parts(live);
    bool is_due = is_free || (has_part ? live_budget_may_stop(&live->budget) : live_budget_may_pause(&live->budget));
    bool is_worth = is_first ? live_may_begin(live) : live_is_worth_it(live, is_free);
    live->chooser.n_put_off = live->chooser.n_unpaid + (is_worth ? 0 : live->chooser.n_wanted);
    if (live->chooser.n_wanted == 0 || !is_worth || !is_due) {
        live_go(live, LIVE_WATCHING);
        return 0;
    }
    if (live_refresh(live, err) < 0)
        return -1;
    live_begin_batch(live);
    live->window.is_free = is_free;
    live->window.is_for_probes = true;
    live->budget.knows_price = live->budget.knows_price || live->chooser.has_prices;
    free(live->chooser.asked);
    orders->instrument = live->chooser.asked = live->chooser.wanted;
    orders->n_instrument = live->chooser.n_wanted;
    live->chooser.n_asked = live->chooser.n_wanted + live->chooser.n_unpaid;
    live->chooser.n_asked_paid = live->chooser.n_wanted;
    live->chooser.is_asked_again = false;
    live->chooser.wanted = NULL;
    live->chooser.n_wanted = live->chooser.n_unpaid = 0;
    return 0;
}

/* Is it time for the first choice: does the program do what it is for, and are there samples of that? */
static bool has_begun(struct live *live, struct live_orders *orders)
{
    if (live->options.is_new && live->now.cpu_ns < START_NS)
        return false;
    if (live->chooser.sampled_since_ns == 0) {
        live->chooser.sampled_since_ns = live->options.is_new ? live->now.now_ns : live->now.start_ns;
        live->chooser.first_sample = live->options.is_new ? live->now.n_samples : 0;
        orders->begins_anew = live->options.is_new;
    }
    uint32_t n = live->now.n_samples - live->chooser.first_sample;
    return n >= FIRST_SAMPLES ||
           (n >= FEWER_SAMPLES && live->now.now_ns - live->chooser.sampled_since_ns >= SAMPLED_NS);
}

static int step(struct live *live, struct live_orders *orders, struct err *err)
{
    switch (live->stage) {
    case LIVE_WAITING:
        if (has_begun(live, orders))
            choose(live, orders);
        return 0;
    case LIVE_CHOOSING:
        return chosen(live, orders, err);
    case LIVE_INSTRUMENTING: /* until live_batch_done */
        return 0;
    case LIVE_RECOVERING:
        return live_window_is_over(&live->window, &live->now) ? live_end_window(live, err) : 0;
    default:
        return watch(live, orders, err);
    }
}

/* As long again as the latest method has been on so far.  0: none is tried. */
static uint32_t pace_of_tried(const struct live *live)
{
    uint64_t on_ms = UINT64_MAX;
    for (size_t i = 0; i < live->n_methods; i++) {
        const struct live_method *method = &live->methods[i];
        uint64_t ms = (live->now.now_ns - method->enabled_since_ns) / 1000000u;
        if (method->state == LIVE_TRIED && ms < on_ms)
            on_ms = ms;
    }
    if (on_ms == UINT64_MAX)
        return 0;
    return on_ms < ROUND_TRIED_MS ? ROUND_TRIED_MS : on_ms > ROUND_QUIET_MS ? ROUND_QUIET_MS : (uint32_t)on_ms;
}

static uint32_t pace(const struct live *live)
{
    uint32_t ms = pace_of_tried(live);
    if (ms > 0)
        return ms;
    switch (live->stage) {
    case LIVE_RECOVERING:
        return ROUND_AFTER_MS;
    case LIVE_WATCHING:
        return ROUND_LONG_MS;
    default:
        return ROUND_FIRST_MS;
    }
}

int live_round(struct live *live, const struct live_status *status, struct live_orders *orders, struct err *err)
{
    memset(orders, 0, sizeof *orders);
    orders->round_ms = ROUND_SHORT_MS;
    live->now = *status;
    if (!status->ready)
        return 0;
    if (!live->is_begun)
        begin(live);
    live->pruner.enable.n = live->pruner.disable.n = 0;
    if (live_charge(live, err) < 0 || step(live, orders, err) < 0)
        return -1;
    orders->enable = live->pruner.enable.ids;
    orders->n_enable = live->pruner.enable.n;
    orders->disable = live->pruner.disable.ids;
    orders->n_disable = live->pruner.disable.n;
    orders->round_ms = pace(live);
    return 0;
}
