/* Calling contexts of samples: which calls a method was seen in. */
#include "phases/samples/stack_tree.h"

#include "test/unit/tap.h"

#define N 10u

static struct stack_tree tree;
static bool is_wanted[N];

/* A stack as digits, outermost first. */
static void take(const char *stack, uint64_t ns)
{
    uint32_t node = 0;
    for (; *stack != '\0'; stack++)
        node = stack_tree_step(&tree, node, (uint32_t)(*stack - '0'), ns);
}

static bool is_in(uint32_t method, uint32_t caller, double part)
{
    double found_part = -1;
    uint32_t found = stack_tree_caller(&tree, method, is_wanted, N, &found_part);
    return found == caller && (caller == STACK_TREE_NONE || (found_part > part - 1e-9 && found_part < part + 1e-9));
}

static void want(const char *methods)
{
    memset(is_wanted, 0, sizeof is_wanted);
    for (; *methods != '\0'; methods++)
        is_wanted[*methods - '0'] = true;
}

static void test_callers(void)
{
    want("01");
    CHECK("an empty tree has no callers", is_in(1, STACK_TREE_NONE, 0));
    take("012", 10);
    take("02", 20);
    take("02", 10);
    take("32", 40);
    CHECK("the same stack is the same nodes", tree.n == 7);
    CHECK("the innermost wanted one with most of the time", is_in(2, 0, 30.0 / 80));
    want("3");
    CHECK("one that was seen in half of it", is_in(2, 3, 0.5));
    want("");
    CHECK("none", is_in(2, STACK_TREE_NONE, 0));
    want("2");
    CHECK("a method is not its own caller", is_in(2, STACK_TREE_NONE, 0));
    CHECK("nor is one that was not seen anybody's", is_in(9, STACK_TREE_NONE, 0));
}

static void test_recursion(void)
{
    want("45");
    take("45455", 10);
    CHECK("a recursion counts once, where its outermost call is", is_in(5, 4, 1));
    CHECK("a method between two calls of another is in the outer one", is_in(4, STACK_TREE_NONE, 0));
    take("7", 0);
    take("47", 0);
    CHECK("no time is no part", is_in(7, 4, 0));
}

static void test_large(void)
{
    want("6");
    for (uint32_t i = 0; i < 2000; i++)
        stack_tree_step(&tree, stack_tree_step(&tree, 0, 6, 1), i, 1);
    CHECK("a tree grows", tree.n > 2000 && is_in(8, 6, 1));
}

int main(void)
{
    test_callers();
    test_recursion();
    test_large();
    stack_tree_free(&tree);
    return tap_done();
}
