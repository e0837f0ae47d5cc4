#include "phases/live/live.h"

#include "core/base/xalloc.h"
#include "phases/live/live_policy.h"

struct live *live_open(const struct live_options *options)
{
    struct live *l = xcalloc(1, sizeof *l);
    l->options = *options;
    l->budget = (struct live_budget){ .options = &l->options, .first = &l->first, .now = &l->now };
    l->chooser = (struct live_chooser){ .budget = &l->budget, .methods = &l->methods };
    l->pruner = (struct live_pruner){ .budget = &l->budget, .methods = &l->methods };
    live_methods_open(&l->methods, &options->tree);
    return l;
}

void live_close(struct live *live)
{
    if (live == NULL)
        return;
    live_methods_free(&live->methods);
    live_chooser_free(&live->chooser);
    live_pruner_free(&live->pruner);
    live_window_free(&live->window);
    free(live);
}

void live_removed(struct live *live, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct live_method *method = live_methods_by_id(&live->methods, ids[i]);
        if (method != NULL && method->state == LIVE_DISABLED)
            method->state = LIVE_REMOVED;
    }
}

/* ---- a batch, from its order to the end of its recompilation window ---- */

/* Meanwhile no call counts. */
static void begin_batch(struct live *live, bool is_for_probes)
{
    live_methods_refresh(&live->methods, live->now.ticks);
    live_window_begin(&live->window, &live->now, live->options.discards_code && live->budget.n_batches == 0);
    live_methods_freeze(&live->methods);
    live->budget.n_batches++;
    live->is_for_probes = is_for_probes;
    live->stage = LIVE_INSTRUMENTING;
}

void live_batch_done(struct live *live, uint32_t n_classes)
{
    if (live->stage != LIVE_INSTRUMENTING)
        return;
    if (n_classes == 0) { /* no class could be changed now */
        live->budget.n_batches--;
        live_window_cancel(&live->window, live->budget.n_batches == 0);
        live_chooser_changed_nothing(&live->chooser);
        live->methods.is_frozen = false;
        live->stage = LIVE_WATCHING;
        return;
    }
    double expected_ns = live->is_for_probes ? live_chooser_changed_ns(&live->chooser) : live->expected_ns;
    if (!isnan(expected_ns))
        live->budget.recompilation_ns += expected_ns;
    live->expected_ns = live->is_for_probes ? live->expected_ns + expected_ns : live->expected_ns;
    live_window_changed(&live->window, &live->now, expected_ns);
    live->stage = LIVE_RECOMPILING;
}

/* From here on the figures count again. */
static void end_window(struct live *live)
{
    double charged_ns = live_window_end(&live->window, &live->now);
    double expected_ns = isnan(live->window.expected_ns) ? 0 : live->window.expected_ns;
    live_methods_refresh(&live->methods, live->now.ticks);
    /*
     * Of a program that has just begun the usual is much: so what is more is no measure of what a batch costs.  And
     * that all code is discarded once was the user's to allow, where the budget could not pay for it.
     */
    bool was_allowed = live->options.recompile_s > 0 || live->options.duration_s <= 0;
    bool discarded_all = live->window.n == 1 && live->window.discarded_ns > 0;
    if (!live->options.is_new && !(discarded_all && was_allowed))
        live->budget.recompilation_ns += charged_ns - expected_ns;
    live_methods_thaw(&live->methods);
    live->stage = LIVE_WATCHING;
}

void live_finish(struct live *live)
{
    if (live->stage != LIVE_RECOMPILING)
        return;
    live->window.is_cut = true;
    end_window(live);
}

/* ---- rounds ---- */

static void choose(struct live *live, struct live_orders *orders)
{
    orders->chooses = true;
    orders->asks = live_chooser_needs_costs(&live->chooser);
    if (live->budget.n_batches == 0)
        live_window_watch(&live->window, &live->now);
    live_chooser_begin(&live->chooser);
    live->stage = LIVE_CHOOSING;
}

static void watch(struct live *live, struct live_orders *orders)
{
    live_pruner_judge(&live->pruner);
    if (live->now.is_changing)
        return;
    live_pruner_choose_removals(&live->pruner, (double)live->window.most_ns);
    orders->remove = live->pruner.remove.all;
    orders->n_remove = live->pruner.remove.n;
    if (orders->n_remove > 0)
        begin_batch(live, false);
    else if (live->now.now_ns >= live->chooser.next_ns)
        choose(live, orders);
}

static void instrument(struct live *live, struct live_orders *orders)
{
    if (live->budget.n_batches > 0)
        live_pruner_judge(&live->pruner);
    if (!live->chooser.has_candidates || live->now.is_changing)
        return;
    live->stage = LIVE_WATCHING;
    if (!live_chooser_decide(&live->chooser))
        return;
    orders->instrument = live->chooser.requested.all;
    orders->n_instrument = live->chooser.requested.n_chosen;
    begin_batch(live, true);
}

static void step(struct live *live, struct live_orders *orders)
{
    switch (live->stage) {
    case LIVE_WAITING:
        if (live_chooser_has_begun(&live->chooser, &orders->begins_anew))
            choose(live, orders);
        break;
    case LIVE_CHOOSING:
        instrument(live, orders);
        break;
    case LIVE_INSTRUMENTING: /* until live_batch_done */
        break;
    case LIVE_RECOMPILING:
        if (live_window_is_over(&live->window, &live->now))
            end_window(live);
        break;
    case LIVE_WATCHING:
        watch(live, orders);
        break;
    }
}

void live_round(struct live *live, const struct live_status *status, struct live_orders *orders)
{
    memset(orders, 0, sizeof *orders);
    orders->round_ms = ROUND_MS;
    live->now = *status;
    if (!live->is_begun) {
        live->is_begun = true;
        live->first = live->now;
        live_budget_begin(&live->budget);
    }
    live_pruner_charge(&live->pruner);
    step(live, orders);
    orders->enable = live->pruner.enable.all;
    orders->n_enable = live->pruner.enable.n;
    orders->disable = live->pruner.disable.all;
    orders->n_disable = live->pruner.disable.n;
    if (live_pruner_tries(&live->pruner))
        orders->round_ms = ROUND_TRIAL_MS;
    else if (live->stage == LIVE_WATCHING)
        orders->round_ms = ROUND_WATCH_MS;
}

struct live_cost live_cost(const struct live *live)
{
    const struct live_window *window = &live->window;
    double cpu_ns = (double)(live->now.cpu_ns - live->budget.mark_cpu_ns[0]), measured_ns = 0;
    double n_records = (double)(live->budget.n_records - live->budget.mark_records[0]);
    struct live_cost cost = { .own_cpu_ns = live->now.own_cpu_ns,
                              .left_out_ns = window->ns,
                              .left_out_cpu_ns = window->cpu_ns,
                              .recompiling_ns = window->more_than_usual_ns,
                              .compiling_ns = live->budget.recompilation_ns };
    if (live->methods.is_frozen) {
        cost.left_out_ns += live->now.now_ns - window->start_ns;
        cost.left_out_cpu_ns += live->now.cpu_ns - window->start_cpu_ns;
    }
    if (live->now.jit_cpu_ns == LIVE_UNKNOWN)
        cost.recompiling_ns = LIVE_UNKNOWN;
    else if (!live->options.is_new)
        measured_ns = window->booked_ns;
    if (measured_ns > cost.compiling_ns)
        cost.compiling_ns = measured_ns;
    cost.probes_now = cpu_ns <= 0 ? 0 : n_records * live->now.pair_ns / 2 / cpu_ns;
    return cost;
}
