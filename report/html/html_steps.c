/*
 * The time of the call tree's contexts by step of the time line, for the page's figures of a span of it.
 *
 * Probes tell it exactly.  Where there are stack samples, those of a step divide what was measured of a context in this
 * step, as in the time line; where a step has none of it, the next one that has counts.  On the wall clock samples
 * alone tell it: a wait is in all steps that it lasted.
 */
#include "core/base/xalloc.h"
#include "report/html/html_parts.h"
#include "report/view/timeline_table.h"

/* A sample: the measured context that it is in, and the context of the page's tree. */
struct steps_sample {
    uint32_t anchor, step, leaf;
    double weight;
};

struct steps {
    const struct report_source *source;
    struct timeline *timeline;
    uint32_t n_nodes;             /* of the measured tree */
    uint32_t *position;           /* by measured node: where it stands in the page's; the arena's, as the next two */
    size_t *first;                /* by measured node: its first sample; and one more */
    struct steps_sample *samples; /* by anchor and step */
    size_t n_samples;
    struct timeline_given *entries; /* owned; contexts of the page's tree */
    size_t n, room;
};

static int by_anchor(const void *a, const void *b)
{
    const struct steps_sample *x = a, *y = b;
    if (x->anchor != y->anchor)
        return x->anchor < y->anchor ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int by_step(const void *a, const void *b)
{
    const struct timeline_given *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* ---- where measured contexts stand among those that samples saw ---- */

static void find_samples(struct steps *s)
{
    const struct sampled_tree *sampled = s->source->sampled;
    for (size_t i = 0; i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        if (sample->ticks != TRACE_UNKNOWN && sampled->leaf[i] != CALLTREE_NONE && sample->weight_ns > 0)
            s->samples[s->n_samples++] =
                (struct steps_sample){ sampled->anchor[i], timeline_step_at(s->timeline, sample->ticks),
                                       sampled->leaf[i], (double)sample->weight_ns };
    }
    qsort(s->samples, s->n_samples, sizeof *s->samples, by_anchor);
    size_t next = 0;
    for (uint32_t node = 0; node <= s->n_nodes; node++) {
        while (next < s->n_samples && s->samples[next].anchor < node)
            next++;
        s->first[node] = next;
    }
}

/* Of a method in the calls of a context, or among those around a sample's innermost one; else that context. */
static uint32_t position_of(const struct steps *s, uint32_t node, uint32_t method)
{
    const struct calltree *tree = s->source->tree;
    uint32_t caller = s->position[s->source->sampled->measured->nodes[node].parent];
    if (s->first[node] < s->first[node + 1])
        for (uint32_t at = s->samples[s->first[node]].leaf; tree->nodes[at].parent != at; at = tree->nodes[at].parent)
            if (tree->nodes[at].method == method)
                return at;
    for (uint32_t child = tree->nodes[caller].first_child; child != 0; child = tree->nodes[child].next_sibling)
        if (tree->nodes[child].method == method)
            return child;
    return caller;
}

static void find_positions(struct steps *s)
{
    const struct calltree *tree = s->source->tree, *measured = s->source->sampled->measured;
    for (uint32_t i = 0; i < measured->n_roots && i < tree->n_roots; i++) {
        s->position[measured->roots[i].node] = tree->roots[i].node;
        if (tree->roots[i].part == VM_PART_APPLICATION)
            s->position[0] = tree->roots[i].node;
    }
    for (uint32_t i = 1; i < measured->n_nodes; i++)
        if (measured->nodes[i].parent != i)
            s->position[i] = position_of(s, i, measured->nodes[i].method);
}

/* ---- entries ---- */

static void add_entry(struct steps *s, uint32_t node, uint32_t step, uint64_t ticks)
{
    *xpush(s->entries, s->room, s->n) = (struct timeline_given){ node, step, ticks };
}

/* Of a measured context: its samples of that step, or of the nearest one. */
static void nearest(const struct steps *s, const struct timeline_given *given, size_t *first, size_t *end)
{
    size_t from = s->first[given->node], to = s->first[given->node + 1], at = from;
    for (size_t n = to - from; n > 0;) { /* the first that is not earlier */
        size_t half = n / 2;
        bool is_earlier = s->samples[at + half].step < given->step;
        at += is_earlier ? half + 1 : 0;
        n = is_earlier ? n - half - 1 : half;
    }
    if (at == to || (at > from && s->samples[at].step - given->step > given->step - s->samples[at - 1].step))
        at--;
    for (*first = at; *first > from && s->samples[*first - 1].step == s->samples[at].step;)
        (*first)--;
    for (*end = at + 1; *end < to && s->samples[*end].step == s->samples[at].step;)
        (*end)++;
}

static void divide(struct steps *s, const struct timeline_given *given)
{
    size_t first, end;
    double weight = 0, seen = 0;
    uint64_t done = 0;
    if (s->first[given->node + 1] - s->first[given->node] < SAMPLED_LEAST) {
        add_entry(s, s->position[given->node], given->step, given->ticks);
        return;
    }
    nearest(s, given, &first, &end);
    for (size_t i = first; i < end; i++)
        weight += s->samples[i].weight;
    for (size_t i = first; i < end; i++) {
        seen += s->samples[i].weight;
        uint64_t until = i + 1 == end ? given->ticks : (uint64_t)((double)given->ticks * (seen / weight));
        add_entry(s, s->samples[i].leaf, given->step, until > done ? until - done : 0);
        done = until > done ? until : done;
    }
}

/* ---- on the wall clock ---- */

struct wall_entry {
    struct steps *steps;
    uint32_t node;
};

static bool give_entry(void *context, uint32_t step, uint64_t ticks)
{
    const struct wall_entry *to = context;
    add_entry(to->steps, to->node, step, ticks);
    return true;
}

static void make_wall_entries(struct steps *s)
{
    const struct sampled_tree *sampled = s->source->sampled;
    for (size_t i = 0; i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        struct wall_entry to = { s, sampled->leaf[i] };
        if (sample->ticks != TRACE_UNKNOWN && to.node != CALLTREE_NONE && !sample->is_idle)
            timeline_spread(s->timeline, timeline_since(s->source, sample), sample->ticks, sampled->kept_ticks[i],
                            give_entry, &to);
    }
}

/* ---- of all ---- */

static void make_entries(struct steps *s)
{
    const struct report_source *source = s->source;
    const struct calltree *tree = source->tree;
    size_t n;
    const struct timeline_given *given = timeline_given(s->timeline, &n);
    if (source->sampled != NULL && source->sampled->kept_ticks != NULL) {
        make_wall_entries(s);
        return;
    }
    s->n_nodes = source->sampled == NULL ? tree->n_nodes : source->sampled->measured->n_nodes;
    s->position = arena_alloc(source->arena, ((size_t)s->n_nodes + 1) * sizeof *s->position);
    s->first = arena_alloc(source->arena, ((size_t)s->n_nodes + 2) * sizeof *s->first);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        s->position[0] = tree->roots[i].part == VM_PART_APPLICATION ? tree->roots[i].node : s->position[0];
    for (uint32_t i = 1; i < s->n_nodes; i++)
        s->position[i] = i;
    if (source->sampled != NULL) {
        s->samples = arena_alloc(source->arena, (source->sampled->samples->n_kept + 1) * sizeof *s->samples);
        find_samples(s);
        find_positions(s);
    }
    for (size_t i = 0; i < n; i++)
        divide(s, &given[i]);
}

/* ---- as JSON ---- */

/* Steps of so many become one; contexts are those that are drawn.  Returns how many entries are left. */
static size_t merge(struct timeline_given *entries, size_t n_entries, const uint32_t *drawn, uint32_t grain)
{
    size_t n = 0, n_kept = 0;
    for (size_t i = 0; i < n_entries; i++) {
        struct timeline_given entry = entries[i];
        entry.step -= entry.step % grain;
        entry.node = drawn == NULL ? entry.node : drawn[entry.node];
        if (entry.node != CALLTREE_NONE)
            entries[n_kept++] = entry;
    }
    if (n_kept > 0)
        qsort(entries, n_kept, sizeof *entries, by_step);
    for (size_t i = 0; i < n_kept; i++)
        if (n > 0 && by_step(&entries[n - 1], &entries[i]) == 0)
            entries[n - 1].ticks += entries[i].ticks;
        else
            entries[n++] = entries[i];
    return n;
}

void html_steps_put(struct html_json *json, struct timeline_given *entries, size_t n, size_t most,
                    const uint32_t *drawn, uint32_t n_steps, struct html_steps_unit unit)
{
    uint32_t grain = 1;
    for (n = merge(entries, n, drawn, grain); n > most && grain < n_steps;)
        n = merge(entries, n, NULL, grain *= 2);
    html_object(json, "steps");
    html_array(json, "step");
    for (size_t i = 0; i < n; i++)
        html_exact(json, NULL, entries[i].step);
    html_close(json, ']');
    html_array(json, "node");
    for (size_t i = 0; i < n; i++)
        html_exact(json, NULL, entries[i].node);
    html_close(json, ']');
    html_array(json, "amount");
    for (size_t i = 0; i < n; i++)
        html_number(json, NULL, (double)entries[i].ticks * unit.of_entry / unit.of_page);
    html_close(json, ']');
    html_exact(json, "grain", grain);
    html_exact(json, "unit", unit.of_page);
    html_close(json, '}');
}

void html_steps(struct html_json *json, const struct report_source *source, const struct timeline_read *line,
                const uint32_t *drawn)
{
    struct steps s = { .source = source, .timeline = line->timeline };
    const struct html_steps_unit unit = { report_ns(source, 1), HTML_US };
    make_entries(&s);
    html_steps_put(json, s.entries, s.n, HTML_STEPS_ENTRIES_MAX, drawn, timeline_n_steps(line->timeline), unit);
    free(s.entries);
}
