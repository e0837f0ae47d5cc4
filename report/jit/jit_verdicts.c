#include "report/jit/jit_verdicts.h"

#include "core/base/xalloc.h"
#include "symbolize/java_names.h"

/* What is known of methods by their numbers: 0: not yet. */
enum { MATCHES_NOT = 1, MATCHES = 2 };

struct jit_matches {
    uint8_t *in, *of; /* owned */
    uint32_t in_room, of_room;
};

void jit_judge_open(struct jit_judge *judge, const struct jit_rules *rules, const struct jit_codes *codes)
{
    *judge = (struct jit_judge){ .rules = rules, .codes = codes };
    judge->verdicts = xcalloc(rules->n + 1, sizeof *judge->verdicts);
    judge->matches = xcalloc(rules->n + 1, sizeof *judge->matches);
}

void jit_judge_free(struct jit_judge *judge)
{
    for (size_t i = 0; judge->matches != NULL && i < judge->rules->n; i++) {
        free(judge->matches[i].in);
        free(judge->matches[i].of);
    }
    free(judge->matches);
    free(judge->verdicts);
}

/* ---- names ---- */

static bool is_named(const char *class_name, const char *name, const char *descriptor, const char *pattern)
{
    struct arena scratch = { NULL, 0 };
    bool is = java_names_is(&scratch, &(struct method_name){ class_name, name, descriptor }, pattern);
    arena_free(&scratch);
    return is;
}

/* "int" or "shop.Point", with or without its package. */
static bool is_class_named(const char *class_name, const char *pattern)
{
    struct arena scratch = { NULL, 0 };
    const char *text = arena_printf(&scratch, "%s.new", pattern);
    bool is = strcmp(class_name, pattern) == 0 || is_named(class_name, "new", "()V", text);
    arena_free(&scratch);
    return is;
}

bool jit_judge_wants(void *context, const struct compiled_method *method)
{
    const struct jit_rules *rules = context;
    for (size_t i = 0; i < rules->n; i++)
        if (is_named(method->class_name, method->name, method->descriptor, rules->all[i].in))
            return true;
    return false;
}

/* Does a method fit a pattern?  What was found is kept.  Where there is no memory it is found again. */
static bool fits(const struct jit_judge *judge, uint8_t **known, uint32_t *room, uint32_t number, const char *pattern)
{
    const struct compiled_method *method = judge->codes->methods[number];
    xgrow_zeroed(*known, *room, (size_t)number + 1);
    if ((*known)[number] == 0)
        (*known)[number] =
            is_named(method->class_name, method->name, method->descriptor, pattern) ? MATCHES : MATCHES_NOT;
    return (*known)[number] == MATCHES;
}

/* One rule, and what is being found out. */
struct judging {
    struct jit_judge *judge;
    const struct jit_rule *rule;
    struct jit_matches *matches;
    struct jit_verdict verdict;
    bool may_be_called; /* by a call that names another class */
    char where[160];    /* the first that makes it fail; "" */
};

static bool is_in(struct judging *j, uint32_t number)
{
    return fits(j->judge, &j->matches->in, &j->matches->in_room, number, j->rule->in);
}

static bool is_of(struct judging *j, uint32_t number)
{
    return fits(j->judge, &j->matches->of, &j->matches->of_room, number, j->rule->of);
}

static void say_where(struct judging *j, const char *what, const struct compiled_method *method,
                      const struct jit_instruction *at)
{
    struct arena scratch = { NULL, 0 };
    const struct method_name name = { method->class_name, method->name, method->descriptor };
    const char *text = java_names_display(&scratch, &name, JAVA_NAMES_SHORT);
    if (j->where[0] == '\0' && at->line > 0)
        snprintf(j->where, sizeof j->where, "%s in %.80s, line %u", what, text, (unsigned)at->line);
    else if (j->where[0] == '\0')
        snprintf(j->where, sizeof j->where, "%s in %.80s, bytecode %d", what, text, (int)at->index);
    arena_free(&scratch);
}

/* ---- sites ---- */

/* Nothing is left there: was it ever reached?  jit_instruction_reached. */
static void count_gone(struct judging *j, int reached, uint32_t *n_reached)
{
    *(reached > 0 ? n_reached : reached == 0 ? &j->verdict.n_not_reached : &j->verdict.n_not_counted) += 1;
}

/* Is the method of the rule inlined at a node's bytecode?  *is_left_out: without a trace. */
static bool is_inlined(struct judging *j, const struct jit_code *code, uint32_t node, int32_t index, bool *is_left_out)
{
    for (uint32_t i = node + 1; i < code->tree.n_nodes; i++)
        if (code->tree.nodes[i].caller == node && code->tree.nodes[i].index == index && is_of(j, code->methods[i])) {
            *is_left_out = code->tree.nodes[i].is_left_out;
            return true;
        }
    return false;
}

/* Does a call name the method of the rule, or was it called there? */
static bool is_call_of(const struct judging *j, const struct jit_instruction *at)
{
    bool is = is_named(at->class_name, at->name, at->descriptor, j->rule->of);
    for (uint32_t i = 0; i < at->n_receivers && !is; i++)
        is = is_named(at->receivers[i].class_name, at->name, at->descriptor, j->rule->of);
    return is;
}

/* How often calls of the method of the rule came there: of a virtual one, with receivers of its class. */
static void count_times(struct judging *j, const struct jit_instruction *at, uint64_t *n)
{
    uint64_t n_of = 0;
    if (!at->is_counted)
        j->verdict.n_untold++;
    for (uint32_t i = 0; at->is_virtual && i < at->n_receivers; i++)
        if (is_named(at->receivers[i].class_name, at->name, at->descriptor, j->rule->of))
            n_of += at->receivers[i].n;
    *n += n_of > 0 ? n_of : at->n_reached;
}

static void judge_call(struct judging *j, const struct jit_code *code, uint32_t node, const struct jit_instruction *at)
{
    const struct compiled_method *method = j->judge->codes->methods[code->methods[node]];
    bool is_left_out;
    if (at->name != NULL && j->rule->plain != NULL && strcmp(at->name, j->rule->plain) != 0)
        return;
    if (is_inlined(j, code, node, at->index, &is_left_out)) {
        ++*(is_left_out ? &j->verdict.n_gone : &j->verdict.n_done);
        count_times(j, at, &j->verdict.n_done_times);
        if (j->rule->is_not)
            say_where(j, is_left_out ? "not called" : "inlined", method, at);
        return;
    }
    if (at->name == NULL)
        return;
    unsigned flags = inline_tree_flags(&code->tree, node, at->index);
    bool is_so = is_call_of(j, at);
    if ((flags & INLINE_CALLS) && !is_so) {
        j->may_be_called |= at->is_virtual;
    } else if (flags & INLINE_CALLS) {
        j->verdict.n_left++;
        count_times(j, at, &j->verdict.n_left_times);
        if (!j->rule->is_not)
            say_where(j, "called", method, at);
    } else if (is_so && !inline_tree_has_inlined(&code->tree, node, at->index)) {
        count_gone(j, flags & INLINE_TRAPS ? 0 : jit_instruction_reached(method, at), &j->verdict.n_gone);
        if (!(flags & INLINE_TRAPS))
            count_times(j, at, &j->verdict.n_done_times);
    }
}

/* A constructor's call comes behind the allocation, and is counted. */
static const struct jit_instruction *constructor_of(const struct compiled_method *method, uint32_t i)
{
    const char *class_name = method->instructions[i].class_name;
    for (uint32_t k = i + 1; k < method->n_instructions; k++) {
        const struct jit_instruction *at = &method->instructions[k];
        if (at->name != NULL && strcmp(at->name, "<init>") == 0 && strcmp(at->class_name, class_name) == 0)
            return at;
    }
    return NULL;
}

/*
 * Of a chain of StringBuilder calls C2 makes one text, without a builder: the text, its array, and a trap where it gets
 * too long, are then of the bytecode that makes the builder (HotSpot's stringopts.cpp).  An array there tells.
 */
static unsigned own_flags(const struct jit_instruction *at, unsigned flags)
{
    if (at->is_array || !(flags & INLINE_MAKES_ARRAY))
        return flags;
    return flags & INLINE_CALLS;
}

static void judge_allocation(struct judging *j, const struct jit_code *code, uint32_t node, uint32_t i)
{
    const struct compiled_method *method = j->judge->codes->methods[code->methods[node]];
    const struct jit_instruction *at = &method->instructions[i], *counted;
    if (at->class_name == NULL || !is_class_named(at->class_name, j->rule->of))
        return;
    unsigned flags = own_flags(at, inline_tree_flags(&code->tree, node, at->index));
    bool is_left = flags & (INLINE_ALLOCATES | INLINE_MAKES_ARRAY);
    counted = constructor_of(method, i);
    counted = counted == NULL ? at : counted;
    if (is_left || !(flags & INLINE_TRAPS))
        count_times(j, counted, is_left ? &j->verdict.n_left_times : &j->verdict.n_done_times);
    if (is_left) {
        j->verdict.n_left++;
        if (!j->rule->is_not)
            say_where(j, "made", method, at);
        return;
    }
    count_gone(j, flags & INLINE_TRAPS ? 0 : jit_instruction_reached(method, counted), &j->verdict.n_done);
}

static void judge_node(struct judging *j, const struct jit_code *code, uint32_t node)
{
    const struct compiled_method *method = j->judge->codes->methods[code->methods[node]];
    for (uint32_t i = 0; i < method->n_instructions; i++)
        if (j->rule->kind == JIT_RULE_INLINED && !method->instructions[i].is_allocation)
            judge_call(j, code, node, &method->instructions[i]);
        else if (j->rule->kind == JIT_RULE_REMOVED && method->instructions[i].is_allocation)
            judge_allocation(j, code, node, i);
}

static void judge_copy(struct judging *j, const struct jit_code *code, uint32_t top)
{
    j->verdict.tier = code->tier;
    j->verdict.number = code->number;
    for (uint32_t node = top; node < code->tree.n_nodes; node++)
        if (inline_tree_is_below(&code->tree, node, top))
            judge_node(j, code, node);
}

/* ---- code ---- */

/* The highest tier of the own code of methods that a rule is of; 0: none has any. */
static uint32_t highest_tier(struct judging *j)
{
    const struct jit_codes *codes = j->judge->codes;
    uint32_t tier = 0;
    for (uint32_t i = 0; i < codes->n; i++)
        if (codes->all[i].is_there && codes->all[i].tier > tier && is_in(j, codes->all[i].method))
            tier = codes->all[i].tier;
    return tier;
}

/* Returns whether there is a copy. */
static bool judge_copies(struct judging *j)
{
    const struct jit_codes *codes = j->judge->codes;
    bool has = false;
    for (uint32_t i = 0; i < codes->n; i++)
        for (uint32_t node = 1; codes->all[i].is_there && node < codes->all[i].tree.n_nodes; node++)
            if (is_in(j, codes->all[i].methods[node])) {
                judge_copy(j, &codes->all[i], node);
                has = true;
            }
    return has;
}

/* Returns false, with the reason, where there is no code to judge. */
static bool judge_code(struct judging *j)
{
    const struct jit_codes *codes = j->judge->codes;
    uint32_t tier = highest_tier(j);
    for (uint32_t i = 0; i < codes->n && (tier == JIT_TIER_C1 || tier == JIT_TIER_C2); i++)
        if (codes->all[i].is_there && codes->all[i].tier == tier && is_in(j, codes->all[i].method))
            judge_copy(j, &codes->all[i], 0);
    if (j->verdict.number != 0 || judge_copies(j))
        return true;
    snprintf(j->verdict.why, sizeof j->verdict.why,
             tier == 0 ? "no method named '%.160s' is compiled"
                       : "'%.160s' is compiled by C1 so far, which still counts its calls",
             j->rule->in);
    return false;
}

static const char *compiler(uint32_t tier)
{
    return tier == JIT_TIER_C2 ? "C2" : "C1";
}

/* "inlined at 2, called at 1 (C2 345)" */
static void say_sites(struct judging *j, const char *done, const char *left)
{
    struct jit_verdict *v = &j->verdict;
    const char *const words[] = { done, left, "nothing left" };
    const uint32_t counts[] = { v->n_done, v->n_left, v->n_gone };
    size_t used = (size_t)snprintf(v->why, sizeof v->why, "%s", j->where);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] > 0 && used < sizeof v->why)
            used += (size_t)snprintf(v->why + used, sizeof v->why - used, "%s%s at %u", used == 0 ? "" : "; ", words[i],
                                     counts[i]);
    if (used < sizeof v->why)
        snprintf(v->why + used, sizeof v->why - used, " (%s %u)", compiler(v->tier), v->number);
}

/* Neither a frame nor a call tells. */
static void say_nothing(struct judging *j, const char *what)
{
    struct jit_verdict *v = &j->verdict;
    char text[128];
    if (v->n_not_counted > 0)
        snprintf(text, sizeof text, "no %s is left, but whether it was ever reached was not counted", what);
    else if (v->n_not_reached > 0)
        snprintf(text, sizeof text, "the %s was not reached before the method was compiled", what);
    else
        snprintf(text, sizeof text, "there is no %s of it", what);
    snprintf(v->why, sizeof v->why, "%s (%s %u)", text, compiler(v->tier), v->number);
}

/* By how often the JVM came there. */
static void judge_part(struct judging *j, const char *done, const char *what)
{
    struct jit_verdict *v = &j->verdict;
    uint64_t n = v->n_done_times + v->n_left_times;
    if (v->n_untold > 0 || n == 0) {
        snprintf(v->why, sizeof v->why, "at %u of %u sites the JVM has not counted %s (%s %u)",
                 n == 0 ? v->n_done + v->n_gone + v->n_left : v->n_untold, v->n_done + v->n_gone + v->n_left, what,
                 compiler(v->tier), v->number);
        return;
    }
    double percent = 100 * (double)v->n_done_times / (double)n;
    bool is_so = percent >= (double)j->rule->percent && percent <= (double)j->rule->most_percent;
    v->result = is_so ? JIT_HOLDS : JIT_BROKEN;
    snprintf(v->why, sizeof v->why, "%s%s%s in %.1f %% of %" PRIu64 " %s (%s %u)", j->where,
             j->where[0] == '\0' ? "" : "; ", done, percent, n, what, compiler(v->tier), v->number);
}

static void judge_sites(struct judging *j)
{
    struct jit_verdict *v = &j->verdict;
    bool is_call = j->rule->kind == JIT_RULE_INLINED;
    if (!judge_code(j))
        return;
    if (v->n_done + v->n_gone == 0 && v->n_left == 0 && j->may_be_called) {
        v->result = j->rule->is_not ? JIT_HOLDS : JIT_UNKNOWN;
        snprintf(v->why, sizeof v->why, "a call that names another class may reach it (%s %u)", compiler(v->tier),
                 v->number);
        return;
    }
    if (v->n_done + v->n_gone + v->n_left == 0) {
        say_nothing(j, is_call ? "call" : "allocation");
        return;
    }
    if (j->rule->most_percent > 0) {
        judge_part(j, is_call ? "inlined" : "removed", is_call ? "calls" : "objects");
        return;
    }
    bool is_so = j->rule->is_not ? v->n_done + v->n_gone == 0 : v->n_left == 0;
    v->result = is_so ? JIT_HOLDS : JIT_BROKEN;
    say_sites(j, is_call ? "inlined" : "removed", is_call ? "called" : "made");
}

static void judge_compiled(struct judging *j)
{
    struct jit_verdict *v = &j->verdict;
    bool is_so;
    v->tier = highest_tier(j);
    is_so = j->rule->tier == 0 ? v->tier != 0 : (v->tier == JIT_TIER_C2) == (j->rule->tier == JIT_TIER_C2) && v->tier;
    v->result = is_so != j->rule->is_not ? JIT_HOLDS : JIT_BROKEN;
    if (v->tier == 0)
        snprintf(v->why, sizeof v->why, "no method named '%.160s' has code of its own", j->rule->in);
    else
        snprintf(v->why, sizeof v->why, "compiled by %s, tier %u", compiler(v->tier), v->tier);
}

/* "; traps: 3 class_check, 1 null_check" */
static void say_traps(struct judging *j, const struct vm_traps *traps)
{
    struct jit_verdict *v = &j->verdict;
    const char *before = "; traps:";
    for (uint32_t i = 0; traps->are_known && i < VM_TRAP_REASONS; i++) {
        const char *reason = traps->n[i] == 0 ? NULL : vm_trap_reason(j->judge->codes->vm, i);
        size_t n = strlen(v->why);
        if (traps->n[i] == 0)
            continue;
        snprintf(v->why + n, sizeof v->why - n, "%s %" PRIu32 " %s", before, traps->n[i],
                 reason == NULL ? "of another reason" : reason);
        before = ",";
    }
}

static void judge_deoptimized(struct judging *j)
{
    const struct jit_codes *codes = j->judge->codes;
    struct jit_verdict *v = &j->verdict;
    struct vm_traps traps = { .are_known = false };
    bool is_known = false;
    uint64_t n = 0;
    for (uint32_t i = 0; i < codes->n_methods; i++)
        if (codes->methods[i]->counts.is_known && is_in(j, i)) {
            const struct vm_code_counts *counts = &codes->methods[i]->counts;
            is_known = true;
            n += counts->n_discarded;
            traps.are_known |= counts->traps.are_known;
            for (uint32_t reason = 0; reason < VM_TRAP_REASONS; reason++)
                traps.n[reason] += counts->traps.n[reason];
        }
    if (!is_known) {
        snprintf(v->why, sizeof v->why, "the JVM tells no count of '%.160s'", j->rule->in);
        return;
    }
    v->result = n <= j->rule->most ? JIT_HOLDS : JIT_BROKEN;
    snprintf(v->why, sizeof v->why, "%" PRIu64 " times since the JVM's start", n);
    say_traps(j, &traps);
}

void jit_judge_look(struct jit_judge *judge)
{
    for (size_t i = 0; i < judge->rules->n; i++) {
        struct judging j = { .judge = judge, .rule = &judge->rules->all[i], .matches = &judge->matches[i] };
        if (j.rule->kind == JIT_RULE_COMPILED)
            judge_compiled(&j);
        else if (j.rule->kind == JIT_RULE_DEOPTIMIZED)
            judge_deoptimized(&j);
        else
            judge_sites(&j);
        if (j.verdict.result != JIT_UNKNOWN || judge->verdicts[i].result == JIT_UNKNOWN)
            judge->verdicts[i] = j.verdict;
    }
}

void jit_judge_count(const struct jit_judge *judge, size_t *n_broken, size_t *n_unknown)
{
    *n_broken = *n_unknown = 0;
    for (size_t i = 0; i < judge->rules->n; i++) {
        *n_broken += judge->verdicts[i].result == JIT_BROKEN;
        *n_unknown += judge->verdicts[i].result == JIT_UNKNOWN;
    }
}
