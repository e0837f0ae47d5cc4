#include "phases/live/live_parts.h"

#include "core/base/xalloc.h"

void live_methods_open(struct live_methods *methods, const struct live_tree_options *options)
{
    memset(methods, 0, sizeof *methods);
    methods->tree = live_tree_open(options);
}

void live_methods_free(struct live_methods *methods)
{
    live_tree_close(methods->tree);
    free(methods->all);
    free(methods->accounts);
    arena_free(&methods->arena);
}

struct live_method *live_methods_by_id(const struct live_methods *methods, uint32_t id)
{
    for (size_t i = 0; i < methods->n; i++)
        if (methods->all[i].id == id)
            return &methods->all[i];
    return NULL;
}

struct live_method *live_methods_find(const struct live_methods *methods, const char *class_name, const char *name,
                                      const char *descriptor)
{
    for (size_t i = 0; i < methods->n; i++)
        if (strcmp(methods->all[i].name, name) == 0 && strcmp(methods->all[i].class_name, class_name) == 0 &&
            strcmp(methods->all[i].descriptor, descriptor) == 0)
            return &methods->all[i];
    return NULL;
}

bool live_methods_know(const struct live_methods *methods, const char *class_name, const char *name,
                       const char *descriptor)
{
    const struct live_method *method = live_methods_find(methods, class_name, name, descriptor);
    return method != NULL && (!method->is_deferred || method->all.calls > 0);
}

static const char *copy(struct live_methods *methods, const char *text)
{
    return arena_text(&methods->arena, text, strlen(text));
}

void live_methods_add(struct live_methods *methods, const struct trace_method *told, uint64_t now_ns)
{
    struct live_method *method = live_methods_by_id(methods, told->id);
    if (method == NULL) {
        method = xpush(methods->all, methods->room, methods->n);
        *method = (struct live_method){ .id = told->id,
                                        .class_name = copy(methods, told->names.class_name),
                                        .name = copy(methods, told->names.method),
                                        .descriptor = copy(methods, told->names.descriptor) };
    }
    method->is_deferred = told->code_bytes == 0;
    method->state = LIVE_ENABLED;
    method->why = LIVE_NOT_DISABLED;
    method->enabled_since_ns = now_ns;
}

void live_methods_refresh(struct live_methods *methods, uint64_t ticks)
{
    uint32_t n = live_tree_n_accounts(methods->tree);
    xgrow(methods->accounts, methods->accounts_room, n);
    live_tree_accounts(methods->tree, ticks, methods->accounts);
    for (size_t i = 0; i < methods->n; i++)
        if (methods->all[i].id < n)
            methods->all[i].all = methods->accounts[methods->all[i].id];
}

/* ---- figures ---- */

static struct live_account difference(struct live_account all, const struct live_account *what)
{
    all.calls -= what->calls;
    all.cpu_ticks -= what->cpu_ticks < all.cpu_ticks ? what->cpu_ticks : all.cpu_ticks;
    all.wall_ticks -= what->wall_ticks < all.wall_ticks ? what->wall_ticks : all.wall_ticks;
    all.n_counted -= what->n_counted;
    for (size_t i = 0; i < LIVE_COUNTERS_MAX; i++)
        all.counters[i] -= what->counters[i];
    return all;
}

struct live_account live_method_figures(const struct live_methods *methods, const struct live_method *method)
{
    return methods->is_frozen ? method->frozen : difference(method->all, &method->base);
}

struct live_account live_method_net(const struct live_methods *methods, const struct live_method *method)
{
    return methods->is_frozen && method->frozen.calls > 0 ? method->frozen : difference(method->all, &method->base);
}

bool live_method_has_figures(const struct live_methods *methods, const struct live_method *method)
{
    return method->state == LIVE_ENABLED && live_method_figures(methods, method).calls > 0;
}

bool live_methods_have_figures(const struct live_methods *methods)
{
    for (size_t i = 0; i < methods->n; i++)
        if (live_method_has_figures(methods, &methods->all[i]))
            return true;
    return false;
}

void live_methods_freeze(struct live_methods *methods)
{
    for (size_t i = 0; i < methods->n; i++)
        methods->all[i].frozen = live_method_net(methods, &methods->all[i]);
    methods->is_frozen = true;
}

void live_methods_thaw(struct live_methods *methods)
{
    methods->is_frozen = false;
    for (size_t i = 0; i < methods->n; i++)
        methods->all[i].base = difference(methods->all[i].all, &methods->all[i].frozen);
}

double live_account_call_ns(const struct live_account *figures, double ns_per_tick)
{
    return figures->calls == 0 ? 0 : (double)figures->cpu_ticks * ns_per_tick / (double)figures->calls;
}

double live_account_wall_ns(const struct live_account *figures, double ns_per_tick)
{
    return figures->calls == 0 ? 0 : (double)figures->wall_ticks * ns_per_tick / (double)figures->calls;
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
