/* Rules of what the JIT compilers make of a program, and what compiled code says to them. */
#include "report/jit/jit_verdicts.h"

#include "test/unit/tap.h"

#include <stdlib.h>

static struct err err;

static int read_text(struct jit_rules *rules, const char *text)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int rc = jit_rules_read(rules, in, "hot.rules", &err);
    fclose(in);
    return rc;
}

static void check_sentences(void)
{
    static const struct {
        const char *claim, *text;
        struct jit_rule rule;
    } rows[] = {
        { "a method in another one",
          "# why\n\n a.B.c(int, String) is inlined into d.E.f \n",
          { .kind = JIT_RULE_INLINED, .line = 3, .of = "a.B.c(int, String)", .in = "d.E.f" } },
        { "or not",
          "B.c is not inlined into E.f",
          { .kind = JIT_RULE_INLINED, .is_not = true, .line = 1, .of = "B.c", .in = "E.f" } },
        { "an allocation",
          "allocation of a.P in E.f is removed",
          { .kind = JIT_RULE_REMOVED, .line = 1, .of = "a.P", .in = "E.f" } },
        { "or not, either",
          "allocation of P in E.f is not removed",
          { .kind = JIT_RULE_REMOVED, .is_not = true, .line = 1, .of = "P", .in = "E.f" } },
        { "compiled by one",
          "E.f is compiled by C2",
          { .kind = JIT_RULE_COMPILED, .line = 1, .in = "E.f", .tier = 4 } },
        { "compiled by none",
          "E.f is not compiled",
          { .kind = JIT_RULE_COMPILED, .is_not = true, .line = 1, .in = "E.f" } },
        { "in most calls",
          "B.c is inlined into E.f in at least 90 % of calls",
          { .kind = JIT_RULE_INLINED, .line = 1, .of = "B.c", .in = "E.f", .percent = 90, .most_percent = 100 } },
        { "most objects",
          "allocation of P in E.f is removed in at least 5 % of objects",
          { .kind = JIT_RULE_REMOVED, .line = 1, .of = "P", .in = "E.f", .percent = 5, .most_percent = 100 } },
        { "a range of objects",
          "allocation of P in E.f is removed in 78 to 82 % of objects",
          { .kind = JIT_RULE_REMOVED, .line = 1, .of = "P", .in = "E.f", .percent = 78, .most_percent = 82 } },
        { "few calls",
          "B.c is inlined into E.f in 0 to 5 % of calls",
          { .kind = JIT_RULE_INLINED, .line = 1, .of = "B.c", .in = "E.f", .most_percent = 5 } },
        { "a number of times",
          "E.f is deoptimized at most 3 times",
          { .kind = JIT_RULE_DEOPTIMIZED, .line = 1, .in = "E.f", .most = 3 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct jit_rule *want = &rows[i].rule, *is;
        struct jit_rules rules;
        bool is_read = read_text(&rules, rows[i].text) == 0 && rules.n == 1;
        is = rules.all;
        CHECK(rows[i].claim, is_read && is->kind == want->kind && is->is_not == want->is_not &&
                                 is->line == want->line && is->tier == want->tier && is->most == want->most &&
                                 is->percent == want->percent && is->most_percent == want->most_percent &&
                                 strcmp(is->in, want->in) == 0 && (is->of == NULL) == (want->of == NULL) &&
                                 (is->of == NULL || strcmp(is->of, want->of) == 0));
        jit_rules_free(&rules);
    }
}

static void check_refusals(void)
{
    static const char *const rows[] = { "B.c is inlined",
                                        "B.c is inlined into",
                                        "B.c is inlined into E.f now",
                                        "B.c inlined into E.f",
                                        "allocation of P is removed",
                                        "E.f is deoptimized at most often times",
                                        "E.f is not deoptimized at most 3 times",
                                        "E.f is compiled by C3",
                                        "B.c is inlined into E.f in at least 101 % of calls",
                                        "B.c is inlined into E.f in at least 0 % of calls",
                                        "B.c is inlined into E.f in at least 90 % of objects",
                                        "B.c is not inlined into E.f in at least 90 % of calls",
                                        "allocation of P in E.f is removed in at least 90 %",
                                        "allocation of P in E.f is removed in 82 to 78 % of objects",
                                        "allocation of P in E.f is removed in 78 % of objects",
                                        "allocation of P in E.f is removed in 0 to 0 % of objects",
                                        "allocation of P in E.f is removed in at least 78 to 82 % of objects",
                                        "# nothing" };
    struct jit_rules rules;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(rows[i], read_text(&rules, rows[i]) < 0 && strstr(err.text, "next: ") != NULL);
        jit_rules_free(&rules);
    }
    read_text(&rules, "# one\nB.c is inlined\n");
    CHECK("the message has the line",
          strstr(err.text, "line 2 of 'hot.rules' is not a rule: 'B.c is inlined'") != NULL);
    jit_rules_free(&rules);
}

/* ---- code ---- */

/* F.run calls F.leaf at 1, F.far at 5, I.size at 9; it makes an F at 20, whose constructor it calls at 24. */
enum { RUN, LEAF, FAR, CONSTRUCTOR, SIZE, N_METHODS };

static struct jit_instruction in_run[] = {
    { .index = 1, .line = 7, .class_name = "p/F", .name = "leaf", .descriptor = "()V", .is_counted = true },
    { .index = 5, .line = 8, .class_name = "p/F", .name = "far", .descriptor = "()V", .is_counted = true },
    { .index = 9, .line = 9, .class_name = "p/I", .name = "size", .descriptor = "()I", .is_virtual = true },
    { .index = 20, .line = 10, .is_allocation = true, .class_name = "p/F", .name = "", .descriptor = "" },
    { .index = 24, .line = 10, .class_name = "p/F", .name = "<init>", .descriptor = "()V", .is_counted = true },
};

static struct compiled_method methods[N_METHODS] = {
    { .class_name = "p/F", .name = "run", .descriptor = "()V", .instructions = in_run, .n_instructions = 5 },
    { .class_name = "p/F", .name = "leaf", .descriptor = "()V" },
    { .class_name = "p/F", .name = "far", .descriptor = "()V" },
    { .class_name = "p/F", .name = "<init>", .descriptor = "()V" },
    { .class_name = "p/A", .name = "size", .descriptor = "()I" },
};

/* What is found: bits at F.run's bytecodes, and a method that is inlined at one. */
struct found {
    uint32_t tier;
    unsigned leaf, far, size, made;
    uint64_t n_leaf, n_made, n_far;
    int inlined; /* a method; RUN: none */
    int32_t at;
    bool is_left_out;
    const char *receiver; /* of size */
};

static void put_point(struct inline_tree *tree, int32_t index, unsigned flags)
{
    struct hash_slot *slot = hash_put(&tree->by_point, hash_address((uint32_t)index));
    tree->points[tree->n_points] = (struct inline_point){ 0, index, flags };
    slot->value = ++tree->n_points;
}

static void make_code(struct jit_code *code, const struct found *found)
{
    static struct inline_node nodes[2];
    static struct inline_point made[8];
    static uint32_t numbers[2];
    memset(code, 0, sizeof *code);
    nodes[0] = (struct inline_node){ .method = 1, .caller = INLINE_ROOT, .index = -1 };
    nodes[1] = (struct inline_node){ .method = 2, .index = found->at, .is_left_out = found->is_left_out };
    numbers[1] = (uint32_t)found->inlined;
    code->tier = found->tier;
    code->number = 45;
    code->is_there = true;
    code->methods = numbers;
    code->tree.nodes = nodes;
    code->tree.n_nodes = found->inlined == RUN ? 1 : 2;
    code->tree.points = made;
    put_point(&code->tree, 1, found->leaf);
    put_point(&code->tree, 5, found->far);
    put_point(&code->tree, 9, found->size);
    put_point(&code->tree, 20, found->made);
    in_run[0].n_reached = found->n_leaf;
    in_run[4].n_reached = found->n_made;
    in_run[1].n_reached = found->n_far;
    in_run[2].n_receivers = found->receiver != NULL;
    in_run[2].receivers[0].class_name = found->receiver;
}

static void judge_one(const char *text, const struct found *found, struct jit_verdict *verdict)
{
    struct compiled_method *all[N_METHODS];
    struct jit_code code;
    struct jit_rules rules;
    struct jit_judge judge;
    for (size_t i = 0; i < N_METHODS; i++)
        all[i] = &methods[i];
    make_code(&code, found);
    struct jit_codes codes = { .all = &code, .n = found->tier != 0, .methods = all, .n_methods = N_METHODS };
    memset(verdict, 0, sizeof *verdict);
    if (read_text(&rules, text) == 0) {
        jit_judge_open(&judge, &rules, &codes);
        jit_judge_look(&judge);
        *verdict = judge.verdicts[0];
        jit_judge_free(&judge);
    }
    jit_rules_free(&rules);
    hash_free(&code.tree.by_point);
}

static const struct {
    const char *claim, *rule;
    struct found found;
    enum jit_result result;
    const char *why;
} verdicts[] = {
    { "a frame of it: it is inlined",
      "p.F.leaf is inlined into p.F.run",
      { .tier = 4, .inlined = LEAF, .at = 1 },
      JIT_HOLDS,
      "inlined at 1 (C2 45)" },
    { "and so not 'not inlined'",
      "F.leaf is not inlined into F.run",
      { .tier = 4, .inlined = LEAF, .at = 1 },
      JIT_BROKEN,
      "inlined in F.run, line 7; inlined at 1 (C2 45)" },
    { "a call of it: it is not",
      "F.leaf is inlined into F.run",
      { .tier = 4, .leaf = INLINE_CALLS },
      JIT_BROKEN,
      "called in F.run, line 7; called at 1 (C2 45)" },
    { "and so 'not inlined'",
      "F.leaf is not inlined into F.run",
      { .tier = 4, .leaf = INLINE_CALLS },
      JIT_HOLDS,
      "called at 1 (C2 45)" },
    { "inlined without a trace",
      "F.leaf is inlined into F.run",
      { .tier = 4, .inlined = LEAF, .at = 1, .is_left_out = true },
      JIT_HOLDS,
      "nothing left at 1 (C2 45)" },
    { "no call is left where one was counted",
      "F.leaf is inlined into F.run",
      { .tier = 4, .n_leaf = 9 },
      JIT_HOLDS,
      "nothing left at 1 (C2 45)" },
    { "nobody came there",
      "F.leaf is inlined into F.run",
      { .tier = 4 },
      JIT_UNKNOWN,
      "the call was not reached before the method was compiled (C2 45)" },
    { "a trap says the same",
      "F.leaf is inlined into F.run",
      { .tier = 4, .leaf = INLINE_TRAPS, .n_leaf = 9 },
      JIT_UNKNOWN,
      "the call was not reached before the method was compiled (C2 45)" },
    { "no such call", "F.other is inlined into F.run", { .tier = 4 }, JIT_UNKNOWN, "there is no call of it (C2 45)" },
    { "no code", "F.leaf is inlined into F.run", { .tier = 0 }, JIT_UNKNOWN, "no method named 'F.run' is compiled" },
    { "code that counts is not judged",
      "F.leaf is inlined into F.run",
      { .tier = 3, .leaf = INLINE_CALLS },
      JIT_UNKNOWN,
      "'F.run' is compiled by C1 so far, which still counts its calls" },
    { "C1's for good is",
      "F.leaf is inlined into F.run",
      { .tier = 1, .leaf = INLINE_CALLS },
      JIT_BROKEN,
      "called in F.run, line 7; called at 1 (C1 45)" },
    { "a call by an interface may be of it",
      "A.size is inlined into F.run",
      { .tier = 4, .size = INLINE_CALLS },
      JIT_UNKNOWN,
      "a call that names another class may reach it (C2 45)" },
    { "so that 'not inlined' holds",
      "A.size is not inlined into F.run",
      { .tier = 4, .size = INLINE_CALLS },
      JIT_HOLDS,
      "a call that names another class may reach it (C2 45)" },
    { "and is where its class was counted",
      "A.size is inlined into F.run",
      { .tier = 4, .size = INLINE_CALLS, .receiver = "p/A" },
      JIT_BROKEN,
      "called in F.run, line 9; called at 1 (C2 45)" },
    { "inlined for some receivers",
      "A.size is inlined into F.run",
      { .tier = 4, .size = INLINE_CALLS, .inlined = SIZE, .at = 9 },
      JIT_HOLDS,
      "inlined at 1 (C2 45)" },
    { "an object that is made",
      "allocation of p.F in F.run is removed",
      { .tier = 4, .made = INLINE_ALLOCATES },
      JIT_BROKEN,
      "made in F.run, line 10; made at 1 (C2 45)" },
    { "and so is not removed",
      "allocation of F in F.run is not removed",
      { .tier = 4, .made = INLINE_ALLOCATES },
      JIT_HOLDS,
      "made at 1 (C2 45)" },
    { "of a chain of StringBuilder calls only the text and its array are made",
      "allocation of F in F.run is removed",
      { .tier = 4, .made = INLINE_ALLOCATES | INLINE_MAKES_ARRAY | INLINE_TRAPS, .n_made = 5 },
      JIT_HOLDS,
      "removed at 1 (C2 45)" },
    { "none is made, and its constructor was called",
      "allocation of F in F.run is removed",
      { .tier = 4, .n_made = 5 },
      JIT_HOLDS,
      "removed at 1 (C2 45)" },
    { "it never was",
      "allocation of F in F.run is removed",
      { .tier = 4 },
      JIT_UNKNOWN,
      "the allocation was not reached before the method was compiled (C2 45)" },
    { "another class",
      "allocation of G in F.run is removed",
      { .tier = 4 },
      JIT_UNKNOWN,
      "there is no allocation of it (C2 45)" },
    { "inlined in so many calls",
      "F.*a* is inlined into F.run in at least 90 % of calls",
      { .tier = 4, .inlined = LEAF, .at = 1, .far = INLINE_CALLS, .n_leaf = 9, .n_far = 1 },
      JIT_HOLDS,
      "called in F.run, line 8; inlined in 90.0 % of 10 calls (C2 45)" },
    { "in fewer",
      "F.*a* is inlined into F.run in at least 91 % of calls",
      { .tier = 4, .inlined = LEAF, .at = 1, .far = INLINE_CALLS, .n_leaf = 9, .n_far = 1 },
      JIT_BROKEN,
      "called in F.run, line 8; inlined in 90.0 % of 10 calls (C2 45)" },
    { "in more than a range has",
      "F.*a* is inlined into F.run in 80 to 89 % of calls",
      { .tier = 4, .inlined = LEAF, .at = 1, .far = INLINE_CALLS, .n_leaf = 9, .n_far = 1 },
      JIT_BROKEN,
      "called in F.run, line 8; inlined in 90.0 % of 10 calls (C2 45)" },
    { "in as many",
      "F.*a* is inlined into F.run in 88 to 92 % of calls",
      { .tier = 4, .inlined = LEAF, .at = 1, .far = INLINE_CALLS, .n_leaf = 9, .n_far = 1 },
      JIT_HOLDS,
      "called in F.run, line 8; inlined in 90.0 % of 10 calls (C2 45)" },
    { "in how many was not counted",
      "F.leaf is inlined into F.run in at least 50 % of calls",
      { .tier = 4, .inlined = LEAF, .at = 1 },
      JIT_UNKNOWN,
      "at 1 of 1 sites the JVM has not counted calls (C2 45)" },
    { "removed in so many objects",
      "allocation of F in F.run is removed in at least 50 % of objects",
      { .tier = 4, .n_made = 5 },
      JIT_HOLDS,
      "removed in 100.0 % of 5 objects (C2 45)" },
    { "compiled", "F.run is compiled", { .tier = 3 }, JIT_HOLDS, "compiled by C1, tier 3" },
    { "but not by C2", "F.run is compiled by C2", { .tier = 3 }, JIT_BROKEN, "compiled by C1, tier 3" },
    { "not compiled",
      "F.run is not compiled",
      { .tier = 0 },
      JIT_HOLDS,
      "no method named 'F.run' has code of its own" },
};

static void check_verdicts(void)
{
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        struct jit_verdict verdict;
        judge_one(verdicts[i].rule, &verdicts[i].found, &verdict);
        CHECK(verdicts[i].claim, verdict.result == verdicts[i].result);
        CHECK_TEXT(verdicts[i].rule, verdict.why, verdicts[i].why);
    }
}

static void check_junit(void)
{
    struct jit_rules rules;
    struct jit_codes codes = { .all = NULL };
    struct jit_judge judge;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (read_text(&rules, "F.run is compiled\nF.run is not compiled\nF<a>.b is inlined into F.run") < 0 || out == NULL)
        return;
    jit_judge_open(&judge, &rules, &codes);
    jit_judge_look(&judge);
    int rc = jit_judge_junit(&judge, "a&b", out, &err);
    fclose(out);
    CHECK("JUnit's XML is written", rc == 0);
    CHECK_TEXT("with failures, and errors for what is not known", text,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuite name=\"a&amp;b\" tests=\"3\" failures=\"1\" errors=\"1\">\n"
               "  <testcase classname=\"mmprof.check-jit\" name=\"F.run is compiled\">\n"
               "    <failure message=\"no method named 'F.run' has code of its own\"/>\n"
               "  </testcase>\n"
               "  <testcase classname=\"mmprof.check-jit\" name=\"F.run is not compiled\"/>\n"
               "  <testcase classname=\"mmprof.check-jit\" name=\"F&lt;a&gt;.b is inlined into F.run\">\n"
               "    <error message=\"no method named 'F.run' is compiled\"/>\n"
               "  </testcase>\n"
               "</testsuite>\n");
    jit_judge_free(&judge);
    jit_rules_free(&rules);
    free(text);
}

int main(void)
{
    check_sentences();
    check_refusals();
    check_verdicts();
    check_junit();
    return tap_done();
}
