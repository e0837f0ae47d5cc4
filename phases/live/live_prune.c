/*
 * Which probes stay: the budget, the methods whose calls are too short, and trials of those that are off.
 */
#include "phases/live/live_internal.h"
#include "phases/live/live_policy.h"

#include <stdlib.h>
#include <string.h>

/* ---- the budget ---- */

struct prune_candidate {
    struct live_method *method;
    double call_ns, cost_ns;
    bool is_tried;
};

/* Those to keep first: long calls; what is only tried comes last. */
static int compare(const void *a, const void *b)
{
    const struct prune_candidate *x = a, *y = b;
    if (x->is_tried != y->is_tried)
        return x->is_tried ? 1 : -1;
    return x->call_ns < y->call_ns ? 1 : x->call_ns > y->call_ns ? -1 : 0;
}

/* Switch off what does not fit into the budget, by the rates since the older mark. */
static int shed(struct live *live, uint64_t records, struct err *err)
{
    struct prune_candidate *on = calloc(live->n_methods + 1, sizeof *on);
    size_t n = 0;
    if (on == NULL)
        return err_set(err, "out of memory");
    double cpu_ns = (double)(live->now.cpu_ns - live->budget.mark_cpu_ns[0]);
    double room_ns = LIVE_AIM * live_budget_probes_part(&live->budget) * live->options.budget * cpu_ns, used_ns = 0;
    double call_cost_ns = live_budget_late_call_ns(&live->budget, records);
    for (size_t i = 0; i < live->n_methods; i++) {
        struct live_method *method = &live->methods[i];
        struct live_account figures;
        if (!live_is_on(method))
            continue;
        live_net(live, i, &figures);
        double calls = (double)(live->accounts[i].calls - method->marks[0].calls);
        on[n++] = (struct prune_candidate){ method, live_call_ns(live, &figures), calls * call_cost_ns,
                                            method->state == LIVE_TRIED };
    }
    qsort(on, n, sizeof *on, compare);
    for (size_t i = 0; i < n; i++) {
        if (used_ns + on[i].cost_ns <= room_ns)
            used_ns += on[i].cost_ns;
        else
            live_switch_off(live, on[i].method, on[i].cost_ns > room_ns ? LIVE_TOO_FREQUENT : LIVE_OVER_BUDGET);
    }
    free(on);
    live->budget.credit_ns = 0; /* what is over is over */
    return 0;
}

int live_charge(struct live *live, struct err *err)
{
    uint64_t records = live_tree_n_records(live->tree);
    const struct live_charged charged = live_budget_charge(&live->budget, records);
    if ((charged.is_over || charged.is_mark) && live_refresh(live, err) < 0)
        return -1;
    if (charged.is_over && shed(live, records, err) < 0)
        return -1;
    if (!charged.is_mark)
        return 0;
    live_budget_mark(&live->budget, records);
    for (size_t i = 0; i < live->n_methods; i++) {
        live->methods[i].marks[0] = live->methods[i].marks[1];
        live->methods[i].marks[1] = live->accounts[i];
    }
    return 0;
}

/* ---- calls that are too short ---- */

/* The target's CPU time so far divided by the margin: without its compilers', where that is known. */
static double elapsed_by_margin_ns(const struct live *live)
{
    double all_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    bool knows_jit = live->now.jit_cpu_ns != LIVE_UNKNOWN && live->first.jit_cpu_ns != LIVE_UNKNOWN;
    double jit_ns = knows_jit ? (double)(live->now.jit_cpu_ns - live->first.jit_cpu_ns) : all_ns / 2;
    return jit_ns < all_ns ? (all_ns - jit_ns) / LIVE_MARGIN : 0;
}

/* The mean below which a method cannot become a phase, and that below which a call costs more than its budget. */
static double shortest_call_ns(const struct live *live)
{
    double by_grain = live->options.grain * elapsed_by_margin_ns(live);
    double by_probe = live->options.budget > 0 ? live_budget_call_ns(&live->budget) / live->options.budget : 0;
    return by_grain > by_probe ? by_grain : by_probe;
}

static void judge(struct live *live, struct live_method *method, const struct live_account *figures)
{
    if (figures->calls >= LIVE_MIN_CALLS && live_call_ns(live, figures) < shortest_call_ns(live))
        live_switch_off(live, method, LIVE_TOO_SHORT);
}

/* What a method costs a second while it is enabled, as a share of the target's CPU time. */
static double share_of(const struct live *live, double calls, uint64_t since_ns)
{
    double seconds = (double)(live->now.now_ns - since_ns) / 1e9;
    double all_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    double all_seconds = (double)(live->now.now_ns - live->first.now_ns) / 1e9;
    if (seconds <= 0 || all_ns <= 0 || all_seconds <= 0)
        return 0;
    return calls / seconds * live_budget_call_ns(&live->budget) / (all_ns / all_seconds);
}

/* The moment is over for a method that was enabled again: does it stay? */
static void judge_tried(struct live *live, struct live_method *method, const struct live_account *figures)
{
    uint64_t on_ns = live->now.now_ns - method->enabled_since_ns;
    if (figures->calls < LIVE_TRIAL_CALLS && on_ns < (figures->calls == 0 ? QUIET_TRIAL_NS : LIVE_TRIAL_NS))
        return;
    double share = share_of(live, (double)figures->calls, method->enabled_since_ns);
    bool fits = share <= (1 - LIVE_AIM) * live->options.budget;
    bool is_long = figures->calls < LIVE_MIN_CALLS || live_call_ns(live, figures) >= shortest_call_ns(live);
    if (!fits || !is_long) {
        live_switch_off(live, method, is_long ? method->why : LIVE_TOO_SHORT);
        return;
    }
    method->state = LIVE_ENABLED;
    method->why = LIVE_KEPT;
}

/* Not before what the moment will cost has been earned. */
static bool may_try(const struct live *live, const struct live_method *method)
{
    if (live->now.now_ns < method->next_look_ns || live->budget.credit_ns <= 0)
        return false;
    double calls = method->calls_per_s * 0.005;
    double earned_ns = live->options.budget / 4 * (double)(live->now.now_ns - method->disabled_ns);
    return calls <= LIVE_TRIAL_CALLS || calls * live->now.pair_ns <= earned_ns;
}

int live_prune(struct live *live, struct err *err)
{
    bool any_tried = false;
    for (size_t i = 0; i < live->n_methods; i++)
        any_tried = any_tried || live->methods[i].state == LIVE_TRIED;
    if (!any_tried && live->now.now_ns - live->pruner.pruned_ns < PRUNE_PERIOD_NS)
        return 0;
    live->pruner.pruned_ns = live->now.now_ns;
    if (live_refresh(live, err) < 0)
        return -1;
    for (size_t i = 0; i < live->n_methods; i++) {
        struct live_method *method = &live->methods[i];
        struct live_account figures;
        live_net(live, i, &figures);
        if (method->state == LIVE_ENABLED)
            judge(live, method, &figures);
        else if (method->state == LIVE_TRIED)
            judge_tried(live, method, &figures);
        else if (method->state == LIVE_DISABLED && may_try(live, method))
            live_try(live, method);
    }
    return 0;
}

/* ---- removing ---- */

void live_choose_removals(struct live *live, bool may_pause)
{
    double all_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    double all_seconds = (double)(live->now.now_ns - live->first.now_ns) / 1e9;
    double worth = WORTH_REMOVING * all_ns / all_seconds, cost_ns = 0, spent_ns = 0;
    live->pruner.remove.n = 0;
    for (size_t i = 0; i < live->n_methods; i++) {
        const struct live_method *method = &live->methods[i];
        if (method->state != LIVE_DISABLED || live->now.now_ns - method->disabled_ns < REMOVE_AFTER_NS)
            continue;
        double method_ns = method->calls_per_s * DISABLED_CALL_NS;
        if (method_ns < worth / 10)
            continue;
        cost_ns += method_ns;
        spent_ns += method_ns * (double)(live->now.now_ns - method->disabled_ns) / 1e9;
        live->pruner.remove.ids[live->pruner.remove.n++] = method->id;
    }
    double pause_ns = live->budget.n_batches == 0 ? 0 : live->now.pauses_ms * 1e6 / live->budget.n_batches;
    if (cost_ns < worth || spent_ns < live_price_ns(live) || (!may_pause && cost_ns * PAID_BACK_S < pause_ns))
        live->pruner.remove.n = 0;
}
