#include "report/fleet/fleet_weights.h"

#include "core/base/hash.h"
#include "core/base/vec.h"
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

static int add_parent(struct weighing *w, uint32_t row, uint32_t parent, double cpu)
{
    struct hash_slot *slot = hash_put(&w->pairs, hash_address((uint64_t)row << 32 | parent));
    if (slot == NULL || vec_reserve(w->called, w->called_room, w->n_called + 1) < 0)
        return -1;
    if (slot->value == 0) {
        w->called[w->n_called++] = (struct called_pair){ row, parent, 0 };
        slot->value = w->n_called;
    }
    w->called[slot->value - 1].cpu += cpu;
    return 0;
}

/* All rows that a context is in have it once; the innermost one has it as its own. */
static int add_path(struct weighing *w, const struct calltree *tree, uint32_t node, uint32_t bucket,
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
        if (inner != CALLTREE_NONE && add_parent(w, inner, row, weight->cpu) < 0)
            return -1;
        inner = row;
    }
    if (inner == CALLTREE_NONE)
        add_weight(w, w->to->outside, bucket, weight, true);
    else if (add_parent(w, inner, CALLTREE_NONE, weight->cpu) < 0)
        return -1;
    add_weight(w, w->to->all, bucket, weight, true);
    return 0;
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
    struct hash_slot *slot = hash_put(&w->sampled, hash_address((uint64_t)bucket << 32 | anchor));
    if (slot == NULL || vec_reserve(w->samples, w->samples_room, w->n_samples + 1) < 0)
        return NULL;
    if (slot->value == 0) {
        w->samples[w->n_samples++] = (struct sampled_cell){ 0, 0 };
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

static int sum_samples(struct weighing *w)
{
    const struct sampled_tree *sampled = w->source->sampled;
    for (size_t i = 0; sampled != NULL && i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        if (!divides(w, i))
            continue;
        struct sampled_cell *cell = sampled_cell_of(w, fleet_bucket_at(w->buckets, sample->ticks), sampled->anchor[i]);
        if (cell == NULL)
            return -1;
        cell->weight += (double)sample->weight_ns;
    }
    return 0;
}

static enum vm_part part_of_node(const struct weighing *w, uint32_t node)
{
    const struct calltree *tree = w->source->tree;
    while (tree->nodes[node].parent != node)
        node = tree->nodes[node].parent;
    return w->part_of[node];
}

/* What probes measured in a context in a bucket is that of the samples that met it then. */
static int add_samples(struct weighing *w)
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
        if (cell == NULL)
            return -1;
        struct weight weight = { .cpu = (double)sample->weight_ns };
        if (!are_all)
            weight.cpu *= cell->cpu / cell->weight;
        if (part != VM_PART_APPLICATION && are_all)
            add_part(w, part, bucket, &weight);
        else if (part == VM_PART_APPLICATION && add_path(w, w->source->tree, leaf, bucket, &weight) < 0)
            return -1;
    }
    return 0;
}

/* ---- what probes and the kernel told ---- */

static int add_node(struct weighing *w, const struct fleet_cell *cell, const struct weight *weight)
{
    const struct calltree *measured = w->source->sampled == NULL ? w->source->tree : w->source->sampled->measured;
    struct weight rest = *weight;
    const struct hash_slot *slot = hash_get(&w->sampled, hash_address((uint64_t)cell->bucket << 32 | cell->id));
    if (slot != NULL && slot->value > 0) {
        w->samples[slot->value - 1].cpu += weight->cpu;
        rest.cpu = 0;
    }
    return add_path(w, measured, cell->id, cell->bucket, &rest);
}

static int add_cell(struct weighing *w, size_t i, const struct fleet_cell *cell)
{
    const struct calltree *measured = w->source->sampled == NULL ? w->source->tree : w->source->sampled->measured;
    const uint64_t *words = fleet_cell_words(w->buckets, i);
    if (cell->of == FLEET_CELL_METHOD) {
        uint32_t row = cell->id < w->source->tree->n_methods ? w->row_of[cell->id] : CALLTREE_NONE;
        if (row != CALLTREE_NONE)
            fleet_weights_at(w->to, row, cell->bucket)[FLEET_CALLED] += (double)words[FLEET_CALLS];
        fleet_weights_at(w->to, w->to->all, cell->bucket)[FLEET_CALLED] += (double)words[FLEET_CALLS];
        return 0;
    }
    struct weight weight = { (double)words[FLEET_CPU], (double)words[FLEET_OFF_CPU], words + FLEET_WORDS };
    struct weight probes = { .cpu = (double)words[FLEET_PROBES] };
    add_part(w, VM_PART_MMPROF, cell->bucket, &probes);
    if (cell->of == FLEET_CELL_NODE)
        return add_node(w, cell, &weight);
    if (cell->id < measured->n_threads)
        add_part(w, measured->threads[cell->id].part, cell->bucket, &weight);
    return 0;
}

static int add_cells(struct weighing *w)
{
    const struct fleet_cell *cells;
    size_t n = fleet_buckets_cells(w->buckets, &cells);
    for (size_t i = 0; i < n; i++)
        if (add_cell(w, i, &cells[i]) < 0)
            return -1;
    return 0;
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

static bool make_room(struct weighing *w)
{
    const struct calltree *tree = w->source->tree;
    struct fleet_weights *to = w->to;
    size_t n_words = (size_t)to->n_rows * to->n_buckets * to->n_words;
    to->words = n_words > WORDS_MAX ? NULL : calloc(n_words, sizeof *to->words);
    to->parent = malloc((to->n_methods + (size_t)1) * sizeof *to->parent);
    w->seen = calloc(to->n_methods + (size_t)1, sizeof *w->seen);
    w->part_of = calloc(tree->n_nodes + (size_t)1, sizeof *w->part_of);
    for (uint32_t i = 0; w->part_of != NULL && i < tree->n_roots; i++)
        w->part_of[tree->roots[i].node] = tree->roots[i].part;
    return to->words != NULL && to->parent != NULL && w->seen != NULL && w->part_of != NULL;
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
    bool has_room = make_room(&w);
    int rc = has_room && sum_samples(&w) == 0 && add_cells(&w) == 0 && add_samples(&w) == 0 ? 0 : -1;
    if (rc == 0)
        find_parents(&w);
    hash_free(&w.pairs);
    hash_free(&w.sampled);
    free(w.called);
    free(w.samples);
    free(w.seen);
    free(w.part_of);
    if (rc == 0)
        return 0;
    err_set(err, "out of memory for %u rows of %u buckets", weights->n_rows, weights->n_buckets);
    return err_next(err, "take longer buckets (--bucket), or fewer phases (--min-share)");
}

void fleet_weights_free(struct fleet_weights *weights)
{
    free(weights->words);
    free(weights->parent);
}
