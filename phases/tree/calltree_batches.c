/*
 * What each phase counted in each turn of a group, for phases/tree/estimate.h.
 *
 * A method's counts are inclusive, so a record would have to touch all methods on the stack.  Instead each of them
 * remembers where the thread's sums stood: when its outermost call began, or when they were last put into its batches.
 * That is done when the call ends, and for all of them when a turn ends.
 */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

void calltree_batches_free(struct estimate_batches *batches, uint32_t n_groups)
{
    for (uint32_t g = 0; batches != NULL && g < n_groups; g++)
        estimate_batches_close(&batches[g]);
    free(batches);
}

/* A phase's batches, made if need be. */
static struct estimate_batches *batches_of(struct builder *b, const struct thread *t, uint32_t method)
{
    struct calltree *tree = b->tree;
    const struct calltree_groups *groups = &tree->groups;
    struct estimate_batches **at = &tree->outside_batches;
    if (method == SPAN_PART) {
        at = &tree->part_batches[t->known.part];
    } else if (method != SPAN_OUTSIDE) {
        xgrow_zeroed(tree->batches, tree->n_batches, (size_t)method + 1);
        at = &tree->batches[method];
    }
    if (*at == NULL) {
        *at = xcalloc(groups->n, sizeof **at);
        for (uint32_t g = 0; g < groups->n; g++)
            estimate_batches_open(&(*at)[g], groups->first[g + 1] - groups->first[g]);
    }
    return *at;
}

/* Put what a span has counted into its batches. */
static void put(struct builder *b, struct thread *t, uint32_t i)
{
    const struct calltree_groups *groups = &b->tree->groups;
    const uint64_t *sums = t->counters->sums;
    uint64_t *since = t->spans.since + (size_t)i * b->n_columns, counted[TRACE_COLUMNS_MAX];
    if (memcmp(since, sums, b->n_columns * sizeof *sums) == 0)
        return;
    uint32_t method = t->spans.spans[i].method;
    if (method == SPAN_OUTSIDE && t->known.part != VM_PART_APPLICATION) /* it has got its name since */
        return;
    struct estimate_batches *batches = batches_of(b, t, method);
    for (size_t c = 0; c < b->n_columns; c++)
        counted[c] = sums[c] - since[c];
    for (uint32_t g = 0; g < groups->n; g++)
        if (counted[groups->running + g] > 0)
            estimate_batches_add(&batches[g], t->spans.turn[g], counted[groups->running + g],
                                 counted + groups->first[g]);
    memcpy(since, sums, b->n_columns * sizeof *sums);
}

static void push(struct builder *b, struct thread *t, uint32_t method, uint32_t depth)
{
    struct thread_spans *s = &t->spans;
    xgrow(s->spans, s->room, s->n + 1);
    xgrow(s->since, s->since_room, (s->n + 1) * b->n_columns);
    s->spans[s->n] = (struct calls_span){ method, depth };
    memcpy(s->since + s->n * b->n_columns, t->counters->sums, b->n_columns * sizeof *s->since);
    s->n++;
}

static void pop(struct builder *b, struct thread *t)
{
    put(b, t, t->spans.n - 1);
    t->spans.n--;
}

static void begin(struct builder *b, struct thread *t)
{
    need_counters(b, t);
    for (uint32_t g = 0; g < b->tree->groups.n; g++)
        t->spans.turn[g] = ++b->n_turns;
    push(b, t, SPAN_PART, 0);
}

void spans_count(struct builder *b, struct thread *t)
{
    const struct calltree_groups *groups = &b->tree->groups;
    const uint64_t *passed = t->counters->passed;
    if (t->spans.n == 0)
        return;
    uint32_t ended = estimate_turns_take(&t->spans.turns, passed + groups->running, groups->n, passed[groups->enabled]);
    for (uint32_t i = 0; ended != 0 && i < t->spans.n; i++)
        put(b, t, i);
    for (uint32_t g = 0; g < groups->n; g++)
        if ((ended >> g & 1) != 0)
            t->spans.turn[g] = ++b->n_turns;
}

static bool is_open(const struct thread_spans *s, uint32_t method)
{
    for (uint32_t i = s->n; i-- > 0;)
        if (s->spans[i].method == method)
            return true;
    return false;
}

void spans_follow(struct builder *b, struct thread *t, uint32_t entered)
{
    struct thread_spans *s = &t->spans;
    if (s->n == 0)
        begin(b, t);
    if (t->known.part != VM_PART_APPLICATION)
        return;
    while (s->spans[s->n - 1].depth > t->depth || (t->depth > 0 && s->spans[s->n - 1].method == SPAN_OUTSIDE))
        pop(b, t);
    if (t->depth == 0 && s->spans[s->n - 1].method != SPAN_OUTSIDE)
        push(b, t, SPAN_OUTSIDE, 0);
    else if (entered != CALLTREE_NONE && !is_open(s, entered))
        push(b, t, entered, t->depth);
}

void spans_end(struct builder *b, struct thread *t)
{
    while (t->spans.n > 0)
        pop(b, t);
}

void spans_free(struct thread_spans *spans)
{
    free(spans->spans);
    free(spans->since);
}
