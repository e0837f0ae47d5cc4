/* What becomes of calls in compiled code: each stack goes on in it from its outermost call site inwards. */
#include "core/base/xalloc.h"
#include "report/jit/call_counts.h"

#include <stdlib.h>
#include <string.h>

/* The code that executes a method of a stack. */
struct place {
    const struct jit_code *code; /* NULL: none, it is interpreted */
    uint32_t node;
    bool is_bare; /* it is inlined there, and has no point with debug information: nor has what it calls */
};

struct call_judging {
    const struct call_counts *counts;
    const struct jit_codes *codes;
    const bool *are_there;
    uint32_t n_there;
    uint32_t *methods; /* owned: of the counts, by method of the codes; or CALL_NO_METHOD */
    uint32_t *best;    /* owned: a piece of code, plus 1, by method of the counts; 0: none */
};

/* ---- the code of a method ---- */

/* Of those that are there now, of the highest tier, entered at the beginning, the latest. */
static bool is_better(const struct call_judging *j, uint32_t a, uint32_t b)
{
    const struct jit_code *x = &j->codes->all[a], *y = &j->codes->all[b];
    bool is_there = a < j->n_there && j->are_there[a], other = b < j->n_there && j->are_there[b];
    if (is_there != other)
        return is_there;
    if ((x->entry_index < 0) != (y->entry_index < 0))
        return x->entry_index < 0;
    if (x->tier != y->tier) /* 1 is for good */
        return x->tier == JIT_TIER_C2 || (y->tier != JIT_TIER_C2 && x->tier == JIT_TIER_C1);
    return x->number > y->number;
}

static void find_code(struct call_judging *j)
{
    const struct jit_codes *codes = j->codes;
    j->methods = xcalloc((size_t)codes->n_methods + 1, sizeof *j->methods);
    j->best = xcalloc((size_t)j->counts->n_methods + 1, sizeof *j->best);
    for (uint32_t i = 0; i < codes->n_methods; i++) {
        const struct compiled_method *method = codes->methods[i];
        j->methods[i] = call_counts_method(j->counts, method->class_name, method->name, method->descriptor);
    }
    for (uint32_t i = 0; i < codes->n; i++) {
        uint32_t method = j->methods[codes->all[i].method];
        if (method != CALL_NO_METHOD && codes->all[i].tree.n_nodes > 0 &&
            (j->best[method] == 0 || is_better(j, i, j->best[method] - 1)))
            j->best[method] = i + 1;
    }
}

/* ---- a call in it ---- */

/* A probe's, which the program does not have. */
static bool is_of_probe(const struct jit_instruction *at)
{
    return at->class_name != NULL &&
           (strcmp(at->class_name, "java/lang/MmprofProbe") == 0 || strcmp(at->class_name, "mmprof/Probe") == 0);
}

/* Which of a method's calls; NULL: it has not so many, as it has other code in this run. */
static const struct jit_instruction *call_at(const struct compiled_method *method, int32_t ordinal)
{
    for (uint32_t i = 0; i < method->n_instructions; i++) {
        const struct jit_instruction *at = &method->instructions[i];
        if (!at->is_allocation && !is_of_probe(at) && ordinal-- == 0)
            return at;
    }
    return NULL;
}

/* Where a method is inlined at a node's bytecode; INLINE_ROOT: nowhere. */
static uint32_t inlined_at(const struct call_judging *j, const struct place *place, int32_t index, uint32_t called)
{
    const struct inline_tree *tree = &place->code->tree;
    for (uint32_t i = place->node + 1; i < tree->n_nodes; i++)
        if (tree->nodes[i].caller == place->node && tree->nodes[i].index == index &&
            j->methods[place->code->methods[i]] == called)
            return i;
    return INLINE_ROOT;
}

/* Where no node of it is. */
static enum call_fate fate_without_node(const struct place *place, const struct compiled_method *method,
                                        const struct jit_instruction *at)
{
    unsigned flags = inline_tree_flags(&place->code->tree, place->node, at->index);
    if (flags & INLINE_CALLS)
        return CALL_IS_LEFT;
    if (flags & INLINE_TRAPS || jit_instruction_reached(method, at) == 0)
        return CALL_LEAVES_CODE;
    /* Code that is entered in a loop has only what is reached from there. */
    return place->code->entry_index >= 0 && place->node == 0 ? CALL_INTERPRETED : CALL_INLINED;
}

/* Of a call at a site of what is executed at a place, which becomes that of what is called. */
static enum call_fate take_step(const struct call_judging *j, const struct call_site_counts *site, uint32_t called,
                                struct place *place)
{
    if (place->is_bare)
        return CALL_INLINED;
    if (place->code == NULL)
        return CALL_INTERPRETED;
    const struct compiled_method *method = j->codes->methods[place->code->methods[place->node]];
    const struct jit_instruction *at = call_at(method, site->ordinal);
    uint32_t node = at == NULL ? INLINE_ROOT : inlined_at(j, place, at->index, called);
    enum call_fate fate = node != INLINE_ROOT ? CALL_INLINED
                          : at == NULL        ? CALL_INTERPRETED
                                              : fate_without_node(place, method, at);
    place->is_bare = fate == CALL_INLINED && node == INLINE_ROOT;
    place->node = node;
    if (fate != CALL_INLINED)
        place->code = NULL;
    return fate;
}

/* The outermost method is taken for one that is not inlined. */
static enum call_fate judge_stack(const struct call_judging *j, const struct call_stack *stack)
{
    const struct call_counts *counts = j->counts;
    const uint32_t *sites = &counts->numbers[stack->first];
    struct place place = { .code = NULL };
    enum call_fate fate = CALL_INTERPRETED;
    for (uint32_t i = stack->n_sites; i-- > 0;) {
        const struct call_site_counts *site = &counts->sites[sites[i]];
        uint32_t called = i == 0 ? stack->called : counts->sites[sites[i - 1]].method;
        if (fate != CALL_INLINED) {
            uint32_t best = j->best[site->method];
            place = (struct place){ .code = best == 0 ? NULL : &j->codes->all[best - 1] };
        }
        fate = take_step(j, site, called, &place);
    }
    return fate;
}

void call_counts_judge(struct call_counts *counts, enum call_run run, const struct jit_codes *codes,
                       const bool *are_there, uint32_t n)
{
    struct call_judging j = { .counts = counts, .codes = codes, .are_there = are_there, .n_there = n };
    find_code(&j);
    for (uint32_t i = 0; i < counts->n_stacks; i++) {
        const struct call_stack *stack = &counts->stacks[i];
        counts->sites[counts->numbers[stack->first]].n_of[run][judge_stack(&j, stack)] += stack->n;
    }
    free(j.methods);
    free(j.best);
}
