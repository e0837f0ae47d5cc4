/* The calling context tree of samples: contexts, call sites, what is kept of each thread, what is purged. */
#include "phases/tree/context_tree.h"

#include "test/unit/tap.h"

#include <stdlib.h>

#define DEPTH_MAX 4096u
#define TREE      (UINT64_C(1) << 20)

static struct context_tree tree;

static void begin(uint64_t bytes)
{
    context_tree_open(&tree, bytes);
}

/* A stack as characters, outermost first, the call sites as digits: "a3b" is b, called by a's bytecode 3.  '.': a frame
 * without a method. */
static uint32_t take_same(int32_t tid, uint32_t n_same, const char *stack)
{
    uint32_t methods[64], n = 0;
    int32_t bytecodes[64];
    for (size_t i = strlen(stack); i-- > 0; n++) {
        bool has_site = stack[i] >= '0' && stack[i] <= '9';
        bytecodes[n] = has_site ? stack[i] - '0' : -1;
        i -= has_site;
        methods[n] = stack[i] == '.' ? CONTEXT_NONE : (uint32_t)stack[i];
    }
    return context_tree_add(&tree, tid, n_same, methods, bytecodes, n, 10);
}

static uint32_t take(const char *stack)
{
    return take_same(1, 0, stack);
}

static uint32_t child(uint32_t node, char method, int32_t site)
{
    for (uint32_t i = tree.nodes[node].first_child; i != 0; i = tree.nodes[i].next)
        if (tree.nodes[i].method == (uint32_t)method && tree.nodes[i].site == site)
            return i;
    return CONTEXT_NONE;
}

static bool has(uint32_t node, uint64_t own, uint64_t total)
{
    const struct context_node *at = &tree.nodes[node];
    return at->own.n_samples == own && at->total.n_samples == total && at->own.ns == 10 * own &&
           at->total.ns == 10 * total;
}

/* Of samples, everywhere: total = own + purged + the callees' totals. */
static bool adds_up(uint64_t n_samples)
{
    bool does = true;
    context_tree_sum(&tree);
    uint32_t node = 0, n = 0;
    do {
        const struct context_node *at = &tree.nodes[node];
        uint64_t sum = at->own.n_samples + at->purged.n_samples;
        for (uint32_t i = at->first_child; i != 0; i = tree.nodes[i].next) {
            sum += tree.nodes[i].total.n_samples;
            does = does && tree.nodes[i].parent == node;
        }
        does = does && sum == at->total.n_samples;
        n++;
        node = context_tree_next(&tree, node);
    } while (node != 0);
    return does && n == tree.n_nodes && tree.nodes[0].total.n_samples == n_samples;
}

/* The samples of PCCT Figure 6, by its prose: A under M and under D, which M called; B was never seen. */
static void test_contexts(void)
{
    begin(TREE);
    static const char *const samples[] = { "M", "MA", "MDA", "MAC", "MAC", "MAC" };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        take(samples[i]);
    CHECK("samples add up", adds_up(6));
    uint32_t m = child(0, 'M', -1), a = child(m, 'A', -1), d = child(m, 'D', -1);
    CHECK("the outermost method has all of them", has(m, 1, 6));
    CHECK("a method is a context in each of its callers", has(a, 1, 4) && has(child(d, 'A', -1), 1, 1));
    CHECK("a context that no sample ended in has those of its callees", has(d, 0, 1));
    CHECK("what was in no sample is not there", tree.n_nodes == 6 && child(a, 'B', -1) == CONTEXT_NONE);
    take("rrr");
    CHECK("recursive calls keep their full context",
          adds_up(7) && has(child(child(child(0, 'r', -1), 'r', -1), 'r', -1), 1, 1));
    take("r.x");
    CHECK("frames without a method are left out", child(child(0, 'r', -1), 'x', -1) != CONTEXT_NONE);
    context_tree_free(&tree);
}

static void test_call_sites(void)
{
    struct context_tree merged;
    begin(TREE);
    take("a3b");
    take("a3b");
    take("a5b7c");
    CHECK("a call site makes a context",
          adds_up(3) && has(child(child(0, 'a', -1), 'b', 3), 2, 2) && has(child(child(0, 'a', -1), 'b', 5), 0, 1));
    context_tree_merge_sites(&tree, &merged);
    context_tree_free(&tree);
    tree = merged;
    CHECK("which keeps their samples", adds_up(3) && has(child(child(0, 'a', -1), 'b', -1), 2, 3));
    context_tree_free(&tree);
}

static void test_same(void)
{
    begin(TREE);
    uint32_t ab = take("a1b"), first = take("a1b2c");
    CHECK("unchanged frames are not looked for", take_same(1, 2, "??2c") == first);
    CHECK("as many as there were are unchanged at most", take_same(1, 99, "???3d") != CONTEXT_NONE && adds_up(4));
    CHECK("another thread has frames of its own", take_same(2, 2, "a1b") == ab && adds_up(5));
    CHECK("and each keeps its last path", take_same(2, 2, "??") == ab && adds_up(6));
    take("");
    CHECK("a stack without methods is outside of all calls", adds_up(7) && tree.nodes[0].own.n_samples == 1);
    context_tree_free(&tree);
}

static void test_order(void)
{
    begin(TREE);
    static const char *const samples[] = { "ax", "ay", "az", "ay", "az", "az" };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        take(samples[i]);
    uint32_t a = child(0, 'a', -1), z = child(a, 'z', -1), y = child(a, 'y', -1), x = child(a, 'x', -1);
    CHECK("siblings are sorted by how often they were looked for",
          tree.nodes[a].first_child == z && tree.nodes[z].next == y && tree.nodes[y].next == x);
    for (int i = 0; i < 9; i++)
        take_same(1, 2, "??");
    CHECK("samples in an unchanged frame do not change that", tree.nodes[a].first_child == z && adds_up(15));
    context_tree_free(&tree);
}

/* ---- a tree that is full ---- */

static uint32_t next_random(uint32_t n)
{
    return (uint32_t)random() % n;
}

/* A third of the samples in one hot context, the others in more contexts than there is room for. */
static void test_purge(void)
{
    uint32_t methods[12], hot[3] = { 7, 6, 5 };
    uint64_t n = 0;
    bool is_fine = true;
    srandom(3);
    begin(CONTEXT_TREE_MIN_BYTES);
    for (; n < 30000; n++) {
        uint32_t depth = 1 + next_random(12);
        for (uint32_t i = 0; i < depth; i++)
            methods[i] = 100 + next_random(9);
        bool is_hot = n % 3 == 0;
        is_fine = is_fine && context_tree_add(&tree, (int32_t)(n % 5), 0, is_hot ? hot : methods, NULL,
                                              is_hot ? 3 : depth, 1) != CONTEXT_NONE;
        if (n % 1000 == 999)
            is_fine = is_fine && adds_up(n + 1);
    }
    printf("# %" PRIu64 " purges of %" PRIu64 " contexts with %" PRIu64 " samples\n", tree.n_purges, tree.n_purged,
           tree.purged.n_samples);
    CHECK("a full tree still takes each sample, and they add up", is_fine);
    CHECK("in the memory that it was given",
          tree.n <= tree.n_max && tree.n_max * sizeof *tree.nodes + tree.path_max_bytes <= CONTEXT_TREE_MIN_BYTES);
    uint32_t node = child(child(child(0, 5, -1), 6, -1), 7, -1);
    CHECK("a hot context stays", node != CONTEXT_NONE && tree.nodes[node].own.n_samples == 10000);
    uint64_t purged = 0;
    for (node = 0;;) {
        purged += tree.nodes[node].purged.n_samples;
        if ((node = context_tree_next(&tree, node)) == 0)
            break;
    }
    CHECK("what was purged is counted", tree.n_purges > 0 && purged > 0 && purged <= tree.purged.n_samples);
    context_tree_free(&tree);
}

/* After a purge no thread's path holds what was purged, and the next samples are right. */
static void test_purged_paths(void)
{
    uint32_t methods[2] = { 0, 1 };
    begin(CONTEXT_TREE_MIN_BYTES);
    take_same(7, 0, "abcd");
    for (uint32_t i = 0; tree.n_purges == 0; i++) {
        methods[0] = 1000 + i;
        context_tree_add(&tree, 1, 0, methods, NULL, 2, 10);
    }
    take_same(7, 3, "abcx");
    context_tree_sum(&tree);
    uint32_t a = child(0, 'a', -1), b = child(a, 'b', -1), c = b == CONTEXT_NONE ? b : child(b, 'c', -1);
    CHECK("a thread whose path was purged starts anew",
          c != CONTEXT_NONE && child(c, 'x', -1) != CONTEXT_NONE && tree.nodes[c].method == 'c');
    context_tree_free(&tree);
}

static void test_limits(void)
{
    static uint32_t methods[DEPTH_MAX];
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        methods[i] = i;
    begin(CONTEXT_TREE_MIN_BYTES);
    bool is_fine = true;
    for (uint64_t n = 1; n < 4; n++)
        is_fine = is_fine && context_tree_add(&tree, 1, 0, methods, NULL, DEPTH_MAX, 10) != CONTEXT_NONE && adds_up(n);
    CHECK("a stack that has no room is counted where the tree ends", is_fine && tree.purged.n_samples == 3);
    for (int32_t tid = 0; tid < 1000; tid++)
        is_fine = is_fine && context_tree_add(&tree, tid, 0, methods, NULL, 100, 10) != CONTEXT_NONE &&
                  tree.path_bytes <= tree.path_max_bytes + DEPTH_MAX * sizeof(uint32_t);
    CHECK("paths of threads are bounded, too", is_fine && adds_up(1003));
    context_tree_free(&tree);
}

/* Callees of one method are found again, however many there are and whatever was purged of them. */
static void test_wide(void)
{
    uint32_t stack[2] = { 0, 'm' };
    bool is_fine = true;
    begin(TREE);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            stack[0] = 1000 + i;
            context_tree_add(&tree, 1, 0, stack, NULL, 2, 10);
        }
    CHECK("each of 5,000 callees of one method has one context", tree.n_nodes == 5002 && adds_up(10000));
    for (uint32_t i = tree.nodes[child(0, 'm', -1)].first_child; i != 0; i = tree.nodes[i].next)
        is_fine = is_fine && tree.nodes[i].own.n_samples == 2;
    CHECK("with both of its samples", is_fine);
    for (uint32_t i = 0; i < 40000; i++) {
        stack[0] = 1000 + i;
        context_tree_add(&tree, 1, 0, stack, NULL, 2, 10);
        stack[0] = 6;
        context_tree_add(&tree, 1, 0, stack, NULL, 2, 10);
    }
    uint32_t hot = child(child(0, 'm', -1), 6, -1);
    CHECK("so that the samples add up after a purge, too", tree.n_purges > 0 && adds_up(90000));
    CHECK("and a hot one stays", hot != CONTEXT_NONE && tree.nodes[hot].own.n_samples == 40000);
    context_tree_free(&tree);
}

int main(void)
{
    test_contexts();
    test_call_sites();
    test_same();
    test_order();
    test_purge();
    test_purged_paths();
    test_limits();
    test_wide();
    return tap_done();
}
