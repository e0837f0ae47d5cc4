#include "report/fleet/fleet_weights.h"

#include "core/base/xalloc.h"
#include "report/sampled_tree.h"

#define WORDS_MAX ((size_t)1 << 27) /* 1 GiB */

struct weighing {
    const struct report_source *source;
    const struct fleet_buckets *buckets;
    const uint32_t *row_of;
    struct fleet_weights *to;
    uint32_t *seen; /* by row: the latest path that it was on; owned */
    uint32_t n_paths;
    struct hash_set pairs; /* by row and the row that calls it: index of the pair, and 1 */
    struct called_pair {
        uint32_t row, parent; /* parent: CALLTREE_NONE: no row calls it */
        double cpu;
    } * called; /* owned */
    uint32_t n_called, called_room;
    enum vm_part *part_of;   /* by node of the source's tree that is a root; owned */
    struct hash_set sampled; /* by bucket and recorded context: index of its samples, and 1 */
    struct sampled_cell {
        double weight, cpu; /* of its samples; what probes measured in it */
    } * samples;            /* owned */
    uint32_t n_samples, samples_room;
};

/* What a cell or a sample has. */
struct weight {
    double cpu, off_cpu;
    const uint64_t *counters; /* n_counters, or NULL */
};

static void add_weight(const struct weighing *w, uint32_t row, uint32_t bucket, const struct weight *weight,
                       bool is_self)
{
    double *words = fleet_weights_at(w->to, row, bucket);
    words[FLEET_TOTAL] += weight->cpu;
    words[FLEET_OFF] += weight->off_cpu;
    words[FLEET_SELF] += is_self ? weight->cpu : 0;
    for (size_t i = 0; weight->counters != NULL && i + FLEET_WEIGHTS < w->to->n_words; i++)
        words[FLEET_WEIGHTS + i] += (double)weight->counters[i];
}

static void add_parent(struct weighing *w, uint32_t row, uint32_t parent, double cpu)
{
    struct hash_slot *slot = xhash_put(&w->pairs, hash_address((uint64_t)row << 32 | parent));
    if (slot->value == 0) {
        *xpush(w->called, w->called_room, w->n_called) = (struct called_pair){ row, parent, 0 };
        slot->value = w->n_called;
    }
    w->called[slot->value - 1].cpu += cpu;
}

/* All rows that a context is in have it once; the innermost one has it as its own. */
static void add_path(struct weighing *w, const struct calltree *tree, uint32_t node, uint32_t bucket,
                     const struct weight *weight)
{
    uint32_t inner = CALLTREE_NONE;
    w->n_paths++;
    for (; node != 0 && tree->nodes[node].parent != node; node = tree->nodes[node].parent) {
        uint32_t method = tree->nodes[node].method;
        uint32_t row = method < w->source->tree->n_methods ? w->row_of[method] : CALLTREE_NONE;
        if (row == CALLTREE_NONE || w->seen[row] == w->n_paths)
            continue;
        w->seen[row] = w->n_paths;
        add_weight(w, row, bucket, weight, inner == CALLTREE_NONE);
        if (inner != CALLTREE_NONE)
            add_parent(w, inner, row, weight->cpu);
        inner = row;
    }
    if (inner == CALLTREE_NONE)
        add_weight(w, w->to->outside, bucket, weight, true);
    else
        add_parent(w, inner, CALLTREE_NONE, weight->cpu);
    add_weight(w, w->to->all, bucket, weight, true);
}

static void add_part(const struct weighing *w, enum vm_part part, uint32_t bucket, const struct weight *weight)
{
    bool is_own = part == VM_PART_APPLICATION;
    add_weight(w, is_own ? w->to->outside : w->to->parts + part, bucket, weight, true);
    add_weight(w, w->to->all, bucket, weight, true);
}

/* ---- samples ---- */

static struct sampled_cell *sampled_cell_of(struct weighing *w, uint32_t bucket, uint32_t anchor)
{
    struct hash_slot *slot = xhash_put(&w->sampled, hash_address((uint64_t)bucket << 32 | anchor));
    if (slot->value == 0) {
        *xpush(w->samples, w->samples_room, w->n_samples) = (struct sampled_cell){ 0, 0 };
        slot->value = w->n_samples;
    }
    return &w->samples[slot->value - 1];
}

static bool divides(const struct weighing *w, size_t i)
{
    const struct sampled_tree *sampled = w->source->sampled;
    const struct trace_kept_sample *sample = &sampled->samples->kept[i];
    return sample->ticks != TRACE_UNKNOWN && sampled->leaf[i] != CALLTREE_NONE && sample->weight_ns > 0 &&
           !sample->is_waiting;
}

static void sum_samples(struct weighing *w)
{
    const struct sampled_tree *sampled = w->source->sampled;
    for (size_t i = 0; sampled != NULL && i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        if (!divides(w, i))
            continue;
        sampled_cell_of(w, fleet_bucket_at(w->buckets, sample->ticks), sampled->anchor[i])->weight +=
            (double)sample->weight_ns;
    }
}

static enum vm_part part_of_node(const struct weighing *w, uint32_t node)
{
    const struct calltree *tree = w->source->tree;
    while (tree->nodes[node].parent != node)
        node = tree->nodes[node].parent;
    return w->part_of[node];
}

/* What probes measured in a context in a bucket is that of the samples that met it then. */
static void add_samples(struct weighing *w)
{
    const struct sampled_tree *sampled = w->source->sampled;
    bool are_all = sampled != NULL && trace_samples_are_all(w->source->reader);
    for (size_t i = 0; sampled != NULL && i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        if (!divides(w, i))
            continue;
        uint32_t bucket = fleet_bucket_at(w->buckets, sample->ticks), leaf = sampled->leaf[i];
        const struct sampled_cell *cell = sampled_cell_of(w, bucket, sampled->anchor[i]);
        enum vm_part part = part_of_node(w, leaf);
        struct weight weight = { .cpu = (double)sample->weight_ns };
        if (!are_all)
            weight.cpu *= cell->cpu / cell->weight;
        if (part != VM_PART_APPLICATION && are_all)
            add_part(w, part, bucket, &weight);
        else if (part == VM_PART_APPLICATION)
            add_path(w, w->source->tree, leaf, bucket, &weight);
    }
}

/* ---- what probes and the kernel told ---- */

static void add_node(struct weighing *w, const struct fleet_cell *cell, const struct weight *weight)
{
    const struct calltree *measured = w->source->sampled == NULL ? w->source->tree : w->source->sampled->measured;
    struct weight rest = *weight;
    const struct hash_slot *slot = hash_get(&w->sampled, hash_address((uint64_t)cell->bucket << 32 | cell->id));
    if (slot != NULL && slot->value > 0) {
        w->samples[slot->value - 1].cpu += weight->cpu;
        rest.cpu = 0;
    }
    add_path(w, measured, cell->id, cell->bucket, &rest);
}

static void add_cell(struct weighing *w, size_t i, const struct fleet_cell *cell)
{
    const struct calltree *measured = w->source->sampled == NULL ? w->source->tree : w->source->sampled->measured;
    const uint64_t *words = fleet_cell_words(w->buckets, i);
    if (cell->of == FLEET_CELL_METHOD) {
        uint32_t row = cell->id < w->source->tree->n_methods ? w->row_of[cell->id] : CALLTREE_NONE;
        if (row != CALLTREE_NONE)
            fleet_weights_at(w->to, row, cell->bucket)[FLEET_CALLED] += (double)words[FLEET_CALLS];
        fleet_weights_at(w->to, w->to->all, cell->bucket)[FLEET_CALLED] += (double)words[FLEET_CALLS];
        return;
    }
    struct weight weight = { (double)words[FLEET_CPU], (double)words[FLEET_OFF_CPU], words + FLEET_WORDS };
    struct weight probes = { .cpu = (double)words[FLEET_PROBES] };
    add_part(w, VM_PART_MMPROF, cell->bucket, &probes);
    if (cell->of == FLEET_CELL_NODE)
        add_node(w, cell, &weight);
    else if (cell->id < measured->n_threads)
        add_part(w, measured->threads[cell->id].part, cell->bucket, &weight);
}

static void add_cells(struct weighing *w)
{
    const struct fleet_cell *cells;
    size_t n = fleet_buckets_cells(w->buckets, &cells);
    for (size_t i = 0; i < n; i++)
        add_cell(w, i, &cells[i]);
}

/* ---- the whole ---- */

static void find_parents(const struct weighing *w)
{
    uint32_t *parent = w->to->parent;
    for (uint32_t row = 0; row < w->to->n_methods; row++) {
        parent[row] = CALLTREE_NONE;
        w->seen[row] = UINT32_MAX; /* the pair with most time */
    }
    for (uint32_t i = 0; i < w->n_called; i++) {
        const struct called_pair *pair = &w->called[i];
        uint32_t best = w->seen[pair->row];
        if (best != UINT32_MAX && w->called[best].cpu >= pair->cpu)
            continue;
        w->seen[pair->row] = i;
        parent[pair->row] = pair->parent;
    }
}

static void make_room(struct weighing *w)
{
    const struct calltree *tree = w->source->tree;
    struct fleet_weights *to = w->to;
    to->words = xcalloc((size_t)to->n_rows * to->n_buckets * to->n_words, sizeof *to->words);
    to->parent = xmalloc((to->n_methods + (size_t)1) * sizeof *to->parent);
    w->seen = xcalloc(to->n_methods + (size_t)1, sizeof *w->seen);
    w->part_of = xcalloc(tree->n_nodes + (size_t)1, sizeof *w->part_of);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        w->part_of[tree->roots[i].node] = tree->roots[i].part;
}

int fleet_weights_find(const struct report_source *source, const struct fleet_buckets *buckets, const uint32_t *row_of,
                       uint32_t n_methods, struct fleet_weights *weights, struct err *err)
{
    *weights = (struct fleet_weights){ .n_methods = n_methods,
                                       .outside = n_methods,
                                       .all = n_methods + 1,
                                       .parts = n_methods + 2,
                                       .n_rows = n_methods + 2 + VM_PARTS,
                                       .n_buckets = fleet_buckets_n(buckets),
                                       .n_words = FLEET_WEIGHTS + fleet_buckets_n_counters(buckets) };
    struct weighing w = { .source = source, .buckets = buckets, .row_of = row_of, .to = weights };
    if ((size_t)weights->n_rows * weights->n_buckets * weights->n_words > WORDS_MAX) {
        err_set(err, "%u rows of %u buckets need more than 1 GB of memory", weights->n_rows, weights->n_buckets);
        return err_next(err, "take longer buckets (--bucket), or fewer phases (--min-share)");
    }
    make_room(&w);
    sum_samples(&w);
    add_cells(&w);
    add_samples(&w);
    find_parents(&w);
    hash_free(&w.pairs);
    hash_free(&w.sampled);
    free(w.called);
    free(w.samples);
    free(w.seen);
    free(w.part_of);
    return 0;
}

void fleet_weights_free(struct fleet_weights *weights)
{
    free(weights->words);
    free(weights->parent);
}
