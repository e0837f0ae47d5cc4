/* What rules share: whether something is a finding, and whose code a context's time is. */
#include "report/findings/findings_internal.h"

#include "core/base/xalloc.h"

static const char *size_of(const struct findings_making *making, const struct finding_rule *rule,
                           const struct finding *f)
{
    struct arena *arena = making->source->arena;
    double error = (f->high - f->low) / 2;
    if (rule->of != NULL && f->share < 2)
        return arena_printf(arena, "%s of %s", findings_share(making, f->share, error), rule->of);
    return rule->of != NULL ? arena_printf(arena, "%.1f times %s", f->share, rule->of)
                            : findings_threads(making, f->share, error);
}

bool findings_add(struct findings_making *making, const struct finding_rule *rule, const struct finding *f)
{
    if (!(f->low > rule->threshold) || !(f->cost_ns >= rule->least * making->undelayed_ns))
        return false;
    if (making->n_found == making->room) {
        size_t room = making->room == 0 ? 32 : 2 * making->room;
        struct finding *found = arena_alloc(making->source->arena, room * sizeof *found);
        if (making->n_found > 0)
            memcpy(found, making->found, making->n_found * sizeof *found);
        making->found = found;
        making->room = room;
    }
    making->found[making->n_found] = *f;
    making->found[making->n_found].is_condition = rule->is_condition;
    making->found[making->n_found].saving_ns = rule->saves * f->cost_ns;
    making->found[making->n_found].size = f->size != NULL ? f->size : size_of(making, rule, f);
    making->found[making->n_found++].rule = rule->name;
    return true;
}

static bool is_jdk(const char *class_name)
{
    static const char *const packages[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strncmp(class_name, packages[i], strlen(packages[i])) == 0)
            return true;
    return false;
}

bool *findings_frameworks(const struct findings_making *making)
{
    const struct report_source *source = making->source;
    bool *is_one = arena_alloc(source->arena, ((size_t)source->tree->n_methods + 1) * sizeof *is_one);
    for (uint32_t i = 0; i < source->tree->n_methods; i++)
        is_one[i] = making->is_library[i] && !is_jdk(report_name(source, i).class_name);
    return is_one;
}

uint32_t *findings_owners(const struct findings_making *making, const struct calltree *tree)
{
    const struct report_source *source = making->source;
    uint32_t *own = arena_alloc(source->arena, ((size_t)tree->n_nodes + 1) * sizeof *own);
    uint32_t *framework = xreallocarray(NULL, (size_t)tree->n_nodes + 1, sizeof *framework);
    own[0] = framework[0] = CALLTREE_NONE;
    for (uint32_t i = 1; i < tree->n_nodes; i++) { /* callers come before callees */
        const struct calltree_node *node = &tree->nodes[i];
        bool is_method = node->method < source->tree->n_methods, is_root = node->parent == i;
        bool is_own = is_method && !making->is_library[node->method];
        bool is_framework = is_method && making->is_framework[node->method];
        own[i] = is_root ? CALLTREE_NONE : is_own ? node->method : own[node->parent];
        framework[i] = is_root ? CALLTREE_NONE : is_framework ? node->method : framework[node->parent];
    }
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        own[i] = own[i] != CALLTREE_NONE ? own[i] : framework[i];
    free(framework);
    return own;
}

bool *findings_ours(const struct findings_making *making, const struct calltree *tree)
{
    bool *is_ours = arena_alloc(making->source->arena, ((size_t)tree->n_nodes + 1) * sizeof *is_ours);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        is_ours[tree->roots[i].node] = tree->roots[i].part == VM_PART_APPLICATION;
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        is_ours[i] = is_ours[i] || is_ours[tree->nodes[i].parent];
    return is_ours;
}

const char *findings_label(const struct findings_making *making, uint32_t method)
{
    struct method_name name = report_name(making->source, method);
    return java_names_display(making->source->arena, &name, JAVA_NAMES_SHORT);
}

const char *findings_share(const struct findings_making *making, double share, double error)
{
    struct arena *arena = making->source->arena;
    int n_decimals = error > 0 && error < 0.0095 ? 1 : 0;
    if (!(error > 0))
        return arena_printf(arena, "%.0f %%", share * 100);
    return arena_printf(arena, "%.*f \u00b1%.*f %%", n_decimals, share * 100, n_decimals, error * 100);
}

const char *findings_threads(const struct findings_making *making, double n, double error)
{
    struct arena *arena = making->source->arena;
    return error < 0.05 ? arena_printf(arena, "%.1f threads on average", n)
                        : arena_printf(arena, "%.1f \u00b1%.1f threads on average", n, error);
}

const char *findings_time(const struct findings_making *making, double ns)
{
    char text[32];
    table_format_ns(ns, text, sizeof text);
    return arena_text(making->source->arena, text, strlen(text));
}
