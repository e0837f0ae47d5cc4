#include "report/sampled_parts.h"

/* ---- threads ---- */

static uint64_t thread_waited_ticks(const struct report_source *source, const struct trace_samples *samples, uint32_t i)
{
    double ns_per_tick = source->tree->ns_per_tick;
    bool has_samples = i < trace_n_threads(source->reader) && ns_per_tick > 0;
    return has_samples ? (uint64_t)((double)samples->waits[i].waited_ns / ns_per_tick) : 0;
}

static uint64_t thread_ticks(const struct report_source *source, const struct trace_samples *samples, uint32_t i)
{
    const struct calltree_thread *thread = &source->tree->threads[i];
    bool is_ours = thread->part == VM_PART_APPLICATION, has_wall = is_ours && thread->has_records;
    if (!thread->is_known)
        return 0;
    uint64_t ticks = has_wall ? thread->wall_ticks : thread->cpu_ticks;
    ticks += is_ours && !has_wall ? thread_waited_ticks(source, samples, i) : 0;
    return ticks > thread->probe_ticks ? ticks - thread->probe_ticks : 0;
}

/* By thread the index of its root, or the number of roots: it has none; the arena's. */
static const uint32_t *roots_of_threads(const struct calltree *tree, struct arena *arena)
{
    struct sampled_root_of roots = sampled_root_of(tree, arena);
    uint32_t *of_thread = arena_alloc(arena, ((size_t)tree->n_threads + 1) * sizeof *of_thread);
    for (uint32_t i = 0; i < tree->n_threads; i++)
        of_thread[i] = sampled_root(&roots, tree->threads[i].part, i);
    return of_thread;
}

/* ---- contexts ---- */

static uint32_t root_of_node(const struct calltree *tree, uint32_t node, const uint32_t *root_of)
{
    while (tree->nodes[node].parent != node)
        node = tree->nodes[node].parent;
    return root_of[node];
}

/* By node that is a root's its index; the arena's, or NULL. */
static uint32_t *index_roots(const struct calltree *tree, struct arena *arena)
{
    uint32_t *root_of = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *root_of);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        root_of[tree->roots[i].node] = i;
    return root_of;
}

uint64_t *sampled_wall_divide(const struct report_source *source, const struct trace_samples *samples,
                              const uint32_t *leaf, struct calltree *tree, uint64_t *idle_ticks)
{
    uint64_t *given = arena_alloc(source->arena, (samples->n_kept + 1) * sizeof *given);
    /* What the threads below a root have; behind the last root, that of threads without one. */
    struct division *roots = arena_alloc(source->arena, ((size_t)tree->n_roots + 1) * sizeof *roots);
    uint32_t *root_of = index_roots(tree, source->arena);
    const uint32_t *of_thread = roots_of_threads(tree, source->arena);
    for (uint32_t i = 0; i < tree->n_threads; i++)
        roots[of_thread[i]].all += thread_ticks(source, samples, i);
    for (size_t i = 0; i < samples->n_kept; i++)
        if (leaf[i] != CALLTREE_NONE)
            roots[root_of_node(tree, leaf[i], root_of)].weight +=
                (double)(samples->kept[i].weight_ns + samples->kept[i].ready_ns);
    for (size_t i = 0; i < samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &samples->kept[i];
        if (leaf[i] == CALLTREE_NONE)
            continue;
        given[i] =
            division_take(&roots[root_of_node(tree, leaf[i], root_of)], (double)(sample->weight_ns + sample->ready_ns));
        *(sample->is_idle ? idle_ticks : &calltree_row(tree, leaf[i])[ROW_OFF]) += given[i];
    }
    for (uint32_t i = 0; i < tree->n_roots; i++) /* without samples */
        calltree_row(tree, tree->roots[i].node)[ROW_OFF] += roots[i].all - roots[i].given;
    return given;
}

/* ---- who has it ---- */

void sampled_wall_threads(const struct report_source *source, const struct calltree *tree,
                          const struct trace_samples *samples, struct sampled_tree *sampled)
{
    uint64_t *ticks = arena_alloc(source->arena, ((size_t)tree->n_threads + 1) * sizeof *ticks);
    double *sums = arena_alloc(source->arena, ((size_t)tree->n_roots + 1) * sizeof *sums);
    const uint32_t *of_thread = roots_of_threads(tree, source->arena);
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        bool is_seen = i < trace_n_threads(source->reader) && samples->waits[i].seen_ns > 0;
        double idle = is_seen ? (double)samples->waits[i].idle_ns / (double)samples->waits[i].seen_ns : 0;
        ticks[i] = (uint64_t)((double)thread_ticks(source, samples, i) * (1 - idle));
        sums[of_thread[i]] += (double)ticks[i];
    }
    /* Threads that share a root have what their samples say, and all of them together what the root has. */
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        uint32_t root = of_thread[i];
        if (tree->threads[i].is_known && root < tree->n_roots && sums[root] > 0)
            ticks[i] = (uint64_t)((double)ticks[i] *
                                  ((double)calltree_total_wall_ticks(tree, tree->roots[root].node) / sums[root]));
    }
    sampled->thread_ticks = ticks;
    sampled->other_ticks = (uint64_t)sums[tree->n_roots];
}
