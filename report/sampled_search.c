#include "report/sampled_parts.h"

void sampled_seen_count(const struct calltree *tree, const struct calltree *measured,
                        const struct trace_samples *samples, const uint32_t *leaf, struct arena *arena,
                        struct sampled_seen *seen)
{
    double ticks = 0;
    for (uint32_t i = 0; i < measured->n_roots; i++)
        ticks += (double)measured->total_cpu_ticks[measured->roots[i].node];
    uint64_t *n = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *n), all = 0;
    for (size_t i = 0; i < samples->n_kept; i++) {
        uint64_t here = leaf[i] == CALLTREE_NONE ? 0 : samples->kept[i].n;
        n[leaf[i] == CALLTREE_NONE ? 0 : leaf[i]] += here;
        all += samples->waits != NULL && samples->kept[i].is_waiting ? 0 : here;
    }
    for (uint32_t i = tree->n_nodes; --i > 0;)
        if (tree->nodes[i].parent != i)
            n[tree->nodes[i].parent] += n[i];
    *seen = (struct sampled_seen){ n, tree->n_nodes, ticks > 0 ? (double)all / ticks : 0 };
}

uint32_t sampled_seen_below(const struct sampled_seen *seen, const struct calltree *tree, uint32_t top, uint32_t method)
{
    struct calltree_walk walk = calltree_walk_from(tree, top);
    uint64_t most = 0;
    uint32_t best = 0;
    while (calltree_walk(&walk)) {
        bool is_it = !walk.is_leaving && walk.node != top && tree->nodes[walk.node].method == method;
        if (is_it && walk.node < seen->n_nodes && seen->n[walk.node] > most) {
            best = walk.node;
            most = seen->n[walk.node];
        }
    }
    return best;
}
