#include "report/sampled_parts.h"

#define DEVIATIONS 3.0 /* more samples than that above what its time lets expect are no chance */
#define SPARE      2.0
#define LOST       0.05 /* of its time: a call that keeps the rest has ended when probes say so */

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

/* What is found of a group of contexts, and of those in it that samples contradict. */
struct end_group {
    struct own_time all, wrong;
    bool has_more, has_less; /* a context with more samples than its time lets expect, with less */
    double most;             /* the largest lack of samples, and of whom, where none is sure */
    uint32_t worst;
};

struct call_ends {
    const struct calltree *tree;
    const struct own_time *own;
    uint32_t *group;          /* by node: the index of its group */
    struct end_group *groups; /* by node */
    bool *is_wrong;           /* by node: its time is divided anew */
};

static double expected_samples(const struct call_ends *e, uint32_t i)
{
    const struct own_time *all = &e->groups[e->group[i]].all;
    return all->ticks == 0 ? 0 : (double)all->n_samples * (double)e->own[i].ticks / (double)all->ticks;
}

static bool has_more(const struct call_ends *e, uint32_t i)
{
    return (double)e->own[i].n_samples > expected_samples(e, i) + DEVIATIONS * sqrt(expected_samples(e, i)) + SPARE;
}

static bool has_less(const struct call_ends *e, uint32_t i)
{
    return (double)e->own[i].n_samples < expected_samples(e, i) - DEVIATIONS * sqrt(expected_samples(e, i));
}

/* What ran behind a call's end is too much in that call, and is missed in another one; all others' times are right. */
static void judge_ends(struct call_ends *e)
{
    uint32_t n = e->tree->n_nodes;
    for (uint32_t i = 1; i < n; i++)
        add_own_time(&e->groups[e->group[i]].all, &e->own[i]);
    for (uint32_t i = 1; i < n; i++) {
        struct end_group *group = &e->groups[e->group[i]];
        double lack = expected_samples(e, i) - (double)e->own[i].n_samples;
        group->has_more = group->has_more || has_more(e, i);
        group->has_less = group->has_less || has_less(e, i);
        group->worst = lack > group->most ? i : group->worst;
        group->most = lack > group->most ? lack : group->most;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct end_group *group = &e->groups[e->group[i]];
        bool is_lacking = group->has_less ? has_less(e, i) : group->worst == i;
        e->is_wrong[i] = group->has_more && (has_more(e, i) || is_lacking);
        if (e->is_wrong[i])
            add_own_time(&group->wrong, &e->own[i]);
    }
}

static bool is_called_node(const struct calltree *tree, uint32_t node)
{
    return tree->nodes[node].parent != node;
}

/* With what they call; by node. */
static uint64_t *sum_up_calls(const struct calltree *tree, struct arena *arena)
{
    uint64_t *total = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *total);
    for (uint32_t i = tree->n_nodes; i-- > 1;) {
        total[i] += tree->nodes[i].cpu_ticks;
        if (is_called_node(tree, i))
            total[tree->nodes[i].parent] += total[i];
    }
    return total;
}

/* The wall time stays what it was. */
static void keep_wall_ticks(const struct calltree *before, struct calltree *after, struct arena *arena)
{
    size_t n_words = before->row_words;
    after->rows = arena_alloc(arena, after->n_nodes * n_words * sizeof(uint64_t));
    after->total_rows = arena_alloc(arena, after->n_nodes * n_words * sizeof(uint64_t));
    for (uint32_t i = 1; i < after->n_nodes; i++) {
        after->nodes[i].row = i;
        memcpy(calltree_row(after, i), calltree_row(before, i), n_words * sizeof(uint64_t));
        memcpy(calltree_total_row(after, i), calltree_total_row(before, i), n_words * sizeof(uint64_t));
        calltree_row(after, i)[ROW_OFF] += before->nodes[i].cpu_ticks - after->nodes[i].cpu_ticks;
        calltree_total_row(after, i)[ROW_OFF] += before->total_cpu_ticks[i] - after->total_cpu_ticks[i];
    }
}

/* The times of whole calls are right: what changes is the partial calls'. */
static void adjust_partials(const struct calltree *before, struct calltree *after, struct arena *arena)
{
    after->partials = arena_alloc(arena, (before->n_partials + 1) * sizeof *after->partials);
    for (size_t i = 0; i < before->n_partials; i++) {
        struct calltree_partial partial = before->partials[i];
        uint64_t had = before->total_cpu_ticks[partial.node], whole = had - partial.cpu_ticks,
                 has = after->total_cpu_ticks[partial.node];
        partial.cpu_ticks = has > whole ? has - whole : 0;
        after->partials[i] = partial;
    }
}

/* Methods whose time is another one now. */
static void find_ended(const struct calltree *before, const struct calltree *after, bool *is_ended, struct arena *arena)
{
    struct calltree_total *had, *has;
    size_t n_had, n_has;
    calltree_totals(before, VM_PART_APPLICATION, arena, &had, &n_had);
    calltree_totals(after, VM_PART_APPLICATION, arena, &has, &n_has);
    for (size_t i = 0, k = 0; i < n_had; i++) {
        while (k < n_has && has[k].method < had[i].method)
            k++;
        uint64_t ticks = k < n_has && has[k].method == had[i].method ? has[k].total_cpu_ticks : 0;
        is_ended[had[i].method] = (double)ticks < (1 - LOST) * (double)had[i].total_cpu_ticks;
    }
}

/* The tree with other times of contexts that samples contradict. */
static const struct calltree *divide_ends(const struct call_ends *e, bool *is_ended, struct arena *arena)
{
    const struct calltree *tree = e->tree;
    struct calltree *divided = arena_alloc(arena, sizeof *divided);
    struct calltree_node *nodes = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *nodes);
    memcpy(nodes, tree->nodes, tree->n_nodes * sizeof *nodes);
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct own_time *wrong = &e->groups[e->group[i]].wrong;
        if (e->is_wrong[i])
            nodes[i].cpu_ticks = (uint64_t)((double)wrong->ticks * e->own[i].weight / wrong->weight);
    }
    *divided = *tree;
    divided->nodes = nodes;
    divided->total_cpu_ticks = sum_up_calls(divided, arena);
    keep_wall_ticks(tree, divided, arena);
    adjust_partials(tree, divided, arena);
    find_ended(tree, divided, is_ended, arena);
    return divided;
}

const struct calltree *sampled_ends(const struct calltree *tree, const struct own_time *own, bool *is_ended,
                                    struct arena *arena)
{
    size_t n = (size_t)tree->n_nodes + 1;
    struct call_ends e = { tree, own, arena_alloc(arena, n * sizeof *e.group), arena_alloc(arena, n * sizeof *e.groups),
                           arena_alloc(arena, n * sizeof *e.is_wrong) };
    bool any = false;
    find_groups(tree, e.group);
    judge_ends(&e);
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        any = any || e.is_wrong[i];
    return any ? divide_ends(&e, is_ended, arena) : tree;
}
