/*
 * What a batch of changed classes costs: the JIT compiler compiles again what it throws away.
 */
#include "phases/live/live_internal.h"

#include <stdlib.h>

#define RECOVERY_STEP_NS UINT64_C(100000000)
#define RECOVERY_QUIET   3   /* windows in a row */
#define RECOVERY_EXTRA   0.1 /* CPUs of the compiler's that are not worth waiting for */
#define RECOVERY_MAX_NS  UINT64_C(5000000000)
#define RECOVERY_ALL_NS  UINT64_C(30000000000) /* of all code: a batch meanwhile would only make it longer */
#define RECOVERY_BLIND   UINT64_C(1500000000)  /* where the compiler's threads are not known */

static double cpus(uint64_t cpu_ns, uint64_t ns)
{
    return ns == 0 ? 0 : (double)cpu_ns / (double)ns;
}

void live_begin_batch(struct live *live)
{
    const struct live_status *now = &live->now;
    uint64_t watched_ns = now->now_ns - live->usual_since_ns;
    bool knows_jit = now->jit_cpu_ns != LIVE_UNKNOWN && live->usual_jit_ns != LIVE_UNKNOWN;
    live->recovering = (struct live_recovering){
        .start_ns = now->now_ns, .start_ticks = now->ticks, .start_cpu_ns = now->cpu_ns, .start_jit_ns = now->jit_cpu_ns
    };
    if (knows_jit)
        live->recovering.usual_jit = cpus(now->jit_cpu_ns - live->usual_jit_ns, watched_ns);
    if (live->options.forgets_code && live->n_batches == 0 && now->jit_cpu_ns != LIVE_UNKNOWN)
        live->forgotten_ns = now->jit_cpu_ns;
    for (size_t i = 0; i < live->n_methods; i++)
        live_net(live, i, &live->methods[i].frozen);
    live->n_batches++;
    live_go(live, LIVE_INSTRUMENTING);
}

void live_batch_done(struct live *live, uint32_t n_classes)
{
    if (live->stage != LIVE_INSTRUMENTING)
        return;
    if (n_classes == 0) { /* no class could be changed now: what was wanted is so again */
        live->n_batches--;
        live->forgotten_ns = live->n_batches == 0 ? 0 : live->forgotten_ns;
        live->is_asked_again = true;
        live_go(live, LIVE_WATCHING);
        return;
    }
    if (live->recovering.is_for_probes)
        live->priced_ns += live->recovering.price_ns = live_changed_ns(live);
    live->recovering.window_ns = live->now.now_ns;
    live->recovering.window_jit_ns = live->now.jit_cpu_ns;
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

bool live_has_recovered(struct live *live)
{
    struct live_recovering *r = &live->recovering;
    uint64_t now_ns = live->now.now_ns;
    if (live->now.jit_cpu_ns == LIVE_UNKNOWN || r->window_jit_ns == LIVE_UNKNOWN)
        return now_ns - live->stage_since_ns >= RECOVERY_BLIND;
    if (now_ns - r->window_ns < RECOVERY_STEP_NS)
        return false;
    double jit = cpus(live->now.jit_cpu_ns - r->window_jit_ns, now_ns - r->window_ns);
    r->n_quiet = jit <= r->usual_jit + RECOVERY_EXTRA ? r->n_quiet + 1 : 0;
    r->window_ns = now_ns;
    r->window_jit_ns = live->now.jit_cpu_ns;
    bool is_all = live->forgotten_ns > 0 && live->n_recoveries == 0;
    bool is_over = r->n_quiet >= RECOVERY_QUIET,
         is_cut = !is_over && now_ns - r->start_ns >= (is_all ? RECOVERY_ALL_NS : RECOVERY_MAX_NS);
    live->is_cut = live->is_cut || is_cut;
    return is_over || is_cut;
}

/* Of a program that has just begun the usual is much: so what is more than that is no measure of a batch's price. */
static void charge_compiler(struct live *live)
{
    const struct live_recovering *r = &live->recovering;
    if (live->now.jit_cpu_ns == LIVE_UNKNOWN || r->start_jit_ns == LIVE_UNKNOWN)
        return;
    uint64_t all_ns = live->now.jit_cpu_ns - r->start_jit_ns;
    double usual_ns = r->usual_jit * (double)(live->now.now_ns - r->start_ns), more_ns = (double)all_ns - usual_ns;
    if (all_ns > live->dearest_ns)
        live->dearest_ns = all_ns;
    if (!live->recovering.is_free)
        live->recompiled_ns += all_ns;
    if (more_ns > 0)
        live->recompiling_ns += (uint64_t)more_ns;
    if (!live->options.is_new && live->knows_price && more_ns > r->price_ns)
        live->priced_ns += more_ns - r->price_ns;
}

/* From here on the figures count again. */
int live_end_recovery(struct live *live, struct err *err)
{
    struct live_recovery *all = realloc(live->recoveries, (live->n_recoveries + 1) * sizeof *all);
    if (all == NULL)
        return err_set(err, "out of memory");
    live->recoveries = all;
    all[live->n_recoveries++] = (struct live_recovery){ live->recovering.start_ticks, live->now.ticks };
    live->left_out_ns += live->now.now_ns - live->recovering.start_ns;
    live->left_out_cpu_ns += live->now.cpu_ns - live->recovering.start_cpu_ns;
    charge_compiler(live);
    if (live_refresh(live, err) < 0)
        return -1;
    for (size_t i = 0; i < live->n_methods; i++) {
        struct live_method *method = &live->methods[i];
        method->base = live->accounts[i];
        live_subtract(&method->base, &method->frozen);
    }
    live->usual_since_ns = live->now.now_ns;
    live->usual_jit_ns = live->now.jit_cpu_ns;
    live_go(live, LIVE_WATCHING);
    return 0;
}

int live_finish(struct live *live, struct err *err)
{
    if (live->stage != LIVE_RECOVERING)
        return 0;
    live->is_cut = true;
    return live_end_recovery(live, err);
}
