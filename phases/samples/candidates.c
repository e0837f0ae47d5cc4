#include "phases/samples/candidates.h"

#include "core/base/map.h"
#include "core/base/xalloc.h"

#define Z_95         1.959964
#define TRUNK_MAX    64  /* frames that are kept of what is outside in all of a thread's samples */
#define SELF_SHARE   0.9 /* of a method's time: then its callees say nothing about the length of its calls */
#define SELF_SURELY  5   /* samples that make such a share no accident */
#define WITHIN_SHARE 0.9 /* of its samples: then a method is called in calls that are too short */
#define WITHIN_LEAST 2   /* such samples */
#define NO_METHOD    CANDIDATES_NONE

struct seen_method {
    struct method_name names; /* the arena's */
    uint32_t code_bytes, flags;
    uint64_t weight_ns, self_ns, outer_ns; /* outer: of the threads that were always in it */
    uint64_t n_samples, n_calls_least;
    uint64_t latest;             /* sample that it was counted in */
    bool is_too_short;           /* known from elsewhere */
    uint64_t n_judged, n_within; /* samples since there are such methods; of them in calls of those */
};

struct seen_thread {
    uint64_t weight_ns;
    bool has_trunk;
    uint32_t n_trunk, trunk[TRUNK_MAX]; /* methods outside in all its samples, outermost first */
};

struct candidates {
    struct arena arena;
    struct map by_name;          /* of methods */
    struct seen_method *methods; /* owned */
    uint32_t n_methods, n_room;
    struct seen_thread **threads; /* owned, by number; NULL: not seen */
    uint32_t threads_room;
    uint64_t n_samples;
    bool has_too_short;
    double weight_ns, weight_squares;
};

/* ---- methods ---- */

static const char *keep(struct candidates *c, const char *text)
{
    return arena_text(&c->arena, text, strlen(text));
}

uint32_t candidates_method(struct candidates *c, const char *class_name, const char *name, const char *descriptor)
{
    char *key = xasprintf("%s;%s;%s", class_name, name, descriptor); /* a class and a name hold no ';' */
    const uint32_t *known = map_get(&c->by_name, key, strlen(key));
    uint32_t i = known == NULL ? c->n_methods : *known;
    if (known == NULL) {
        map_put(&c->by_name, key, strlen(key), i);
        *xpush(c->methods, c->n_room, c->n_methods) =
            (struct seen_method){ .names = { keep(c, class_name), keep(c, name), keep(c, descriptor) } };
    }
    free(key);
    return i;
}

void candidates_describe(struct candidates *c, uint32_t method, uint32_t code_bytes, uint32_t flags)
{
    c->methods[method].code_bytes = code_bytes;
    c->methods[method].flags = flags;
}

void candidates_too_short(struct candidates *c, const char *class_name, const char *name, const char *descriptor)
{
    uint32_t method = candidates_method(c, class_name, name, descriptor);
    c->methods[method].is_too_short = c->has_too_short = true;
}

/* ---- stacks ---- */

static struct seen_thread *thread_of(struct candidates *c, uint32_t number)
{
    xgrow_zeroed(c->threads, c->threads_room, (size_t)number + 1);
    if (c->threads[number] == NULL)
        c->threads[number] = xcalloc(1, sizeof **c->threads);
    return c->threads[number];
}

/* What is outside in this stack and in all before it. */
static void narrow_trunk(struct seen_thread *thread, const uint32_t *methods, uint32_t n)
{
    uint32_t most = thread->has_trunk ? thread->n_trunk : TRUNK_MAX, i = 0;
    for (; i < n && i < most; i++) {
        if (thread->has_trunk && thread->trunk[i] != methods[i])
            break;
        thread->trunk[i] = methods[i];
    }
    thread->n_trunk = i;
    thread->has_trunk = true;
}

/* Recursion counts once: as its outermost frame.  is_within: a call that is too short. */
static void count(struct candidates *c, uint32_t method, uint64_t cpu_ns, bool is_new_call, bool is_within)
{
    struct seen_method *seen = &c->methods[method];
    if (seen->latest == c->n_samples)
        return;
    seen->latest = c->n_samples;
    seen->n_samples++;
    seen->weight_ns += cpu_ns;
    seen->n_calls_least += is_new_call || seen->n_calls_least == 0;
    seen->n_judged += c->has_too_short;
    seen->n_within += is_within;
}

void candidates_stack(struct candidates *c, const struct sample_stack *stack)
{
    const uint32_t *methods = stack->methods;
    struct seen_thread *thread = thread_of(c, stack->thread);
    c->n_samples++;
    c->weight_ns += (double)stack->cpu_ns;
    c->weight_squares += (double)stack->cpu_ns * (double)stack->cpu_ns;
    thread->weight_ns += stack->cpu_ns;
    if (!stack->is_cut)
        narrow_trunk(thread, methods, stack->n_frames);
    uint32_t n_trunk = stack->is_cut ? thread->n_trunk : 0;
    for (uint32_t i = 0; i < n_trunk; i++)
        count(c, thread->trunk[i], stack->cpu_ns, false, false);
    bool is_within = false;
    for (uint32_t i = 0; i < stack->n_frames; i++) {
        count(c, methods[i], stack->cpu_ns, !stack->is_cut && i >= stack->n_same, is_within);
        is_within = is_within || c->methods[methods[i]].is_too_short;
    }
    if (stack->n_frames > 0 && !stack->is_waiting)
        c->methods[methods[stack->n_frames - 1]].self_ns += stack->cpu_ns;
}

/* ---- from all of them ---- */

struct candidates *candidates_open(void)
{
    struct candidates *c = xcalloc(1, sizeof *c);
    c->by_name.arena = &c->arena;
    return c;
}

/* The weight of the threads that were always in a method is the method's: so far. */
static void weigh_trunks(struct candidates *c)
{
    for (uint32_t i = 0; i < c->n_methods; i++)
        c->methods[i].outer_ns = 0;
    for (uint32_t i = 0; i < c->threads_room; i++) {
        struct seen_thread *thread = c->threads[i];
        for (uint32_t k = 0; thread != NULL && k < thread->n_trunk; k++) {
            bool again = false; /* recursion */
            for (uint32_t j = 0; j < k; j++)
                again = again || thread->trunk[j] == thread->trunk[k];
            if (!again)
                c->methods[thread->trunk[k]].outer_ns += thread->weight_ns;
        }
    }
}

void candidates_close(struct candidates *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->threads_room; i++)
        free(c->threads[i]);
    free(c->threads);
    free(c->methods);
    map_free(&c->by_name);
    arena_free(&c->arena);
    free(c);
}

uint64_t candidates_n_samples(const struct candidates *c)
{
    return c->n_samples;
}

/* ---- the choice ---- */

static void set_interval(struct candidate *candidate, double n)
{
    double p = candidate->share, z2 = Z_95 * Z_95, scale = 1 / (1 + z2 / n);
    double middle = (p + z2 / (2 * n)) * scale;
    double half = Z_95 * sqrt((p > 1 ? 0 : p * (1 - p)) / n + z2 / (4 * n * n)) * scale;
    candidate->share_low = middle > half ? middle - half : 0;
    candidate->share_high = middle + half < 1 ? middle + half : 1;
}

/*
 * Straight code without calls ends within its few bytes.  Where it calls something that takes (nearly) none of the
 * time, the same holds.
 */
static bool is_short(const struct candidates *c, const struct candidates_criteria *criteria,
                     const struct seen_method *seen, const struct candidate *candidate)
{
    if (seen->n_samples >= SELF_SURELY && (seen->flags & SAMPLE_HAS_LOOP) == 0 &&
        (double)seen->self_ns >= SELF_SHARE * (double)seen->weight_ns)
        return true;
    return candidate->per_call_most_ns < criteria->grain * c->weight_ns;
}

static bool is_within(const struct seen_method *seen)
{
    return seen->n_within >= WITHIN_LEAST && (double)seen->n_within >= WITHIN_SHARE * (double)seen->n_judged;
}

static enum candidate_reason judge(const struct candidates *c, const struct candidates_criteria *criteria,
                                   const struct seen_method *seen, const struct candidate *candidate)
{
    if ((seen->flags & SAMPLE_IS_WANTED) == 0)
        return CANDIDATE_UNWANTED;
    if ((seen->flags & (SAMPLE_HAS_LOOP | SAMPLE_HAS_CALLS)) == 0)
        return CANDIDATE_TINY;
    if (is_short(c, criteria, seen, candidate))
        return CANDIDATE_SHORT;
    if (is_within(seen))
        return CANDIDATE_WITHIN;
    if (candidate->share_high < criteria->weight)
        return CANDIDATE_LIGHT;
    if (seen->n_samples < criteria->min_samples)
        return CANDIDATE_RARE;
    if (candidate->share_low < criteria->weight)
        return CANDIDATE_POSSIBLE;
    return (double)seen->outer_ns >= criteria->weight * c->weight_ns ? CANDIDATE_OUTER : CANDIDATE_HEAVY;
}

static void describe(const struct candidates *c, const struct candidates_criteria *criteria,
                     const struct seen_method *seen, double n_effective, struct candidate *out)
{
    *out = (struct candidate){ .names = seen->names,
                               .share = (double)seen->weight_ns / c->weight_ns,
                               .self_share = (double)seen->self_ns / c->weight_ns,
                               .code_bytes = seen->code_bytes,
                               .n_samples = seen->n_samples,
                               .n_calls_least = seen->n_calls_least,
                               .per_call_most_ns = (double)seen->weight_ns / (double)seen->n_calls_least };
    set_interval(out, n_effective);
    out->reason = judge(c, criteria, seen, out);
}

/* Candidates first; the largest share first; the same order every time. */
static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int rank = CANDIDATE_IS_ONE(y->reason) - CANDIDATE_IS_ONE(x->reason);
    if (rank != 0)
        return rank;
    if (x->share > y->share || x->share < y->share)
        return x->share < y->share ? 1 : -1;
    return method_name_compare(&x->names, &y->names);
}

static void cap(struct candidate_list *list, size_t most)
{
    while (list->n < list->n_all && CANDIDATE_IS_ONE(list->all[list->n].reason)) {
        if (list->n == most)
            break;
        list->n++;
    }
    for (size_t i = list->n; i < list->n_all && CANDIDATE_IS_ONE(list->all[i].reason); i++)
        list->all[i].reason = CANDIDATE_SURPLUS;
    for (size_t i = 0; i < list->n_all; i++)
        list->n_reasons[list->all[i].reason]++;
}

int candidates_choose(struct candidates *c, const struct candidates_criteria *criteria, struct arena *arena,
                      struct candidate_list *list, struct err *err)
{
    memset(list, 0, sizeof *list);
    weigh_trunks(c);
    if (c->weight_ns <= 0) {
        err_set(err, "no thread of the JVM used the CPU while stacks were sampled");
        return err_next(err, "sample when the program works, or longer");
    }
    list->all = arena_alloc(arena, (c->n_methods + 1) * sizeof *list->all);
    list->n_effective = c->weight_ns * c->weight_ns / c->weight_squares;
    for (uint32_t i = 0; i < c->n_methods; i++)
        if (c->methods[i].n_samples > 0)
            describe(c, criteria, &c->methods[i], list->n_effective, &list->all[list->n_all++]);
    qsort(list->all, list->n_all, sizeof *list->all, compare);
    cap(list, criteria->most);
    return 0;
}
