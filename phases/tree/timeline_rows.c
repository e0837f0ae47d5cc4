/*
 * What nodes of the call tree were given in each step, and the rows that come of it.
 *
 * Kept are the nodes that were given something in a step, 16 bytes for each: in one step a program is in few of its
 * contexts.
 */
#include "core/base/vec.h"
#include "phases/tree/timeline_internal.h"

#include <stdlib.h>

#define GIVEN_LEAST   ((size_t)1 << 16)
#define ROW_WORDS_MAX ((size_t)1 << 26) /* of all steps and rows: 512 MiB */

static int by_step_and_node(const void *a, const void *b)
{
    const struct timeline_given *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Threads of one tree are in different steps at a time, and each change of a node's step is an entry. */
static void merge(struct timeline *tl)
{
    size_t n = 0;
    qsort(tl->given, tl->n_given, sizeof *tl->given, by_step_and_node);
    for (size_t i = 0; i < tl->n_given; i++)
        if (n > 0 && by_step_and_node(&tl->given[n - 1], &tl->given[i]) == 0)
            tl->given[n - 1].ticks += tl->given[i].ticks;
        else
            tl->given[n++] = tl->given[i];
    tl->n_given = n;
}

static int keep(struct timeline *tl, const struct timeline_given *given)
{
    if (tl->n_given == tl->given_room) {
        if (tl->n_given >= GIVEN_LEAST)
            merge(tl);
        if (tl->n_given >= tl->given_room / 2 && vec_reserve(tl->given, tl->given_room, tl->given_room + 1) < 0)
            return -1;
    }
    tl->given[tl->n_given++] = *given;
    return 0;
}

int timeline_give(struct timeline *tl, uint32_t node, uint32_t step, uint64_t ticks)
{
    if (ticks == 0)
        return 0;
    if (node >= tl->n_latest && vec_reserve_zeroed(tl->latest, tl->n_latest, (size_t)node + 1) < 0)
        return -1;
    struct timeline_given *latest = &tl->latest[node];
    if (latest->ticks > 0 && latest->step != step) {
        if (keep(tl, latest) < 0)
            return -1;
        latest->ticks = 0;
    }
    latest->node = node;
    latest->step = step;
    latest->ticks += ticks;
    return 0;
}

/* By node: the row of its method, or else its caller's.  A parent comes before its children. */
static uint32_t *find_owners(const struct calltree *tree, const uint32_t *row_of, uint32_t n_methods, uint32_t n_rows)
{
    uint32_t *owners = malloc(((size_t)tree->n_nodes + 1) * sizeof *owners);
    for (uint32_t i = 0; owners != NULL && i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        if (i == 0 || node->parent == i)
            owners[i] = n_rows;
        else if (node->method < n_methods && row_of[node->method] < n_rows)
            owners[i] = row_of[node->method];
        else
            owners[i] = owners[node->parent];
    }
    return owners;
}

/* All that was given is merged.  Returns whether there was memory. */
static bool settle(struct timeline *tl, uint32_t n_nodes)
{
    for (uint32_t i = 0; i < tl->n_latest && i < n_nodes; i++)
        if (tl->latest[i].ticks > 0 && keep(tl, &tl->latest[i]) < 0)
            return false;
    free(tl->latest);
    tl->latest = NULL;
    tl->n_latest = 0;
    if (tl->n_given > 0)
        merge(tl);
    return true;
}

int timeline_rows(struct timeline *tl, const struct calltree *tree, const uint32_t *row_of, uint32_t n_methods,
                  uint32_t n_rows, struct err *err)
{
    size_t n_words = (size_t)tl->n_steps * ((size_t)n_rows + 1);
    if (tl->n_steps > 1 && n_words > ROW_WORDS_MAX) {
        err_set(err, "%u steps are too many for %u phases", tl->n_steps, n_rows);
        return err_next(err, "take longer ones, or fewer phases (--top)");
    }
    uint32_t *owners = find_owners(tree, row_of, n_methods, n_rows);
    tl->rows = calloc(n_words, sizeof *tl->rows);
    if (owners == NULL || tl->rows == NULL || !settle(tl, tree->n_nodes)) {
        free(owners);
        return err_set(err, "out of memory for a time line");
    }
    tl->n_rows = n_rows;
    if (tree->n_metrics < tl->options.n_metrics)
        tl->options.n_metrics = tree->n_metrics;
    for (size_t i = 0; i < tl->n_given; i++)
        tl->rows[(size_t)tl->given[i].step * (n_rows + 1) + owners[tl->given[i].node]] += tl->given[i].ticks;
    free(owners);
    return 0;
}

const struct timeline_given *timeline_given(const struct timeline *tl, size_t *n)
{
    *n = tl->n_given;
    return tl->given;
}
