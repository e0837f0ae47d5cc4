#include "phases/live/live_parts.h"

#include "core/base/xalloc.h"
#include "phases/live/live_policy.h"

void live_pruner_free(struct live_pruner *p)
{
    free(p->enable.all);
    free(p->disable.all);
    free(p->remove.all);
}

/* Each list has room for all methods. */
static void begin_round(struct live_pruner *p)
{
    struct live_ids *lists[] = { &p->enable, &p->disable, &p->remove };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        xgrow(lists[i]->all, lists[i]->room, p->methods->n);
        lists[i]->n = 0;
    }
}

static const struct live_status *now_of(const struct live_pruner *p)
{
    return p->budget->now;
}

static double call_ns(const struct live_pruner *p, const struct live_account *figures)
{
    return live_account_call_ns(figures, now_of(p)->ns_per_tick);
}

/* ---- on and off ---- */

static void cancel(struct live_ids *list, uint32_t id)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->all[i] != id)
            list->all[n++] = list->all[i];
    list->n = n;
}

/* As many calls in the time that is left of it without probes: a short call is mostly its probes. */
static double off_calls_per_s(const struct live_pruner *p, double calls, double ns)
{
    double busy_ns = ns * live_budget_cpu_ns_per_s(p->budget) / 1e9, probes_ns = calls * now_of(p)->pair_ns;
    double part = busy_ns > 0 ? probes_ns / busy_ns : 0;
    return calls * 1e9 / ns / (1 - (part < PROBES_MOST_PART ? part : PROBES_MOST_PART));
}

/* What it cost, for what it costs while it is off: the rate of late, or that of its trial. */
static void note_rate(const struct live_pruner *p, struct live_method *method)
{
    const struct live_account figures = live_method_net(p->methods, method);
    uint64_t now_ns = now_of(p)->now_ns, since_ns = p->budget->mark_ns[0];
    uint64_t calls = method->all.calls - method->marks[0].calls;
    if (method->state == LIVE_ON_TRIAL)
        calls = method->all.calls - method->base.calls;
    if (method->state == LIVE_ON_TRIAL || method->enabled_since_ns > since_ns)
        since_ns = method->enabled_since_ns;
    if (now_ns > since_ns) {
        method->calls_per_s = (double)calls * 1e9 / (double)(now_ns - since_ns);
        method->off_calls_per_s = off_calls_per_s(p, (double)calls, (double)(now_ns - since_ns));
    }
    method->call_ns = call_ns(p, &figures);
}

static void switch_off(struct live_pruner *p, struct live_method *method, enum live_why why)
{
    uint64_t now_ns = now_of(p)->now_ns;
    note_rate(p, method);
    if (method->state != LIVE_ON_TRIAL)
        method->n_trials = 0;
    uint64_t delay_ns = method->n_trials < 16 ? TRIAL_FIRST_NS << method->n_trials : TRIAL_INTERVAL_MAX_NS;
    method->next_trial_ns = now_ns + (delay_ns < TRIAL_INTERVAL_MAX_NS ? delay_ns : TRIAL_INTERVAL_MAX_NS);
    method->enabled_ns += now_ns - method->enabled_since_ns;
    method->state = LIVE_DISABLED;
    method->why = why;
    method->disabled_ns = now_ns;
    cancel(&p->enable, method->id);
    p->disable.all[p->disable.n++] = method->id;
}

static void try(struct live_pruner *p, struct live_method *method)
{
    method->state = LIVE_ON_TRIAL;
    method->enabled_since_ns = now_of(p)->now_ns;
    method->base = method->all;
    method->n_trials++;
    p->enable.all[p->enable.n++] = method->id;
}

/* ---- the budget ---- */

struct enabled_method {
    struct live_method *method;
    double call_ns, cost_ns;
    bool is_tried;
};

/* Those that stay first: long calls; what is only tried comes last. */
static int compare(const void *a, const void *b)
{
    const struct enabled_method *x = a, *y = b;
    if (x->is_tried != y->is_tried)
        return x->is_tried ? 1 : -1;
    return x->call_ns < y->call_ns ? 1 : x->call_ns > y->call_ns ? -1 : 0;
}

/* Switch off what does not fit into the budget, by the rates since the older mark. */
static void shed(struct live_pruner *p)
{
    struct enabled_method *on = xcalloc(p->methods->n + 1, sizeof *on);
    size_t n = 0;
    double cpu_ns = (double)(now_of(p)->cpu_ns - p->budget->mark_cpu_ns[0]);
    double room_ns = OVER_BUDGET_TARGET * live_budget_probes_share(p->budget) * cpu_ns, used_ns = 0;
    for (size_t i = 0; i < p->methods->n; i++) {
        struct live_method *method = &p->methods->all[i];
        const struct live_account figures = live_method_net(p->methods, method);
        double calls = (double)(method->all.calls - method->marks[0].calls);
        if (live_method_is_on(method))
            on[n++] = (struct enabled_method){ method, call_ns(p, &figures), calls * live_budget_call_ns(p->budget),
                                               method->state == LIVE_ON_TRIAL };
    }
    qsort(on, n, sizeof *on, compare);
    for (size_t i = 0; i < n; i++) {
        if (used_ns + on[i].cost_ns <= room_ns)
            used_ns += on[i].cost_ns;
        else
            switch_off(p, on[i].method, on[i].cost_ns > room_ns ? LIVE_TOO_FREQUENT : LIVE_OVER_BUDGET);
    }
    free(on);
    p->budget->credit_ns = 0; /* what is over is over */
}

/* Since the round before. */
static void charge_disabled(struct live_pruner *p)
{
    double s = p->charged_ns == 0 ? 0 : (double)(now_of(p)->now_ns - p->charged_ns) / 1e9;
    p->charged_ns = now_of(p)->now_ns;
    for (size_t i = 0; i < p->methods->n; i++)
        if (p->methods->all[i].state == LIVE_DISABLED)
            p->budget->disabled_ns += s * p->methods->all[i].off_calls_per_s * DISABLED_CALL_NS;
}

void live_pruner_charge(struct live_pruner *p)
{
    const struct live_charged charged = live_budget_charge(p->budget, live_tree_n_records(p->methods->tree));
    begin_round(p);
    charge_disabled(p);
    if (charged.is_over || charged.is_mark)
        live_methods_refresh(p->methods, now_of(p)->ticks);
    if (charged.is_over)
        shed(p);
    if (!charged.is_mark)
        return;
    live_budget_mark(p->budget);
    for (size_t i = 0; i < p->methods->n; i++) {
        struct live_method *method = &p->methods->all[i];
        method->marks[0] = method->marks[1];
        method->marks[1] = method->all;
    }
}

/* ---- calls that are too short ---- */

/* The target's CPU time so far, without its compilers'; where that is not known, half of it. */
static double program_ns(const struct live_pruner *p)
{
    double all_ns = live_budget_cpu_ns(p->budget);
    uint64_t first_ns = p->budget->first->jit_cpu_ns, now_ns = now_of(p)->jit_cpu_ns;
    bool knows_jit = now_ns != LIVE_UNKNOWN && first_ns != LIVE_UNKNOWN;
    double jit_ns = knows_jit ? (double)(now_ns - first_ns) : all_ns / 2;
    return jit_ns < all_ns ? all_ns - jit_ns : 0;
}

/* A mean below which a method cannot become a phase, or below which a call costs more than its budget, is too short. */
static bool is_too_short(const struct live_pruner *p, const struct live_account *figures)
{
    double by_grain = p->budget->options->grain * program_ns(p) / TOO_SHORT_MARGIN;
    double by_probe = live_budget_call_ns(p->budget) / p->budget->options->budget;
    double ns = call_ns(p, figures), wall_ns = live_account_wall_ns(figures, now_of(p)->ns_per_tick);
    if (wall_ns > WAITING_CALL * ns) /* what waits is as long as it waits */
        ns = wall_ns;
    return figures->calls >= JUDGED_CALLS_MIN && (ns < by_grain || ns < by_probe);
}

/* The moment is over for a method that was enabled again: does it stay? */
static void judge_trial(struct live_pruner *p, struct live_method *method, const struct live_account *figures)
{
    double s = (double)(now_of(p)->now_ns - method->enabled_since_ns) / 1e9;
    if (figures->calls < JUDGED_CALLS_MIN && s < TRIAL_MAX_S)
        return;
    double cost_ns = s <= 0 ? 0 : (double)figures->calls / s * live_budget_call_ns(p->budget);
    double most_ns = (1 - OVER_BUDGET_TARGET) * p->budget->options->budget * live_budget_cpu_ns_per_s(p->budget);
    if (is_too_short(p, figures) || cost_ns > most_ns) {
        switch_off(p, method, is_too_short(p, figures) ? LIVE_TOO_SHORT : method->why);
        return;
    }
    method->state = LIVE_ENABLED;
    method->why = LIVE_NOT_DISABLED;
}

bool live_pruner_tries(const struct live_pruner *p)
{
    for (size_t i = 0; i < p->methods->n; i++)
        if (p->methods->all[i].state == LIVE_ON_TRIAL)
            return true;
    return false;
}

void live_pruner_judge(struct live_pruner *p)
{
    uint64_t now_ns = now_of(p)->now_ns;
    if (!live_pruner_tries(p) && now_ns - p->judged_ns < PRUNE_PERIOD_NS)
        return;
    p->judged_ns = now_ns;
    live_methods_refresh(p->methods, now_of(p)->ticks);
    for (size_t i = 0; i < p->methods->n; i++) {
        struct live_method *method = &p->methods->all[i];
        const struct live_account figures = live_method_net(p->methods, method);
        if (method->state == LIVE_ENABLED && is_too_short(p, &figures))
            switch_off(p, method, LIVE_TOO_SHORT);
        else if (method->state == LIVE_ON_TRIAL)
            judge_trial(p, method, &figures);
        else if (method->state == LIVE_DISABLED && now_ns >= method->next_trial_ns && p->budget->credit_ns > 0)
            try(p, method);
    }
}

/* ---- removing ---- */

void live_pruner_choose_removals(struct live_pruner *p, double batch_ns)
{
    const struct live_status *now = now_of(p);
    double worth = REMOVAL_MIN_SHARE * live_budget_cpu_ns_per_s(p->budget), cost_ns = 0, spent_ns = 0;
    double stop_ns = p->budget->n_batches == 0 ? 0 : now->pauses_ms * 1e6 / p->budget->n_batches;
    p->remove.n = 0;
    for (size_t i = 0; i < p->methods->n; i++) {
        const struct live_method *method = &p->methods->all[i];
        double method_ns = method->off_calls_per_s * DISABLED_CALL_NS;
        if (method->state != LIVE_DISABLED || method_ns < worth / 10)
            continue;
        cost_ns += method_ns;
        spent_ns += method_ns * (double)(now->now_ns - method->disabled_ns) / 1e9;
        p->remove.all[p->remove.n++] = method->id;
    }
    if (cost_ns < worth || spent_ns < batch_ns + stop_ns)
        p->remove.n = 0;
}
