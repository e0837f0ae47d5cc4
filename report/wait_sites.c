#include "report/waiting_samples.h"

struct wait_site wait_site_of(const struct trace_reader *reader, const struct folding_list *libraries, uint32_t context)
{
    struct wait_search search = { .is_idle = false };
    while (context != 0) {
        const struct trace_context *node = trace_context(reader, context);
        const struct trace_sampled_method *method = trace_sampled_method(reader, node->method);
        if (method == NULL)
            break;
        bool is_library = libraries != NULL && folding_has_method(libraries, &method->names);
        wait_search_see(&search, &method->names,
                        wait_method_kinds(&method->names) | (is_library ? WAIT_OF_LIBRARY : 0));
        context = node->parent;
    }
    return wait_search_end(&search);
}
