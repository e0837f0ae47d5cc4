/* Calls that were under way when their methods got probes: what is to be open, and what the call tree makes of it. */
#include "core/agent/probe/probe.h"

#include "phases/tree/calltree.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <stdlib.h>

/* ---- what is to be open ---- */

/* "Ma" are methods a.. of a stack, outermost first: a capital one records now, a small one is switched off. */
static void find(struct open_calls *c, const char *methods)
{
    memset(c, 0, sizeof *c);
    for (; *methods != '\0'; methods++)
        c->found[c->n_found++] = (uint32_t)(*methods & 31) | ((*methods & 32) == 0 ? OPEN_CALL : 0);
}

/* Open calls: a capital one is under way, a small one was recorded. */
static uint32_t put_open(const char *methods, uint32_t *open)
{
    uint32_t n = 0;
    for (; *methods != '\0'; methods++)
        open[n++] = (uint32_t)(*methods & 31) | ((*methods & 32) == 0 ? OPEN_CALL : 0);
    return n;
}

/* x, y and z are calls of c, told apart by a value. */
static uint32_t method_of(uint32_t id)
{
    return id >= ('x' & 31) ? 'c' & 31 : id;
}

static void check_merge(const char *claim, const char *open, const char *found, const char *expected)
{
    static struct open_calls c;
    uint32_t calls[64], n_open = put_open(open, calls);
    char text[64];
    size_t n = 0;
    find(&c, found);
    if (!open_calls_merge(&c, calls, n_open, method_of)) {
        CHECK_TEXT(claim, "not on the stack", expected);
        return;
    }
    for (uint32_t i = 0; i < c.n; i++) {
        if (i == c.n_same)
            text[n++] = '|';
        text[n++] = (char)((c.calls[i] & OPEN_CALL ? '@' : '`') + (char)(c.calls[i] & 31));
        if (i >= c.n_same && !c.is_known[i])
            text[n++] = '+';
    }
    if (c.n == c.n_same && n_open > c.n)
        text[n++] = '|';
    text[n] = '\0';
    CHECK_TEXT(claim, text, expected);
}

static void test_merge(void)
{
    check_merge("what is found is open", "", "MAB", "|M+A+B+");
    check_merge("but for what is switched off", "", "MaB", "|M+B+");
    check_merge("a second pass finds nothing new", "MA", "MA", "MA");
    check_merge("a call that is over is left", "MA", "M", "M|");
    check_merge("another one takes its place", "MA", "MB", "M|B+");
    check_merge("what was recorded stays", "MAc", "MAC", "MAc");
    check_merge("also what a value tells apart", "MAy", "MAC", "MAy");
    check_merge("with what is found around it", "xz", "MCC", "|M+xz");
    check_merge("also when it is switched off now", "MAc", "MAc", "MAc");
    check_merge("it goes on outside of what is over", "MAc", "MC", "M|c");
    check_merge("and inside of what got probes later", "Mc", "MBC", "M|B+c");
    check_merge("with what is under way inside of it", "Mc", "MBCD", "M|B+cD+");
    check_merge("what was known before is no new call", "MAB", "NMAB", "|N+MAB");
    check_merge("a recorded call of a method is inside of one under way", "c", "CC", "|C+c");
    check_merge("a call under way that is switched off is left", "MA", "Ma", "M|");
    check_merge("recorded calls that are not on the stack: nothing can be said", "Mc", "MA", "not on the stack");
    check_merge("in this order", "ab", "BA", "not on the stack");
}

/* ---- in the call tree ---- */

enum { MAIN, FIRST, SECOND, STEP, N_METHODS };

#define OPEN(method, ticks)       \
    {                             \
        RING_OPEN, method, ticks, \
        {                         \
            0                     \
        }                         \
    }

static uint32_t child_of(const struct calltree *tree, uint32_t parent, uint32_t method)
{
    uint32_t node = tree->nodes[parent].first_child;
    while (node != 0 && tree->nodes[node].method != method)
        node = tree->nodes[node].next_sibling;
    return node;
}

/* first ends unseen, second begins in it, as it seems: until the thread looks. */
static void test_tree(void)
{
    static const char *const names[] = { "main", "first", "second", "step" };
    struct maker m;
    struct calltree tree;
    maker_open(&m, "under_way.dat");
    for (uint32_t i = 0; i < N_METHODS; i++)
        maker_method(&m, i, "t/T", names[i], "()V");
    maker_thread(&m, 0, "main", true);
    STEPS(&m, 0, OPEN(MAIN, 100), OPEN(FIRST, 100), ENTER(STEP, 110), EXIT(STEP, 150), ENTER(SECOND, 170),
          ENTER(STEP, 180), EXIT(STEP, 200), EXIT(SECOND, 210), EXIT(FIRST, 210), RESUME(SECOND, 210), ENTER(STEP, 220),
          EXIT(STEP, 260), EXIT(SECOND, 270));
    maker_close(&m, 300);
    struct trace_reader *reader = maker_read(&m);
    maker_must(&m, calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &m.err));
    uint32_t top = child_of(&tree, tree.roots[0].node, MAIN), first = child_of(&tree, top, FIRST),
             second = child_of(&tree, top, SECOND);
    CHECK_NUMBER("a call under way is a call", calltree_calls(&tree, top) + calltree_calls(&tree, first), 2);
    CHECK_NUMBER("they are told apart", tree.n_under_way, 2);
    CHECK_NUMBER("it takes the time since it was found", calltree_total_wall_ticks(&tree, top), 200);
    CHECK_NUMBER("until it was noticed that it is over", calltree_total_wall_ticks(&tree, first), 110);
    CHECK_NUMBER("what goes on outside of it takes the rest", calltree_total_wall_ticks(&tree, second), 60);
    CHECK_NUMBER("with what it calls", calltree_calls(&tree, child_of(&tree, second, STEP)), 1);
    CHECK_NUMBER("and is one call",
                 calltree_calls(&tree, second) + calltree_calls(&tree, child_of(&tree, first, SECOND)), 1);
    CHECK_NUMBER("no exit is missing or too many", tree.n_missing_exits + tree.n_unmatched_exits, 0);
    CHECK_NUMBER("what is under way at the end never returned", tree.n_open, 1);
    calltree_free(&tree);
    trace_close(reader);
}

int main(void)
{
    test_merge();
    test_tree();
    return tap_done();
}
