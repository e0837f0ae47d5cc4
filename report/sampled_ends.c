#include "report/sampled_ends.h"

#include <math.h>
#include <stdlib.h>

#define DEVIATIONS 3.0 /* more samples than that above what its time lets expect are no chance */
#define SPARE      2.0

static bool is_found(const struct calltree *tree, uint32_t method)
{
    for (uint32_t i = 0; i < tree->n_flags; i++)
        if (tree->flags[i].method == method && tree->flags[i].kind == CALLTREE_FLAG_FOUND)
            return true;
    return false;
}

/* By node: the outermost one of the calls under way that it is the end of; itself, if it is none. */
static void find_groups(const struct calltree *tree, uint32_t *group)
{
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        bool is_under_way = node->parent < i && node->method < tree->n_methods && is_found(tree, node->method);
        group[i] = is_under_way ? group[node->parent] : i;
    }
}

static void add_own_time(struct own_time *sum, const struct own_time *own)
{
    sum->ticks += own->ticks;
    sum->n_samples += own->n_samples;
    sum->weight += own->weight;
}

static bool contradicts(const struct own_time *own, const struct own_time *all)
{
    double expected = all->ticks == 0 ? 0 : (double)all->n_samples * (double)own->ticks / (double)all->ticks;
    return (double)own->n_samples > expected + DEVIATIONS * sqrt(expected) + SPARE;
}

int sampled_ends(const struct calltree *tree, struct own_time *own)
{
    uint32_t n = tree->n_nodes, *group = calloc((size_t)n + 1, sizeof *group);
    struct own_time *all = calloc((size_t)n + 1, sizeof *all);
    bool *is_wrong = calloc((size_t)n + 1, sizeof *is_wrong);
    bool is_made = group != NULL && all != NULL && is_wrong != NULL;
    if (is_made)
        find_groups(tree, group);
    for (uint32_t i = 1; is_made && i < n; i++)
        add_own_time(&all[group[i]], &own[i]);
    for (uint32_t i = 1; is_made && i < n; i++)
        is_wrong[group[i]] = is_wrong[group[i]] || contradicts(&own[i], &all[group[i]]);
    for (uint32_t i = 1; is_made && i < n; i++)
        if (is_wrong[group[i]])
            own[i].ticks = (uint64_t)((double)all[group[i]].ticks * own[i].weight / all[group[i]].weight);
    free(group);
    free(all);
    free(is_wrong);
    return is_made ? 0 : -1;
}
