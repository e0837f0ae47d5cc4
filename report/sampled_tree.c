#include "report/sampled_tree.h"

#include "core/base/map.h"
#include "core/base/xalloc.h"
#include "report/sampled_parts.h"

#define OWN_CLASSES "java/lang/Mmprof" /* the probes' own frames are no one's calls */

/* Where a recorded context stands in the new tree, and the weight of the samples that say so. */
struct sampled_position {
    uint32_t node, next; /* next: index of another one; 0: none */
    uint64_t ns;
};

struct planting {
    const struct report_source *source;
    const struct calltree *measured, *from; /* what probes measured; from: with the ends that samples tell */
    const struct trace_samples *samples;
    const struct trace_reader *reader;
    struct calltree *tree;        /* the new one; its nodes are malloc'ed until the end */
    uint32_t room;                /* of its nodes */
    struct sampled_root_of roots; /* of 'from' */
    struct hash_set paths;        /* a root and a context: its node */
    uint32_t n_methods;           /* of the samples */
    uint32_t *recorded;  /* by the samples' method: the trace's of that name, or CALLTREE_NONE; the arena's, as */
    uint32_t *method_of; /* by the samples' method: the new tree's                  all that follow but positions */
    uint32_t *number_of; /* by the new tree's method: the samples' */
    struct method_name *names; /* of methods that only samples know */
    bool *is_own;              /* by context: it is in the probes' own calls */
    bool *is_ended;            /* by the new tree's method: sampled_ends.c */
    uint32_t *stack, *stack_nodes;
    uint64_t least;                     /* samples that divide a context's time */
    uint32_t *root_of;                  /* by recorded context: the new root, for roots */
    uint32_t *first_position;           /* by recorded context: index, 0: none */
    struct sampled_position *positions; /* owned */
    uint32_t n_positions, positions_room;
    struct division *own;              /* by recorded context: its own time */
    uint64_t *n_own;                   /* by recorded context: samples in it, and in no other one that it calls */
    uint32_t *leaf, *anchor;           /* by kept sample: its node, and the recorded context that it is in */
    uint64_t *probe_ticks, *n_samples; /* by node; malloc'ed until the end */
    size_t partials_room;
    uint64_t *method_samples, *latest; /* by method; the latest sample that was counted, from 1 on */
    uint64_t idle_ticks;               /* on the wall clock: who waits for work */
    uint64_t *kept_ticks;              /* there, by kept sample */
};

/* ---- methods ---- */

static void know_methods(const struct report_source *source, struct map *known)
{
    const struct calltree *tree = source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        if (tree->nodes[i].method >= tree->n_methods)
            continue;
        struct method_name name = report_name(source, tree->nodes[i].method);
        const char *key = method_name_text(source->arena, &name);
        map_put(known, key, strlen(key), tree->nodes[i].method);
    }
}

/* A method whose class was changed has another number among the samples, and the same name. */
static void find_methods(struct planting *p)
{
    struct arena *arena = p->source->arena;
    struct map known = { .arena = arena };
    uint32_t first = p->tree->n_methods;
    know_methods(p->source, &known);
    for (uint32_t i = 0; i < p->n_methods; i++) {
        const struct trace_sampled_method *of = trace_sampled_method(p->reader, i);
        uint32_t same = trace_samples_method(p->samples, i);
        const char *key = method_name_text(arena, &of->names);
        const uint32_t *method = map_get(&known, key, strlen(key));
        p->names[i] = of->names;
        p->recorded[i] = method == NULL ? CALLTREE_NONE : *method;
        p->method_of[i] = method == NULL ? first + same : *method;
        if (p->number_of[p->method_of[i]] == CALLTREE_NONE)
            p->number_of[p->method_of[i]] = same;
    }
    map_free(&known);
    p->tree->n_methods = first + p->n_methods;
}

static uint32_t callee(const struct calltree *tree, uint32_t node, uint32_t method)
{
    uint32_t child = tree->nodes[node].first_child;
    while (child != 0 && tree->nodes[child].method != method)
        child = tree->nodes[child].next_sibling;
    return child;
}

/* ---- nodes ---- */

static uint32_t add_node(struct planting *p, uint32_t parent, uint32_t method)
{
    struct calltree *tree = p->tree;
    uint32_t rooms[3] = { p->room, p->room, p->room };
    xgrow(tree->nodes, rooms[0], tree->n_nodes + 1);
    xgrow(p->probe_ticks, rooms[1], tree->n_nodes + 1);
    xgrow(p->n_samples, rooms[2], tree->n_nodes + 1);
    p->room = rooms[0];
    uint32_t node = tree->n_nodes++;
    bool is_root = method == CALLTREE_ROOT;
    tree->nodes[node] = (struct calltree_node){ .parent = is_root ? node : parent,
                                                .method = method,
                                                .row = node,
                                                .next_sibling = is_root ? 0 : tree->nodes[parent].first_child };
    if (!is_root)
        tree->nodes[parent].first_child = node;
    p->probe_ticks[node] = p->n_samples[node] = 0;
    return node;
}

/* Of a method in the calls of a node: call sites are one here. */
static uint32_t node_of(struct planting *p, uint32_t parent, uint32_t method)
{
    uint32_t known = callee(p->tree, parent, method);
    return known != 0 ? known : add_node(p, parent, method);
}

/* The node of a sampled context below a root. */
static uint32_t node_of_context(struct planting *p, uint32_t root, uint32_t context)
{
    uint32_t n = 0, node = root;
    struct hash_slot *slot;
    for (; context != 0; context = trace_context(p->reader, context)->parent) {
        slot = hash_get(&p->paths, hash_address((uint64_t)root << 32 | context));
        if (slot != NULL) {
            node = slot->value;
            break;
        }
        p->stack[n++] = context;
    }
    while (n-- > 0) {
        node = node_of(p, node, p->method_of[trace_context(p->reader, p->stack[n])->method]);
        slot = xhash_put(&p->paths, hash_address((uint64_t)root << 32 | p->stack[n]));
        slot->value = node;
    }
    return node;
}

static void add_position(struct planting *p, uint32_t measured, uint32_t node, uint64_t ns)
{
    uint32_t i = p->first_position[measured];
    while (i != 0 && p->positions[i].node != node)
        i = p->positions[i].next;
    if (i == 0) {
        xgrow(p->positions, p->positions_room, p->n_positions + 2);
        i = ++p->n_positions;
        p->positions[i] = (struct sampled_position){ node, p->first_position[measured], 0 };
        p->first_position[measured] = i;
    }
    p->positions[i].ns += ns;
}

/* ---- samples ---- */

/* 0: none. */
static uint32_t root_of_sample(const struct planting *p, const struct trace_kept_sample *sample)
{
    uint32_t root = sampled_root(&p->roots, sampled_part(p->reader, sample), sample->thread);
    return root == p->roots.none ? 0 : p->from->roots[root].node;
}

static void count_in(struct planting *p, uint32_t node, uint64_t n, uint64_t number)
{
    uint32_t method = p->tree->nodes[node].method;
    p->n_samples[node] += n;
    p->method_samples[method] += p->latest[method] == number ? 0 : n;
    p->latest[method] = number;
}

/* From the outermost call on: those that probes recorded then.  Returns the innermost of them. */
static uint32_t find_anchor(struct planting *p, const struct trace_kept_sample *sample, uint32_t root, uint32_t leaf,
                            uint64_t number)
{
    uint32_t n = 0, anchor = root;
    for (uint32_t context = sample->context, node = leaf; context != 0; n++) {
        p->stack[n] = context;
        p->stack_nodes[n] = node;
        context = trace_context(p->reader, context)->parent;
        node = p->tree->nodes[node].parent;
    }
    while (n-- > 0) {
        uint32_t method = p->recorded[trace_context(p->reader, p->stack[n])->method];
        uint32_t child = method == CALLTREE_NONE ? 0 : callee(p->from, anchor, method);
        if (child == 0 || (sample->ticks != TRACE_UNKNOWN && !recorded_at(p->from, method, sample->ticks))) {
            count_in(p, p->stack_nodes[n], sample->is_idle ? 0 : sample->n, number);
            continue;
        }
        anchor = child;
        add_position(p, child, p->stack_nodes[n], sample->weight_ns);
    }
    return anchor;
}

/*
 * What probes take that record is subtracted from the measured time, so that these samples are nobody's.  Probes that
 * are switched off return at once, and what they take is their method's.
 */
static bool leave_probe(const struct planting *p, struct trace_kept_sample *sample)
{
    if (!p->is_own[sample->context])
        return true;
    sample->context = trace_context(p->reader, sample->context)->parent;
    if (sample->context == 0 || p->is_own[sample->context])
        return false;
    uint32_t method = p->recorded[trace_context(p->reader, sample->context)->method];
    return method == CALLTREE_NONE || (sample->ticks != TRACE_UNKNOWN && !recorded_at(p->from, method, sample->ticks));
}

static void take_sample(struct planting *p, size_t i)
{
    struct trace_kept_sample sample = p->samples->kept[i];
    uint32_t root = root_of_sample(p, &sample);
    p->leaf[i] = CALLTREE_NONE;
    if (root == 0 || !leave_probe(p, &sample))
        return;
    p->leaf[i] = node_of_context(p, p->root_of[root], sample.context);
    p->anchor[i] = find_anchor(p, &sample, root, p->leaf[i], i + 1);
    if (p->samples->waits != NULL && sample.is_waiting)
        return;
    p->own[p->anchor[i]].weight += (double)sample.weight_ns;
    p->n_own[p->anchor[i]] += sample.n;
}

/* ---- time and calls ---- */

/* On a CPU, which is no wall time yet. */
static void add_cpu(const struct calltree *tree, uint32_t node, uint64_t ticks)
{
    tree->nodes[node].cpu_ticks += ticks;
    calltree_row(tree, node)[ROW_OFF] -= ticks;
}

/* A share of what a recorded context has, to one of its positions. */
static void hand_over(struct planting *p, uint32_t measured, const struct division_share *share, uint32_t to)
{
    const struct calltree *from = p->from;
    uint64_t *row = calltree_row(p->tree, to), calls = calltree_calls(p->tree, to);
    calls += division_part(calltree_calls(from, measured), share);
    p->tree->nodes[to].low_calls = (uint32_t)calls;
    row[ROW_HIGH_CALLS] = calls >> 32;
    for (size_t w = ROW_UNWINDS; w < from->row_words; w++)
        row[w] += division_part(calltree_row(from, measured)[w], share);
    bool is_wall = p->samples->waits != NULL;
    if (!is_wall)
        row[ROW_OFF] += division_part(calltree_wall_ticks(from, measured), share);
    if (p->n_own[measured] < p->least)
        add_cpu(p->tree, to, division_part(p->own[measured].all, share));
    p->probe_ticks[to] +=
        division_part(is_wall ? calltree_total_wall_ticks(from, measured) : from->total_cpu_ticks[measured], share);
    struct calltree_partial partial = calltree_partial_at(p->from, measured);
    if (partial.wall_ticks > 0)
        *xpush(p->tree->partials, p->partials_room, p->tree->n_partials) =
            (struct calltree_partial){ to, division_part(partial.cpu_ticks, share),
                                       division_part(partial.wall_ticks, share) };
}

/*
 * A context that no sample was in stands in its caller's calls.  One that should have had some did not record what is
 * between them, though another thread did then, so that the samples are in that one's contexts: it stands where they
 * are.
 */
static uint32_t position_below(struct planting *p, const struct sampled_seen *seen, uint32_t above, uint32_t measured)
{
    uint32_t method = p->from->nodes[measured].method, known = callee(p->tree, above, method), below = 0;
    bool has_none = known == 0 || known >= seen->n_nodes || seen->n[known] == 0;
    if (has_none && (double)p->from->total_cpu_ticks[measured] * seen->per_tick >= SAMPLED_LEAST)
        below = sampled_seen_below(seen, p->tree, above, method);
    return below != 0 ? below : node_of(p, above, method);
}

static void position_all(struct planting *p)
{
    struct sampled_seen seen;
    sampled_seen_count(p->tree, p->from, p->samples, p->leaf, p->source->arena, &seen);
    for (uint32_t i = 1; i < p->from->n_nodes; i++) {
        const struct calltree_node *node = &p->from->nodes[i];
        bool is_left_out = node->parent == i ? p->root_of[i] == 0 : p->first_position[node->parent] == 0;
        if (p->first_position[i] != 0 || is_left_out)
            continue;
        uint32_t best = p->first_position[node->parent], at = p->root_of[i];
        for (uint32_t k = best; k != 0; k = p->positions[k].next)
            best = p->positions[k].ns > p->positions[best].ns ? k : best;
        if (node->parent != i)
            at = best == 0 ? 0 : position_below(p, &seen, p->positions[best].node, i);
        add_position(p, i, at, 1);
    }
}

static void hand_over_all(struct planting *p)
{
    for (uint32_t i = 1; i < p->from->n_nodes; i++) {
        struct division_share share = { 0 };
        for (uint32_t k = p->first_position[i]; k != 0; k = p->positions[k].next)
            share.weight += (double)p->positions[k].ns;
        for (uint32_t k = p->first_position[i]; k != 0; k = p->positions[k].next) {
            share.its = (double)p->positions[k].ns;
            hand_over(p, i, &share, p->positions[k].node);
            share.seen += share.its;
        }
    }
    for (size_t i = 0; i < p->samples->n_kept; i++)
        if (p->leaf[i] != CALLTREE_NONE && !(p->samples->waits != NULL && p->samples->kept[i].is_waiting) &&
            p->n_own[p->anchor[i]] >= p->least)
            add_cpu(p->tree, p->leaf[i], division_take(&p->own[p->anchor[i]], (double)p->samples->kept[i].weight_ns));
}

/* ---- the whole ---- */

static void make_room(struct planting *p)
{
    struct arena *arena = p->source->arena;
    size_t n_contexts = (size_t)trace_n_contexts(p->reader) + 1, n_measured = (size_t)p->from->n_nodes + 1,
           n_methods = (size_t)p->tree->n_methods + p->n_methods + 1, n_kept = p->samples->n_kept + 1;
    p->recorded = arena_alloc(arena, (p->n_methods + (size_t)1) * sizeof *p->recorded);
    p->method_of = arena_alloc(arena, (p->n_methods + (size_t)1) * sizeof *p->method_of);
    p->names = arena_alloc(arena, (p->n_methods + (size_t)1) * sizeof *p->names);
    p->number_of = arena_alloc(arena, n_methods * sizeof *p->number_of);
    p->method_samples = arena_alloc(arena, n_methods * sizeof *p->method_samples);
    p->latest = arena_alloc(arena, n_methods * sizeof *p->latest);
    p->is_own = arena_alloc(arena, n_contexts * sizeof *p->is_own);
    p->stack = arena_alloc(arena, n_contexts * sizeof *p->stack);
    p->stack_nodes = arena_alloc(arena, n_contexts * sizeof *p->stack_nodes);
    p->root_of = arena_alloc(arena, n_measured * sizeof *p->root_of);
    p->first_position = arena_alloc(arena, n_measured * sizeof *p->first_position);
    p->own = arena_alloc(arena, n_measured * sizeof *p->own);
    p->n_own = arena_alloc(arena, n_measured * sizeof *p->n_own);
    p->leaf = arena_alloc(arena, n_kept * sizeof *p->leaf);
    p->anchor = arena_alloc(arena, n_kept * sizeof *p->anchor);
    for (size_t i = 0; i < n_methods; i++)
        p->number_of[i] = CALLTREE_NONE;
}

static void find_own(struct planting *p)
{
    for (uint32_t i = 1; i <= trace_n_contexts(p->reader); i++) {
        const struct trace_context *context = trace_context(p->reader, i);
        const char *class_name = p->names[context->method].class_name;
        p->is_own[i] = p->is_own[context->parent] || strncmp(class_name, OWN_CLASSES, strlen(OWN_CLASSES)) == 0;
    }
}

static void plant_roots(struct planting *p)
{
    for (uint32_t i = 0; i < p->from->n_roots; i++) {
        uint32_t of = p->from->roots[i].node, root = add_node(p, 0, CALLTREE_ROOT);
        p->root_of[of] = root;
        p->own[of].all = p->from->nodes[of].cpu_ticks;
        p->tree->roots[i].node = root;
    }
    for (uint32_t i = 1; i < p->from->n_nodes; i++)
        p->own[i].all = p->from->nodes[i].cpu_ticks;
}

/* The new nodes' values. */
static void make_values(struct planting *p)
{
    struct arena *arena = p->source->arena;
    struct calltree *tree = p->tree;
    size_t n_words = tree->n_nodes * tree->row_words;
    tree->n_rows = tree->n_nodes;
    tree->total_cpu_ticks = arena_alloc(arena, tree->n_nodes * sizeof(uint64_t));
    tree->rows = arena_alloc(arena, n_words * sizeof(uint64_t));
    tree->total_rows = arena_alloc(arena, n_words * sizeof(uint64_t));
}

/* No context's time is wrong because a call's end was not seen. */
static void end_calls(struct planting *p)
{
    struct arena *arena = p->source->arena;
    uint32_t n = p->from->n_nodes;
    struct own_time *own = arena_alloc(arena, ((size_t)n + 1) * sizeof *own);
    p->is_ended = arena_alloc(arena, ((size_t)p->tree->n_methods + 1) * sizeof *p->is_ended);
    for (uint32_t i = 1; i < n; i++)
        own[i] = (struct own_time){ p->own[i].all, p->n_own[i], p->own[i].weight };
    p->from = sampled_ends(p->measured, own, p->is_ended, arena);
    for (uint32_t i = 1; i < n; i++)
        p->own[i].all = p->from->nodes[i].cpu_ticks;
}

static void plant(struct planting *p)
{
    struct calltree *tree = arena_alloc(p->source->arena, sizeof *tree);
    p->measured = p->from;
    p->roots = sampled_root_of(p->from, p->source->arena);
    *tree = *p->from;
    if (tree->n_methods < trace_n_methods(p->reader))
        tree->n_methods = trace_n_methods(p->reader);
    p->tree = tree;
    tree->nodes = NULL;
    tree->partials = NULL;
    tree->n_nodes = 0;
    tree->n_partials = 0;
    tree->roots = arena_alloc(p->source->arena, (p->from->n_roots + (size_t)1) * sizeof *tree->roots);
    make_room(p);
    memcpy(tree->roots, p->from->roots, p->from->n_roots * sizeof *tree->roots);
    find_methods(p);
    find_own(p);
    add_node(p, 0, CALLTREE_ROOT); /* 0 is none */
    plant_roots(p);
    for (size_t i = 0; i < p->samples->n_kept; i++)
        take_sample(p, i);
    end_calls(p);
    position_all(p);
    make_values(p);
    hand_over_all(p);
    if (p->samples->waits != NULL)
        p->kept_ticks = sampled_wall_divide(p->source, p->samples, p->leaf, tree, &p->idle_ticks);
    calltree_add_up(tree);
}

/* ---- what is kept of it ---- */

static void *kept(struct arena *arena, void *from, size_t n_bytes)
{
    void *copy = arena_alloc(arena, n_bytes);
    return n_bytes == 0 ? copy : memcpy(copy, from, n_bytes);
}

static void keep(struct planting *p, struct report_source *with)
{
    struct arena *arena = p->source->arena;
    struct calltree *tree = p->tree;
    struct sampled_tree *sampled = arena_alloc(arena, sizeof *sampled);
    struct calltree_node *nodes = kept(arena, tree->nodes, tree->n_nodes * sizeof *nodes);
    uint64_t *probe_ticks = kept(arena, p->probe_ticks, tree->n_nodes * sizeof *probe_ticks),
             *n_samples = kept(arena, p->n_samples, tree->n_nodes * sizeof *n_samples);
    free(tree->nodes);
    tree->nodes = nodes;
    struct calltree_partial *partials = kept(arena, tree->partials, tree->n_partials * sizeof *partials);
    free(tree->partials);
    tree->partials = partials;
    tree->n_partials = calltree_partials_join(partials, tree->n_partials);
    *sampled = (struct sampled_tree){ .measured = p->measured,
                                      .ended = p->from,
                                      .samples = p->samples,
                                      .names = p->names,
                                      .first = tree->n_methods - p->n_methods,
                                      .n = p->n_methods,
                                      .number_of = p->number_of,
                                      .probe_ticks = probe_ticks,
                                      .n_samples = n_samples,
                                      .method_samples = p->method_samples,
                                      .is_ended = p->is_ended,
                                      .leaf = p->leaf,
                                      .anchor = p->anchor,
                                      .kept_ticks = p->kept_ticks,
                                      .idle_ticks = p->idle_ticks };
    with->tree = tree;
    with->sampled = sampled;
    if (p->samples->waits != NULL)
        sampled_wall_threads(p->source, tree, p->samples, sampled);
}

void sampled_tree(const struct report_source *source, const struct trace_samples *samples, bool per_thread,
                  struct report_source *with)
{
    struct planting p = { .source = source,
                          .from = source->tree,
                          .samples = samples,
                          .reader = source->reader,
                          .n_methods = trace_n_sampled_methods(source->reader) };
    bool are_all = trace_samples_are_all(source->reader), is_wall = !are_all && source->clock == PHASES_WALL;
    p.least = are_all ? 1 : SAMPLED_LEAST;
    *with = *source;
    if (samples->n_kept == 0 || is_wall != (samples->waits != NULL))
        return;
    if (are_all)
        p.from = sampled_roots(source, samples, per_thread);
    plant(&p);
    keep(&p, with);
    free(p.probe_ticks);
    free(p.n_samples);
    free(p.positions);
    hash_free(&p.paths);
    if (are_all)
        with->clock = PHASES_CPU;
}
