/* The rows of groups while they are made. */
#include "report/view/groups_internal.h"

#include "core/base/xalloc.h"

uint32_t groups_row_of_key(struct groups_making *making, const char *key, const char *label,
                           const struct method_name *name)
{
    const uint32_t *row = map_get(&making->known, key, strlen(key));
    if (row != NULL)
        return *row;
    xgrow(making->rows, making->room, making->n + 1);
    map_put(&making->known, key, strlen(key), making->n);
    making->rows[making->n] = (struct groups_row){ .label = label,
                                                   .name = *name,
                                                   .called = GROUPS_NONE,
                                                   .caller_of = GROUPS_NONE,
                                                   .time_error = NAN,
                                                   .self_error = NAN,
                                                   .p50 = NAN,
                                                   .p99 = NAN,
                                                   .longest = NAN };
    return making->n++;
}

bool groups_is_inside(const struct groups_making *making, uint32_t node, uint32_t row)
{
    const struct calltree_node *nodes = making->source->tree->nodes;
    while (nodes[node].parent != node) {
        node = nodes[node].parent;
        if (nodes[node].method < making->source->tree->n_methods && making->of_method[nodes[node].method] == row)
            return true;
    }
    return false;
}
