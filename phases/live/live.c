#include "phases/live/live_internal.h"

#include <stdlib.h>
#include <string.h>

#define FREE_CHOICES     1u
#define FREE_CHOICES_NEW 2u  /* where it matters that what a program does at its start may not be what it is for */
#define FIRST_SAMPLES    50u /* for the first choice, */
#define FEWER_SAMPLES    20u /* or so many, where there are no more */
#define SAMPLED_NS       UINT64_C(1000000000) /* after so long */
#define START_NS         UINT64_C(1000000000) /* of CPU time: a program has begun with what it is for, more or less */
#define AGAIN_FIRST_NS   UINT64_C(1500000000) /* after the first look's begin; not before its batch is over */
#define AGAIN_LAST_NS    UINT64_C(30000000000)
#define ROUND_TRIED_MS   10  /* a trial is to be short */
#define ROUND_QUIET_MS   100 /* one that nothing is seen in may be longer: many calls would fill a ring */
#define ROUND_SHORT_MS   50  /* until the agent is ready */
#define ROUND_AFTER_MS   100 /* a batch: a window of the recovery */
#define ROUND_FIRST_MS   250 /* a ring that fills, and an answer, come before that */
#define ROUND_LONG_MS    500

int live_open(struct live **live, const struct live_options *options, struct err *err)
{
    struct live *l = *live = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, "out of memory");
    l->options = *options;
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
    free(live->enable.ids);
    free(live->disable.ids);
    free(live->remove.ids);
    free(live->wanted);
    free(live->asked);
    recompilation_costs_free(&live->prices);
    free(live->recoveries);
    arena_free(&live->arena);
    free(live);
}

struct live_tree *live_tree(struct live *live)
{
    return live->tree;
}

/* ---- methods ---- */

static int grow_methods(struct live *live, struct err *err)
{
    if (live->n_methods < live->methods_room)
        return 0;
    size_t room = live->methods_room == 0 ? 64 : live->methods_room * 2;
    void *methods = realloc(live->methods, room * sizeof *live->methods);
    live->methods = methods == NULL ? live->methods : methods;
    void *accounts = realloc(live->accounts, room * sizeof *live->accounts);
    live->accounts = accounts == NULL ? live->accounts : accounts;
    bool whole = methods != NULL && accounts != NULL;
    struct live_ids *lists[] = { &live->enable, &live->disable, &live->remove };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t *ids = realloc(lists[i]->ids, room * sizeof *ids);
        whole = whole && ids != NULL;
        lists[i]->ids = ids == NULL ? lists[i]->ids : ids;
    }
    if (!whole)
        return err_set(err, "out of memory for %zu methods", room);
    live->methods_room = room;
    return 0;
}

struct live_method *live_by_id(const struct live *live, uint32_t id)
{
    return id < live->n_ids && live->by_id[id] != 0 ? &live->methods[live->by_id[id] - 1] : NULL;
}

static int grow_ids(struct live *live, uint32_t id, struct err *err)
{
    if (id < live->n_ids)
        return 0;
    uint32_t n = id < 512 ? 1024 : id * 2;
    uint32_t *ids = realloc(live->by_id, n * sizeof *ids);
    if (ids == NULL)
        return err_set(err, "out of memory for %u method ids", n);
    memset(ids + live->n_ids, 0, (n - live->n_ids) * sizeof *ids);
    live->by_id = ids;
    live->n_ids = n;
    return 0;
}

static const char *keep(struct live *live, const char *text)
{
    return arena_text(&live->arena, text, strlen(text));
}

int live_met(struct live *live, const struct trace_method *method, struct err *err)
{
    struct live_method *known = live_by_id(live, method->id);
    if (known != NULL) { /* it had lost its probes, or not got them */
        known->is_held = method->code_bytes == 0;
        known->state = LIVE_ENABLED;
        known->why = LIVE_KEPT;
        known->enabled_since_ns = live->now.now_ns;
        return 0;
    }
    struct live_method new = { .id = method->id,
                               .class_name = keep(live, method->class_name),
                               .name = keep(live, method->name),
                               .descriptor = keep(live, method->descriptor),
                               .is_held = method->code_bytes == 0,
                               .enabled_since_ns = live->now.now_ns };
    if (new.class_name == NULL || new.name == NULL || new.descriptor == NULL)
        return err_set(err, "out of memory");
    if (grow_methods(live, err) < 0 || grow_ids(live, method->id, err) < 0)
        return -1;
    live->accounts[live->n_methods] = (struct live_account){ 0 };
    live->methods[live->n_methods++] = new;
    live->by_id[method->id] = (uint32_t)live->n_methods;
    return 0;
}

int live_refresh(struct live *live, struct err *err)
{
    uint32_t n = live_tree_n_methods(live->tree);
    if (n > live->scratch_room) {
        struct live_account *scratch = realloc(live->scratch, 2 * n * sizeof *scratch);
        if (scratch == NULL)
            return err_set(err, "out of memory for %u methods", n);
        live->scratch = scratch;
        live->scratch_room = 2 * n;
    }
    live_tree_accounts(live->tree, live->now.ticks, live->scratch);
    for (uint32_t i = 0; i < n; i++) {
        struct live_method *method = live_by_id(live, live_tree_method_id(live->tree, i));
        if (method != NULL)
            live->accounts[method - live->methods] = live->scratch[i];
    }
    return 0;
}

void live_subtract(struct live_account *from, const struct live_account *what)
{
    from->calls -= what->calls;
    from->cpu_ticks -= what->cpu_ticks < from->cpu_ticks ? what->cpu_ticks : from->cpu_ticks;
    from->wall_ticks -= what->wall_ticks < from->wall_ticks ? what->wall_ticks : from->wall_ticks;
    from->n_counted -= what->n_counted;
    for (size_t i = 0; i < LIVE_COUNTERS_MAX; i++)
        from->counters[i] -= what->counters[i];
}

/* While the compiler recovers, a method keeps the figures that it had before, if it had any. */
void live_net(const struct live *live, size_t index, struct live_account *figures)
{
    const struct live_method *method = &live->methods[index];
    if (live_is_frozen(live) && method->frozen.calls > 0) {
        *figures = method->frozen;
        return;
    }
    *figures = live->accounts[index];
    live_subtract(figures, &method->base);
}

double live_call_ns(const struct live *live, const struct live_account *figures)
{
    return figures->calls == 0 ? 0 : (double)figures->cpu_ticks * live->now.ns_per_tick / (double)figures->calls;
}

void live_figures(const struct live *live, const struct live_method *method, struct live_account *figures)
{
    if (live_is_frozen(live))
        *figures = method->frozen;
    else
        live_net(live, (size_t)(method - live->methods), figures);
}

bool live_has_figures(const struct live *live, const struct live_method *method)
{
    struct live_account figures;
    live_figures(live, method, &figures);
    return method->state == LIVE_ENABLED && figures.calls > 0;
}

bool live_has_calls(const struct live *live)
{
    for (size_t i = 0; i < live->n_methods; i++)
        if (live_has_figures(live, &live->methods[i]))
            return true;
    return false;
}

/* ---- on and off ---- */

static void cancel(struct live_ids *list, uint32_t id)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->ids[i] != id)
            list->ids[n++] = list->ids[i];
    list->n = n;
}

void live_switch_off(struct live *live, struct live_method *method, enum live_why why)
{
    struct live_account figures;
    uint64_t on_ns = live->now.now_ns - method->enabled_since_ns;
    live_net(live, (size_t)(method - live->methods), &figures);
    bool was_tried = method->state == LIVE_TRIED;
    /* The rate of late, or that of the moment. */
    uint64_t since_ns =
        was_tried || method->enabled_since_ns > live->mark_ns[0] ? method->enabled_since_ns : live->mark_ns[0];
    uint64_t calls =
        live->accounts[method - live->methods].calls - (was_tried ? method->base.calls : method->marks[0].calls);
    if (live->now.now_ns > since_ns)
        method->calls_per_s = (double)calls * 1e9 / (double)(live->now.now_ns - since_ns);
    method->call_ns = live_call_ns(live, &figures);
    method->enabled_ns += on_ns;
    method->state = LIVE_DISABLED;
    method->why = why;
    method->disabled_ns = live->now.now_ns;
    method->n_disabled += !was_tried;
    if (!was_tried)
        method->n_looks = 0;
    uint64_t delay_ns = method->n_looks < 16 ? LIVE_FIRST_LOOK_NS << method->n_looks : LIVE_LAST_LOOK_NS;
    method->next_look_ns = live->now.now_ns + (delay_ns < LIVE_LAST_LOOK_NS ? delay_ns : LIVE_LAST_LOOK_NS);
    cancel(&live->enable, method->id);
    live->disable.ids[live->disable.n++] = method->id;
}

void live_try(struct live *live, struct live_method *method)
{
    method->state = LIVE_TRIED;
    method->enabled_since_ns = live->now.now_ns;
    method->base = live->accounts[method - live->methods];
    method->n_looks++;
    live->enable.ids[live->enable.n++] = method->id;
}

void live_go(struct live *live, enum live_stage stage)
{
    live->stage = stage;
    live->stage_since_ns = live->now.now_ns;
}

bool live_measures_nothing(const struct live *live)
{
    bool has_records = live_tree_n_records(live->tree) > 0;
    for (size_t i = 0; i < live->n_methods && has_records; i++)
        if (live->methods[i].state == LIVE_ENABLED && !live->methods[i].is_held)
            return false;
    return live->n_choices <= FREE_CHOICES_NEW;
}

/*
 * One that no method is measured after was of no use.  Of a program that has just been started a second one is free
 * where a later batch could not be paid for in minutes; where prices are known, cheap classes can.
 */
static uint32_t n_free_choices(const struct live *live)
{
    return (live->options.is_new && !live->has_prices) || live_measures_nothing(live) ? FREE_CHOICES_NEW : FREE_CHOICES;
}

static void choose(struct live *live, struct live_orders *orders)
{
    orders->chooses = true;
    live->has_candidates = false;
    if (live->n_batches == 0) {
        live->usual_since_ns = live->now.now_ns;
        live->usual_jit_ns = live->now.jit_cpu_ns;
    }
    live_go(live, LIVE_CHOOSING);
    live->n_choices++;
    live->choice_delay_ns = live->choice_delay_ns == 0 ? AGAIN_FIRST_NS : live->choice_delay_ns * 2;
    if (live->choice_delay_ns > AGAIN_LAST_NS)
        live->choice_delay_ns = AGAIN_LAST_NS;
    live->next_choice_ns = live->now.now_ns + live->choice_delay_ns;
}

/* ---- rounds ---- */

static void begin(struct live *live)
{
    live->is_begun = true;
    live->first = live->now;
    live->charged_cpu_ns = live->now.cpu_ns;
    live->charged_own_ns = live->now.own_cpu_ns;
    for (size_t i = 0; i < 2; i++) {
        live->mark_ns[i] = live->now.now_ns;
        live->mark_cpu_ns[i] = live->now.cpu_ns;
        live->mark_own_ns[i] = live->now.own_cpu_ns;
    }
    live->credit_ns = live->options.budget * (double)LIVE_CREDIT_NS;
}

static int watch(struct live *live, struct live_orders *orders, struct err *err)
{
    if (live_prune(live, err) < 0)
        return -1;
    if (live->now.busy)
        return 0;
    bool may_pause = live_may_pause(live);
    live_choose_removals(live, may_pause);
    if (live->remove.n > 0) {
        if (live_refresh(live, err) < 0)
            return -1;
        live_begin_batch(live);
        orders->remove = live->remove.ids;
        orders->n_remove = live->remove.n;
        live->n_removals++;
    } else if (live->now.now_ns >= live->next_choice_ns) {
        choose(live, orders);
    }
    return 0;
}

static int chosen(struct live *live, struct live_orders *orders, struct err *err)
{
    if (live->n_batches > 0 && live_prune(live, err) < 0)
        return -1;
    if (!live->has_candidates || live->now.busy)
        return 0;
    bool is_first = live->n_batches == 0, is_of_free = live->n_choices <= n_free_choices(live);
    bool is_free = is_first || (is_of_free && (live_measures_nothing(live) || live_is_elsewhere(live)));
    bool has_part = live->has_prices && live_has_parts(live);
    bool is_due = is_free || (has_part ? live_may_stop(live) : live_may_pause(live));
    bool is_worth = is_first ? live_may_begin(live) : live_is_worth_it(live, is_free);
    live->n_put_off = live->n_unpaid + (is_worth ? 0 : live->n_wanted);
    if (live->n_wanted == 0 || !is_worth || !is_due) {
        live_go(live, LIVE_WATCHING);
        return 0;
    }
    if (live_refresh(live, err) < 0)
        return -1;
    live_begin_batch(live);
    live->recovering.is_free = is_free;
    live->recovering.is_for_probes = true;
    live->knows_price = live->knows_price || live->has_prices;
    free(live->asked);
    orders->instrument = live->asked = live->wanted;
    orders->n_instrument = live->n_wanted;
    live->n_asked = live->n_wanted + live->n_unpaid;
    live->n_asked_paid = live->n_wanted;
    live->is_asked_again = false;
    live->wanted = NULL;
    live->n_wanted = live->n_unpaid = 0;
    return 0;
}

/* Is it time for the first choice: does the program do what it is for, and are there samples of that? */
static bool has_begun(struct live *live, struct live_orders *orders)
{
    if (live->options.is_new && live->now.cpu_ns < START_NS)
        return false;
    if (live->sampled_since_ns == 0) {
        live->sampled_since_ns = live->options.is_new ? live->now.now_ns : live->now.start_ns;
        live->first_sample = live->options.is_new ? live->now.n_samples : 0;
        orders->begins_anew = live->options.is_new;
    }
    uint32_t n = live->now.n_samples - live->first_sample;
    return n >= FIRST_SAMPLES || (n >= FEWER_SAMPLES && live->now.now_ns - live->sampled_since_ns >= SAMPLED_NS);
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
        return live_has_recovered(live) ? live_end_recovery(live, err) : 0;
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
    live->enable.n = live->disable.n = 0;
    if (live_charge(live, err) < 0 || step(live, orders, err) < 0)
        return -1;
    orders->enable = live->enable.ids;
    orders->n_enable = live->enable.n;
    orders->disable = live->disable.ids;
    orders->n_disable = live->disable.n;
    orders->round_ms = pace(live);
    return 0;
}
