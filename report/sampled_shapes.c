#include "report/sampled_parts.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "report/sampled_tree.h"

enum { BEFORE, SINCE, TIMES };

/* A call of a method in another one, by their numbers in the tree: samples with the callee innermost. */
struct sampled_call {
    uint32_t callee, caller;
    int32_t index; /* of the caller's bytecode */
    uint64_t n_inlined[TIMES], n_called[TIMES];
};

struct sampled_shapes {
    struct jit_shape *of; /* by method of the tree; the arena's */
    uint32_t n;
};

struct shape_search {
    const struct report_source *source; /* borrowed */
    uint32_t *method_of;                /* owned; by number in the samples' profile: the tree's, or CALLTREE_NONE */
    uint64_t *since_ticks;              /* owned; by method of the tree: when it got probes; UINT64_MAX: it got none */
    uint32_t n_profile, n_methods;
    struct sampled_call *calls; /* owned */
    uint32_t n_calls, room;
    struct hash_set by_call;
};

static void prepare(struct shape_search *f)
{
    const struct sampled_tree *sampled = f->source->sampled;
    const struct calltree *tree = sampled->measured;
    f->n_methods = sampled->first;
    f->n_profile = trace_n_sampled_methods(f->source->reader);
    f->method_of = xmalloc(((size_t)f->n_profile + 1) * sizeof *f->method_of);
    f->since_ticks = xmalloc(((size_t)f->n_methods + sampled->n + 1) * sizeof *f->since_ticks);
    memset(f->method_of, 0xff, ((size_t)f->n_profile + 1) * sizeof *f->method_of);
    memset(f->since_ticks, 0xff, ((size_t)f->n_methods + sampled->n + 1) * sizeof *f->since_ticks);
    for (uint32_t i = 0; i < f->n_methods + sampled->n; i++)
        if (sampled->number_of[i] < f->n_profile)
            f->method_of[sampled->number_of[i]] = i;
    for (uint32_t i = tree->n_flags; i-- > 0;) /* by method and time: the first stays */
        if (tree->flags[i].kind == CALLTREE_FLAG_ON && tree->flags[i].method < f->n_methods)
            f->since_ticks[tree->flags[i].method] = tree->flags[i].ticks;
}

/* The tree's number of a sampled method. */
static uint32_t method_of(const struct shape_search *f, uint32_t sampled_method)
{
    uint32_t number = trace_samples_method(f->source->sampled->samples, sampled_method);
    return number < f->n_profile ? f->method_of[number] : CALLTREE_NONE;
}

static struct sampled_call *call_of(struct shape_search *f, uint32_t callee, uint32_t caller, int32_t index)
{
    const uint32_t key[3] = { callee, caller, (uint32_t)index };
    struct hash_slot *slot = xhash_put(&f->by_call, hash_text(HASH_START, (const char *)key, sizeof key) | 1);
    xgrow(f->calls, f->room, f->n_calls + 1);
    if (slot->value == 0) {
        f->calls[f->n_calls] = (struct sampled_call){ .callee = callee, .caller = caller, .index = index };
        slot->value = ++f->n_calls;
    }
    return &f->calls[slot->value - 1];
}

static void add_sample(struct shape_search *f, const struct trace_kept_sample *sample)
{
    const struct trace_reader *reader = f->source->reader;
    const struct trace_context *at = sample->context == 0 ? NULL : trace_context(reader, sample->context);
    if (at == NULL || at->parent == 0 || sample->is_waiting ||
        (sample->frame != TRACE_FRAME_INLINED && sample->frame != TRACE_FRAME_COMPILED))
        return;
    uint32_t callee = method_of(f, at->method), caller = method_of(f, trace_context(reader, at->parent)->method);
    if (callee == CALLTREE_NONE || caller == CALLTREE_NONE)
        return;
    uint64_t of_callee = f->since_ticks[callee], of_caller = f->since_ticks[caller];
    uint64_t since = of_callee < of_caller ? of_callee : of_caller;
    if (since == UINT64_MAX) /* neither ever got probes */
        return;
    struct sampled_call *call = call_of(f, callee, caller, at->call_site);
    int when = sample->ticks < since ? BEFORE : SINCE;
    *(sample->frame == TRACE_FRAME_INLINED ? &call->n_inlined[when] : &call->n_called[when]) += sample->n;
}

/* The part of samples in which it was inlined; negative: there are too few. */
static double inlined(const struct sampled_call *call, int when)
{
    uint64_t n = call->n_inlined[when] + call->n_called[when];
    return n < SAMPLED_SHAPES_LEAST ? -1 : (double)call->n_inlined[when] / (double)n;
}

/* Returns whether any call was lost. */
static bool judge(const struct shape_search *f, struct jit_shape *of)
{
    bool any = false;
    for (uint32_t i = 0; i < f->n_calls; i++) {
        const struct sampled_call *call = &f->calls[i];
        double before = inlined(call, BEFORE), since = inlined(call, SINCE);
        if (before < SAMPLED_SHAPES_MOST || since < 0)
            continue;
        bool is_lost = since <= SAMPLED_SHAPES_FEW;
        any = any || is_lost;
        of[call->callee].n_callers++;
        of[call->callee].n_callers_lost += is_lost;
        of[call->callee].marks |= is_lost ? JIT_SHAPE_NOT_INLINED : 0u;
        of[call->caller].n_callees++;
        of[call->caller].n_callees_lost += is_lost;
        of[call->caller].marks |= is_lost ? JIT_SHAPE_CALLS_OUT : 0u;
    }
    return any;
}

static void find_calls(struct shape_search *f, const struct sampled_shapes **shapes)
{
    const struct trace_samples *samples = f->source->sampled->samples;
    struct arena *arena = f->source->arena;
    uint32_t n = f->n_methods + f->source->sampled->n;
    for (size_t i = 0; i < samples->n_kept; i++)
        add_sample(f, &samples->kept[i]);
    struct sampled_shapes *found = arena_alloc(arena, sizeof *found);
    struct jit_shape *of = arena_alloc(arena, ((size_t)n + 1) * sizeof *of);
    *found = (struct sampled_shapes){ of, n };
    *shapes = judge(f, of) ? found : NULL;
}

void sampled_shapes_find(const struct report_source *source, const struct sampled_shapes **shapes)
{
    struct shape_search f = { .source = source };
    *shapes = NULL;
    if (source->sampled == NULL || source->sampled->measured->n_flags == 0)
        return;
    prepare(&f);
    find_calls(&f, shapes);
    free(f.method_of);
    free(f.since_ticks);
    free(f.calls);
    hash_free(&f.by_call);
}

bool sampled_shapes_of(const struct sampled_shapes *shapes, uint32_t method, struct jit_shape *shape)
{
    if (shapes == NULL || method >= shapes->n)
        return false;
    *shape = shapes->of[method];
    return true;
}
