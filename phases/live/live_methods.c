/*
 * The methods that have got probes: their figures, and switching them off and on.
 */
#include "phases/live/live_internal.h"
#include "phases/live/live_policy.h"

#include <stdlib.h>
#include <string.h>

bool live_is_frozen(const struct live *live)
{
    return live->stage == LIVE_INSTRUMENTING || live->stage == LIVE_RECOVERING;
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
    struct live_ids *lists[] = { &live->pruner.enable, &live->pruner.disable, &live->pruner.remove };
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
    uint64_t since_ns = was_tried || method->enabled_since_ns > live->budget.mark_ns[0] ? method->enabled_since_ns
                                                                                        : live->budget.mark_ns[0];
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
    uint64_t delay_ns = method->n_looks < 16 ? LIVE_FIRST_TRIAL_NS << method->n_looks : LIVE_LAST_TRIAL_NS;
    method->next_look_ns = live->now.now_ns + (delay_ns < LIVE_LAST_TRIAL_NS ? delay_ns : LIVE_LAST_TRIAL_NS);
    cancel(&live->pruner.enable, method->id);
    live->pruner.disable.ids[live->pruner.disable.n++] = method->id;
}

void live_try(struct live *live, struct live_method *method)
{
    method->state = LIVE_TRIED;
    method->enabled_since_ns = live->now.now_ns;
    method->base = live->accounts[method - live->methods];
    method->n_looks++;
    live->pruner.enable.ids[live->pruner.enable.n++] = method->id;
}

void live_go(struct live *live, enum live_stage stage)
{
    live->stage = stage;
}

bool live_measures_nothing(const struct live *live)
{
    bool has_records = live_tree_n_records(live->tree) > 0;
    for (size_t i = 0; i < live->n_methods && has_records; i++)
        if (live->methods[i].state == LIVE_ENABLED && !live->methods[i].is_held)
            return false;
    return live->chooser.n_choices <= FREE_CHOICES_NEW;
}
