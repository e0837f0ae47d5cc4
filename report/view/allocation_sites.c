#include "report/view/allocation_rows.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "report/view/view_pass.h"

/* The JDK's compiler is a program of its own. */
static bool is_of_jdk(const char *class_name)
{
    static const char *const prefixes[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };
    if (strncmp(class_name, "com/sun/tools/", 14) == 0)
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(class_name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Methods that have probes. */
static void mark_phases(const struct view_pass *pass, struct allocation_methods *methods, struct hash_set *by_name)
{
    for (size_t i = 0; i < pass->n_totals; i++) {
        const struct trace_method *method = trace_method(pass->reader, pass->totals[i].method);
        const struct hash_slot *slot =
            method == NULL ? NULL : hash_get(by_name, hash_address(method_name_hash(&method->names)));
        if (slot != NULL)
            methods->is_phase[slot->value - 1] = true;
    }
}

void allocation_methods_know(const struct view_pass *pass, struct allocation_methods *methods)
{
    const struct trace_reader *reader = pass->reader;
    const struct folding_list *libraries = pass->options.libraries;
    struct hash_set by_name = { NULL, 0, 0, false };
    methods->n = trace_n_sampled_methods(reader);
    methods->first = arena_alloc(pass->arena, (methods->n + 1) * sizeof *methods->first);
    methods->is_jdk = arena_alloc(pass->arena, methods->n + 1);
    methods->is_own = arena_alloc(pass->arena, methods->n + 1);
    methods->is_phase = arena_alloc(pass->arena, methods->n + 1);
    for (uint32_t i = 0; i < methods->n; i++) {
        const struct method_name *names = &trace_sampled_method(reader, i)->names;
        struct hash_slot *slot = xhash_put(&by_name, hash_address(method_name_hash(names)));
        slot->value = slot->value == 0 ? i + 1 : slot->value;
        methods->first[i] = slot->value - 1;
        methods->is_jdk[i] = is_of_jdk(names->class_name);
        methods->is_own[i] = !methods->is_jdk[i] && (libraries == NULL || !folding_has_method(libraries, names));
    }
    mark_phases(pass, methods, &by_name);
    hash_free(&by_name);
}

struct allocation_site allocation_site_of(const struct allocation_methods *methods, const struct trace_reader *reader,
                                          uint32_t context)
{
    struct allocation_site site = { ALLOCATION_NO_METHOD, ALLOCATION_NO_METHOD, ALLOCATION_NO_METHOD };
    const struct trace_context *node;
    uint32_t framework = ALLOCATION_NO_METHOD;
    for (; context != 0; context = node->parent) {
        node = trace_context(reader, context);
        uint32_t method = methods->first[node->method];
        if (site.allocator == ALLOCATION_NO_METHOD)
            site.allocator = method;
        if (site.method == ALLOCATION_NO_METHOD && methods->is_own[method])
            site.method = method;
        if (framework == ALLOCATION_NO_METHOD && !methods->is_jdk[method])
            framework = method;
        if (site.phase == ALLOCATION_NO_METHOD && methods->is_phase[method])
            site.phase = method;
    }
    if (site.method == ALLOCATION_NO_METHOD)
        site.method = framework != ALLOCATION_NO_METHOD ? framework : site.allocator;
    return site;
}

struct method_name allocation_method_name(const struct trace_reader *reader, uint32_t method)
{
    static const struct method_name none;
    return method == ALLOCATION_NO_METHOD ? none : trace_sampled_method(reader, method)->names;
}
