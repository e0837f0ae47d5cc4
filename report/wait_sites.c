#include "report/wait_sites.h"

#include "core/base/xalloc.h"

#define IS_KNOWN 0x80u /* of a method's kinds, which enum wait_method_kind has below it */

struct wait_sites {
    const struct trace_reader *reader;
    const struct folding_list *libraries;
    struct wait_site *all; /* owned, as all that follows */
    uint32_t n, room;
    uint32_t *of_context; /* 1 + the number of its site; 0: not looked at */
    uint8_t *kinds;       /* by method */
    size_t contexts_room, kinds_room;
};

struct wait_sites *wait_sites_open(const struct trace_reader *reader, const struct folding_list *libraries)
{
    struct wait_sites *sites = xcalloc(1, sizeof *sites);
    *sites = (struct wait_sites){ .reader = reader, .libraries = libraries };
    return sites;
}

/* Deep stacks have the same methods over and over. */
static unsigned kinds_of(struct wait_sites *sites, uint32_t number, const struct method_name *method)
{
    xgrow_zeroed(sites->kinds, sites->kinds_room, (size_t)number + 1);
    if (sites->kinds[number] == 0) {
        bool is_library = sites->libraries != NULL && folding_has_method(sites->libraries, method);
        sites->kinds[number] = (uint8_t)(IS_KNOWN | wait_method_kinds(method) | (is_library ? WAIT_OF_LIBRARY : 0));
    }
    return sites->kinds[number];
}

static struct wait_site search(struct wait_sites *sites, uint32_t context)
{
    struct wait_search search = { .is_idle = false };
    while (context != 0) {
        const struct trace_context *node = trace_context(sites->reader, context);
        const struct trace_sampled_method *method = trace_sampled_method(sites->reader, node->method);
        if (method == NULL)
            break;
        wait_search_see(&search, &method->names, kinds_of(sites, node->method, &method->names));
        context = node->parent;
    }
    return wait_search_end(&search);
}

const struct wait_site *wait_sites_find(struct wait_sites *sites, uint32_t context)
{
    xgrow_zeroed(sites->of_context, sites->contexts_room, (size_t)context + 1);
    if (sites->of_context[context] == 0) {
        *xpush(sites->all, sites->room, sites->n) = search(sites, context);
        sites->of_context[context] = sites->n;
    }
    return &sites->all[sites->of_context[context] - 1];
}

void wait_sites_close(struct wait_sites *sites)
{
    if (sites == NULL)
        return;
    free(sites->all);
    free(sites->of_context);
    free(sites->kinds);
    free(sites);
}
