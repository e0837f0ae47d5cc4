/*
 * Requests: what servers, pools and other libraries call of the program.
 *
 * On each stack the outermost method of the program's own is the request, but for filters, which hand it on, and for
 * those that only choose among others (group_kinds.c); what main does is none.  Each tick, wait and byte is in one
 * request at most.
 */
#include "report/view/groups_internal.h"

#define NONE GROUPS_NONE
#define MAIN (NONE - 1) /* below main: no request, whatever is called */

static bool is_named(const char *name, const char *const *names, size_t n)
{
    bool is = false;
    for (size_t i = 0; i < n; i++)
        is = is || strcmp(name, names[i]) == 0;
    return is;
}

/* What a call of a method is in, given what its caller is in. */
static uint32_t request_of(struct groups_making *making, uint32_t outer, const struct method_name *name)
{
    static const char *const filters[] = { "doFilter", "doFilterInternal", "doFilterNested", "intercept", "filter" };
    const struct method_name *kinds = outer < making->n ? &making->rows[outer].kinds : NULL;
    bool is_kind = kinds != NULL && kinds->method != NULL && groups_is_kind(kinds, name);
    if ((outer != NONE && !is_kind) || !groups_is_own(making, name))
        return outer;
    if (strcmp(name->method, "main") == 0 && strcmp(name->descriptor, "([Ljava/lang/String;)V") == 0)
        return MAIN;
    if (is_named(name->method, filters, sizeof filters / sizeof *filters))
        return NONE;
    return groups_row_of_key(making, method_name_text(making->source->arena, name), "", name);
}

/* Nodes of the application; callers come before callees. */
static void know_nodes(struct groups_making *making)
{
    const struct calltree *tree = making->source->tree;
    bool *is_ours = arena_alloc(making->source->arena, (size_t)tree->n_nodes + 1);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        is_ours[tree->roots[i].node] = tree->roots[i].part == VM_PART_APPLICATION;
    making->request_of_node[0] = NONE;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        is_ours[i] = is_ours[i] || is_ours[node->parent];
        making->request_of_node[i] = node->parent == i ? NONE : making->request_of_node[node->parent];
        if (!is_ours[i] || node->method >= tree->n_methods)
            continue;
        struct method_name name = report_name(making->source, node->method);
        making->request_of_node[i] = request_of(making, making->request_of_node[i], &name);
    }
}

/* Of waits and allocations; outer ones come first. */
static void know_contexts(struct groups_making *making)
{
    const struct trace_reader *reader = making->source->reader;
    uint32_t n = trace_n_contexts(reader);
    making->request_of_context = arena_alloc(making->source->arena, ((size_t)n + 1) * sizeof(uint32_t));
    making->request_of_context[0] = NONE;
    for (uint32_t i = 1; i <= n; i++) {
        const struct trace_context *context = trace_context(reader, i);
        uint32_t outer = context->parent < i ? making->request_of_context[context->parent] : NONE;
        making->request_of_context[i] =
            request_of(making, outer, &trace_sampled_method(reader, context->method)->names);
    }
}

void groups_know_requests(struct groups_making *making)
{
    size_t n = (size_t)making->source->tree->n_nodes + 1;
    making->request_of_node = arena_alloc(making->source->arena, n * sizeof(uint32_t));
    know_nodes(making);
    if (groups_find_kinds(making))
        know_nodes(making);
    know_contexts(making);
}

uint32_t groups_request(const struct groups_making *making, uint32_t context)
{
    uint32_t row = making->request_of_context == NULL ? NONE : making->request_of_context[context];
    return row == MAIN ? NONE : row;
}

/* Calls are those of the request's method itself. */
void groups_add_requests(struct groups_making *making)
{
    const struct report_source *source = making->source;
    const struct calltree *tree = source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        uint32_t number = making->request_of_node[i];
        if (number >= MAIN || making->request_of_node[node->parent] == number)
            continue;
        struct groups_row *row = &making->rows[number];
        uint64_t calls = calltree_calls(tree, i);
        bool is_ended = source->sampled != NULL && calls > 0 && source->sampled->is_ended[node->method];
        double ticks = (double)report_total_ticks(source, i);
        double probe_ticks = source->sampled == NULL ? ticks : is_ended ? 0 : (double)source->sampled->probe_ticks[i];
        uint32_t outer = making->request_of_node[node->parent];
        row->all.ticks += ticks;
        row->probe_ticks += probe_ticks;
        if (outer < MAIN) { /* it chose this one */
            making->rows[outer].all.ticks -= ticks;
            making->rows[outer].probe_ticks -= probe_ticks;
        }
        row->calls += (double)calls;
        if (calls > 0)
            row->called = node->method;
    }
}
