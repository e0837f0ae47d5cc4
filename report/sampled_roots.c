#include "report/sampled_parts.h"

#include "report/some_threads.h"

enum vm_part sampled_part(const struct trace_reader *reader, const struct trace_kept_sample *sample)
{
    bool is_launcher = sample->is_waiting && threads_wait_for_end(reader, sample->thread, sample->context);
    return is_launcher ? VM_PART_OTHER : threads_part(reader, sample->thread);
}

/* Roots by number: of the threads, or of the parts of the JVM. */
struct sample_root {
    double ns;
    enum vm_part part;
};

static uint32_t find_sample_roots(const struct trace_reader *reader, const struct trace_samples *samples,
                                  bool per_thread, uint32_t n, struct sample_root *roots)
{
    uint32_t n_roots = 0;
    for (size_t i = 0; i < samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &samples->kept[i];
        enum vm_part part = sampled_part(reader, sample);
        uint32_t key = per_thread ? sample->thread : (uint32_t)part;
        if (key >= n || sample->weight_ns == 0 ||
            !threads_match(trace_thread(reader, sample->thread), samples->only_threads))
            continue;
        n_roots += roots[key].ns <= 0;
        roots[key].ns += (double)sample->weight_ns;
        roots[key].part = part;
    }
    return n_roots;
}

static void add_root(struct calltree *tree, const struct sample_root *root, uint32_t thread)
{
    uint32_t node = tree->n_nodes++;
    uint64_t ticks = (uint64_t)(root->ns / (tree->ns_per_tick > 0 ? tree->ns_per_tick : 1));
    tree->nodes[node] =
        (struct calltree_node){ .parent = node, .method = CALLTREE_ROOT, .row = node, .cpu_ticks = ticks };
    calltree_row(tree, node)[ROW_OFF] = -ticks;
    tree->roots[tree->n_roots++] = (struct calltree_root){ node, root->part, thread };
    tree->total_cpu_ticks[node] = ticks;
}

struct sampled_root_of sampled_root_of(const struct calltree *tree, struct arena *arena)
{
    struct sampled_root_of roots = { .none = tree->n_roots };
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].thread != CALLTREE_NONE && tree->roots[i].thread >= roots.n_threads)
            roots.n_threads = tree->roots[i].thread + 1;
    uint32_t *of_thread = arena_alloc(arena, ((size_t)roots.n_threads + 1) * sizeof *of_thread);
    for (uint32_t i = 0; i < VM_PARTS; i++)
        roots.of_part[i] = roots.none;
    for (uint32_t i = 0; i < roots.n_threads; i++)
        of_thread[i] = roots.none;
    for (uint32_t i = tree->n_roots; i-- > 0;) { /* the first one counts */
        const struct calltree_root *root = &tree->roots[i];
        *(root->thread == CALLTREE_NONE ? &roots.of_part[root->part] : &of_thread[root->thread]) = i;
    }
    roots.of_thread = of_thread;
    return roots;
}

struct calltree *sampled_roots(const struct report_source *source, const struct trace_samples *samples, bool per_thread)
{
    struct arena *arena = source->arena;
    uint32_t n = per_thread ? trace_n_threads(source->reader) : VM_PARTS;
    struct calltree *tree = arena_alloc(arena, sizeof *tree);
    struct sample_root *found = arena_alloc(arena, ((size_t)n + 1) * sizeof *found);
    size_t n_roots = find_sample_roots(source->reader, samples, per_thread, n, found);
    *tree = *source->tree;
    tree->nodes = arena_alloc(arena, (n_roots + 1) * sizeof *tree->nodes);
    tree->roots = arena_alloc(arena, (n_roots + 1) * sizeof *tree->roots);
    tree->total_cpu_ticks = arena_alloc(arena, (n_roots + 1) * sizeof(uint64_t));
    tree->n_nodes = 1;
    tree->n_roots = 0;
    tree->n_partials = 0;
    tree->n_metrics = 0;
    tree->row_words = ROW_METRICS;
    tree->rows = tree->total_rows = arena_alloc(arena, (n_roots + 1) * tree->row_words * sizeof(uint64_t));
    tree->cpu_is_wall = false;
    for (uint32_t i = 0; i < n; i++)
        if (found[i].ns > 0)
            add_root(tree, &found[i], per_thread ? i : CALLTREE_NONE);
    return tree;
}
