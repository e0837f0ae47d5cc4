/*
 * What each phase counted in each turn of a group, for phases/tree/estimate.h.
 *
 * A method's counts are inclusive, so a record would have to touch all methods on the stack.  Instead each of them
 * remembers where the thread's sums stood: when its outermost call began, or when they were last put into its batches.
 * That is done when the call ends, and for all of them when a turn ends.
 */
#include "phases/tree/calltree_internal.h"

#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

static int no_room(struct err *err)
{
    return err_set(err, "out of memory for the counts of the phases");
}

static struct estimate_batches *new_batches(const struct calltree_groups *groups)
{
    struct estimate_batches *batches = calloc(groups->n, sizeof *batches);
    for (uint32_t g = 0; batches != NULL && g < groups->n; g++) {
        if (estimate_batches_open(&batches[g], groups->first[g + 1] - groups->first[g]))
            continue;
        calltree_batches_free(batches, groups->n);
        return NULL;
    }
    return batches;
}

void calltree_batches_free(struct estimate_batches *batches, uint32_t n_groups)
{
    for (uint32_t g = 0; batches != NULL && g < n_groups; g++)
        estimate_batches_close(&batches[g]);
    free(batches);
}

/* Where a method's batches are.  NULL: no memory. */
static struct estimate_batches **of_method(struct calltree *tree, uint32_t method)
{
    return vec_reserve_zeroed(tree->batches, tree->n_batches, (size_t)method + 1) < 0 ? NULL : &tree->batches[method];
}

static struct estimate_batches *batches_of(struct builder *b, const struct thread *t, uint32_t method)
{
    struct calltree *tree = b->tree;
    struct estimate_batches **at = method == SPAN_PART      ? &tree->part_batches[t->known.part]
                                   : method == SPAN_OUTSIDE ? &tree->outside_batches
                                                            : of_method(tree, method);
    if (at != NULL && *at == NULL)
        *at = new_batches(&tree->groups);
    return at == NULL ? NULL : *at;
}

/* Put what a span has counted into its batches. */
static int put(struct builder *b, struct thread *t, uint32_t i, struct err *err)
{
    const struct calltree_groups *groups = &b->tree->groups;
    const uint64_t *sums = t->counters->sums;
    uint64_t *since = t->spans.since + (size_t)i * b->n_columns, counted[TRACE_COLUMNS_MAX];
    if (memcmp(since, sums, b->n_columns * sizeof *sums) == 0)
        return 0;
    uint32_t method = t->spans.spans[i].method;
    if (method == SPAN_OUTSIDE && t->known.part != VM_PART_APPLICATION) /* it has got its name since */
        return 0;
    struct estimate_batches *batches = batches_of(b, t, method);
    if (batches == NULL)
        return no_room(err);
    for (size_t c = 0; c < b->n_columns; c++)
        counted[c] = sums[c] - since[c];
    for (uint32_t g = 0; g < groups->n; g++)
        if (counted[groups->running + g] > 0)
            estimate_batches_add(&batches[g], t->spans.turn[g], counted[groups->running + g],
                                 counted + groups->first[g]);
    memcpy(since, sums, b->n_columns * sizeof *sums);
    return 0;
}

static int push(struct builder *b, struct thread *t, uint32_t method, uint32_t depth, struct err *err)
{
    struct thread_spans *s = &t->spans;
    if (s->n == s->room) {
        uint32_t room = s->room == 0 ? 16 : s->room * 2;
        struct calls_span *spans = realloc(s->spans, room * sizeof *spans);
        if (spans == NULL)
            return no_room(err);
        s->spans = spans;
        uint64_t *since = realloc(s->since, room * b->n_columns * sizeof *since);
        if (since == NULL)
            return no_room(err);
        s->since = since;
        s->room = room;
    }
    s->spans[s->n] = (struct calls_span){ method, depth };
    memcpy(s->since + s->n * b->n_columns, t->counters->sums, b->n_columns * sizeof *s->since);
    s->n++;
    return 0;
}

static int pop(struct builder *b, struct thread *t, struct err *err)
{
    int rc = put(b, t, t->spans.n - 1, err);
    t->spans.n--;
    return rc;
}

static int begin(struct builder *b, struct thread *t, struct err *err)
{
    if (t->counters == NULL && (t->counters = thread_counters_new(b->n_columns)) == NULL)
        return no_room(err);
    for (uint32_t g = 0; g < b->tree->groups.n; g++)
        t->spans.turn[g] = ++b->n_turns;
    return push(b, t, SPAN_PART, 0, err);
}

int spans_count(struct builder *b, struct thread *t, struct err *err)
{
    const struct calltree_groups *groups = &b->tree->groups;
    const uint64_t *passed = t->counters->passed;
    if (t->spans.n == 0)
        return 0;
    uint32_t ended = estimate_turns_take(&t->spans.turns, passed + groups->running, groups->n, passed[groups->enabled]);
    for (uint32_t i = 0; ended != 0 && i < t->spans.n; i++)
        if (put(b, t, i, err) < 0)
            return -1;
    for (uint32_t g = 0; g < groups->n; g++)
        if ((ended >> g & 1) != 0)
            t->spans.turn[g] = ++b->n_turns;
    return 0;
}

static bool is_open(const struct thread_spans *s, uint32_t method)
{
    for (uint32_t i = s->n; i-- > 0;)
        if (s->spans[i].method == method)
            return true;
    return false;
}

int spans_follow(struct builder *b, struct thread *t, uint32_t entered, struct err *err)
{
    struct thread_spans *s = &t->spans;
    if (s->n == 0 && begin(b, t, err) < 0)
        return -1;
    if (t->known.part != VM_PART_APPLICATION)
        return 0;
    while (s->spans[s->n - 1].depth > t->depth || (t->depth > 0 && s->spans[s->n - 1].method == SPAN_OUTSIDE))
        if (pop(b, t, err) < 0)
            return -1;
    if (t->depth == 0 && s->spans[s->n - 1].method != SPAN_OUTSIDE)
        return push(b, t, SPAN_OUTSIDE, 0, err);
    return entered == CALLTREE_NONE || is_open(s, entered) ? 0 : push(b, t, entered, t->depth, err);
}

int spans_end(struct builder *b, struct thread *t, struct err *err)
{
    while (t->spans.n > 0)
        if (pop(b, t, err) < 0)
            return -1;
    return 0;
}

void spans_free(struct thread_spans *spans)
{
    free(spans->spans);
    free(spans->since);
}
