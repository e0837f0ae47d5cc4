/*
 * Which probes stay: the budget, the methods whose calls are too short, and another look at both.
 */
#include "phases/live/live_internal.h"

#include <stdlib.h>
#include <string.h>

#define WRITER_NS        15.0 /* this program's CPU time per record, until it is measured */
#define MANY_RECORDS     20000u
#define RUNNING_NS       3e6  /* a second of recording: rounds, hits, records that are not many */
#define RUNNING_S        10.0 /* then it is known */
#define RUNNING_MORE     1.2  /* times what it was: there may be more records */
#define PRUNE_PERIOD_NS  UINT64_C(100000000)
#define QUIET_LOOK_NS    UINT64_C(1000000000) /* a tried method that is not called for so long stays on */
#define REMOVE_AFTER_NS  UINT64_C(1500000000)
#define DISABLED_CALL_NS 2.0 /* what closed probes cost per call, the JIT compiler's trouble with them included */
#define PAID_BACK_S      10.0
#define WORTH_REMOVING   0.001 /* of the target's CPU time */
#define LEAST_PART       0.3   /* of the budget, for probes: whatever all else took */

/* ---- the budget ---- */

/* The program's CPU time by the end of planned_s; *ahead_s of it are to come. */
static double planned_ns(const struct live *live, double planned_s, double *ahead_s)
{
    double cpu_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    double elapsed_s = (double)(live->now.now_ns - live->first.now_ns) / 1e9;
    bool is_ahead = elapsed_s > 0 && planned_s > elapsed_s;
    *ahead_s = is_ahead ? planned_s - elapsed_s : 0;
    return is_ahead ? cpu_ns / elapsed_s * planned_s : cpu_ns;
}

double live_whole_ns(const struct live *live)
{
    double s = live->options.duration_s, ahead_s;
    return live->options.budget * planned_ns(live, s > 0 && s < LIVE_AHEAD_S ? s : LIVE_AHEAD_S, &ahead_s);
}

/* The part of the budget that probes, and what writes their records, may have: see live.h. */
static double probes_part(const struct live *live)
{
    double all_ns = live_whole_ns(live);
    double others_ns = live->now.sampling_ns + live->now.rewriting_ns + live->priced_ns;
    double part = all_ns <= 0 ? 1 : 1 - others_ns / all_ns;
    return part > LEAST_PART ? part : LEAST_PART;
}

/* Costs are compared over the time since the older mark: 0.5 to 1 times what the whole credit is for. */
static void move_marks(struct live *live, uint64_t records)
{
    if (live->now.cpu_ns - live->mark_cpu_ns[1] < LIVE_CREDIT_NS / 2)
        return;
    uint64_t *const marks[] = { live->mark_ns, live->mark_cpu_ns, live->mark_own_ns, live->mark_records };
    const uint64_t now[] = { live->now.now_ns, live->now.cpu_ns, live->now.own_cpu_ns, records };
    for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
        marks[i][0] = marks[i][1];
        marks[i][1] = now[i];
    }
    for (size_t i = 0; i < live->n_methods; i++) {
        live->methods[i].marks[0] = live->methods[i].marks[1];
        live->methods[i].marks[1] = live->accounts[i];
    }
}

/* What one call of an enabled method costs at most: its pair of probes, and writing two records. */
static double most_of_call_ns(const struct live *live)
{
    return live->now.pair_ns + 2 * WRITER_NS;
}

/* Likewise, by what writing has cost of late. */
static double cost_of_call(const struct live *live, uint64_t records)
{
    uint64_t n = records - live->mark_records[0];
    double own_ns = (double)(live->now.own_cpu_ns - live->mark_own_ns[0]), most_ns = most_of_call_ns(live);
    if (n < MANY_RECORDS)
        return most_ns;
    double measured_ns = live->now.pair_ns + 2 * own_ns / (double)n;
    return measured_ns < most_ns ? measured_ns : most_ns;
}

struct candidate {
    struct live_method *method;
    double call_ns, cost_ns;
    bool is_tried;
};

/* Those to keep first: long calls; what is only tried comes last. */
static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->is_tried != y->is_tried)
        return x->is_tried ? 1 : -1;
    return x->call_ns < y->call_ns ? 1 : x->call_ns > y->call_ns ? -1 : 0;
}

/* Switch off what does not fit into the budget, by the rates since the older mark. */
static int shed(struct live *live, uint64_t records, struct err *err)
{
    struct candidate *on = calloc(live->n_methods + 1, sizeof *on);
    size_t n = 0;
    if (on == NULL)
        return err_set(err, "out of memory");
    double cpu_ns = (double)(live->now.cpu_ns - live->mark_cpu_ns[0]);
    double room_ns = LIVE_AIM * probes_part(live) * live->options.budget * cpu_ns, used_ns = 0;
    double call_cost_ns = cost_of_call(live, records);
    for (size_t i = 0; i < live->n_methods; i++) {
        struct live_method *method = &live->methods[i];
        struct live_account figures;
        if (!live_is_on(method))
            continue;
        live_net(live, i, &figures);
        double calls = (double)(live->accounts[i].calls - method->marks[0].calls);
        on[n++] = (struct candidate){ method, live_call_ns(live, &figures), calls * call_cost_ns,
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
    live->credit_ns = 0; /* what is over is over */
    return 0;
}

/* Or is it only this program's own rounds, which nothing that is switched off makes cheaper? */
static bool probes_cost_too_much(const struct live *live, uint64_t records)
{
    double cpu_ns = (double)(live->now.cpu_ns - live->mark_cpu_ns[0]);
    double cost_ns = (double)(records - live->mark_records[0]) / 2 * cost_of_call(live, records);
    return cost_ns > LIVE_AIM * probes_part(live) * live->options.budget * cpu_ns;
}

int live_charge(struct live *live, struct err *err)
{
    uint64_t records = live_tree_n_records(live->tree);
    double probes_ns = (double)(records - live->records_seen) * live->now.pair_ns / 2;
    double budget = live->options.budget, most = budget * (double)LIVE_CREDIT_NS;
    live->probes_ns += probes_ns;
    live->records_seen = records;
    live->credit_ns += probes_part(live) * budget * (double)(live->now.cpu_ns - live->charged_cpu_ns) - probes_ns -
                       (double)(live->now.own_cpu_ns - live->charged_own_ns);
    live->charged_cpu_ns = live->now.cpu_ns;
    live->charged_own_ns = live->now.own_cpu_ns;
    if (live->credit_ns < -most) /* not a debt for ever */
        live->credit_ns = -most;
    if (live->credit_ns > most)
        live->credit_ns = most;
    bool is_over = live->credit_ns < 0 && probes_cost_too_much(live, records),
         is_mark = live->now.cpu_ns - live->mark_cpu_ns[1] >= LIVE_CREDIT_NS / 2;
    if ((is_over || is_mark) && live_refresh(live, err) < 0)
        return -1;
    if (is_over && shed(live, records, err) < 0)
        return -1;
    if (is_mark)
        move_marks(live, records);
    return 0;
}

/* The CPU time of the program that the budget is a share of: with a known end, as much as there will be by then. */
static double paid_ns(const struct live *live, double *ahead_s)
{
    double s = live->options.duration_s;
    return planned_ns(live, s < LIVE_AHEAD_S ? s : LIVE_AHEAD_S, ahead_s);
}

/* What the rest of the recording will take a second. */
static double running_ns(const struct live *live)
{
    double s = (double)(live->now.now_ns - live->first.now_ns) / 1e9;
    double own_ns = (double)(live->now.own_cpu_ns - live->first.own_cpu_ns);
    double all_ns = own_ns + live->probes_ns + live->now.sampling_ns;
    return s < RUNNING_S || live->n_batches == 0 ? RUNNING_NS : RUNNING_MORE * all_ns / s;
}

double live_left_ns(const struct live *live)
{
    double ahead_s, cpu_ns = paid_ns(live, &ahead_s);
    double own_ns = (double)(live->now.own_cpu_ns - live->first.own_cpu_ns);
    return live->options.budget * cpu_ns - running_ns(live) * ahead_s - live->probes_ns - own_ns -
           live->now.sampling_ns - live->now.rewriting_ns - LIVE_LOSS * live->priced_ns;
}

bool live_may_stop(const struct live *live)
{
    double elapsed_ms = (double)(live->now.now_ns - live->first.now_ns) / 1e6;
    return live->now.pauses_ms <= live->options.budget * elapsed_ms;
}

bool live_may_pause(const struct live *live)
{
    return live_may_stop(live) && live_left_ns(live) >= 0;
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
    double by_probe = live->options.budget > 0 ? most_of_call_ns(live) / live->options.budget : 0;
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
    return calls / seconds * most_of_call_ns(live) / (all_ns / all_seconds);
}

/* The moment is over for a method that was enabled again: does it stay? */
static void judge_tried(struct live *live, struct live_method *method, const struct live_account *figures)
{
    uint64_t on_ns = live->now.now_ns - method->enabled_since_ns;
    if (figures->calls < LIVE_LOOK_CALLS && on_ns < (figures->calls == 0 ? QUIET_LOOK_NS : LIVE_LOOK_NS))
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
    if (live->now.now_ns < method->next_look_ns || live->credit_ns <= 0)
        return false;
    double calls = method->calls_per_s * 0.005;
    double earned_ns = live->options.budget / 4 * (double)(live->now.now_ns - method->disabled_ns);
    return calls <= LIVE_LOOK_CALLS || calls * live->now.pair_ns <= earned_ns;
}

int live_prune(struct live *live, struct err *err)
{
    bool any_tried = false;
    for (size_t i = 0; i < live->n_methods; i++)
        any_tried = any_tried || live->methods[i].state == LIVE_TRIED;
    if (!any_tried && live->now.now_ns - live->pruned_ns < PRUNE_PERIOD_NS)
        return 0;
    live->pruned_ns = live->now.now_ns;
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
    live->remove.n = 0;
    for (size_t i = 0; i < live->n_methods; i++) {
        const struct live_method *method = &live->methods[i];
        if (method->state != LIVE_DISABLED || live->now.now_ns - method->disabled_ns < REMOVE_AFTER_NS)
            continue;
        double method_ns = method->calls_per_s * DISABLED_CALL_NS;
        if (method_ns < worth / 10)
            continue;
        cost_ns += method_ns;
        spent_ns += method_ns * (double)(live->now.now_ns - method->disabled_ns) / 1e9;
        live->remove.ids[live->remove.n++] = method->id;
    }
    double pause_ns = live->n_batches == 0 ? 0 : live->now.pauses_ms * 1e6 / live->n_batches;
    if (cost_ns < worth || spent_ns < live_price_ns(live) || (!may_pause && cost_ns * PAID_BACK_S < pause_ns))
        live->remove.n = 0;
}
