/*
 * What a sample costs the calling context tree:   context_bench [SAMPLES]
 *
 * Stacks of 10, 100 and 1,000 frames, of which the innermost four differ from the thread's last sample, as in a program
 * that loops: with the outer frames known to be unchanged, and from the root on.  Medians of 5 runs:
 *
 *     depth  unchanged known  from the root
 *       10            64 ns         147 ns
 *      100            45 ns         631 ns
 *     1000            67 ns        6572 ns
 */
#include "phases/tree/context_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS      5
#define CHANGED   4u
#define DEPTH_MAX 1000u
#define VARIANTS  1024u

static uint32_t stacks[VARIANTS][DEPTH_MAX];
static int32_t sites[DEPTH_MAX];

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Hot callees are called more often than cold ones: of 16, the first half of the time. */
static uint32_t callee(uint32_t depth)
{
    uint32_t which = 0;
    while (which < 15 && random() % 2 != 0)
        which++;
    return depth * 16 + which;
}

static void make_stacks(uint32_t depth)
{
    for (uint32_t v = 0; v < VARIANTS; v++)
        for (uint32_t i = 0; i < depth; i++)
            stacks[v][i] = i < CHANGED ? callee(i) : i * 16;
}

static double run(uint32_t depth, uint32_t n_same, uint32_t n_samples)
{
    struct context_tree tree;
    context_tree_open(&tree, UINT64_C(16) << 20);
    for (uint32_t i = 0; i < VARIANTS; i++)
        context_tree_add(&tree, 1, 0, stacks[i], sites, depth, 1);
    double start = now_ns();
    for (uint32_t i = 0; i < n_samples; i++)
        context_tree_add(&tree, 1, n_same, stacks[i % VARIANTS], sites, depth, 1);
    double ns = (now_ns() - start) / n_samples;
    context_tree_free(&tree);
    return ns;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static double median(uint32_t depth, uint32_t n_same, uint32_t n_samples)
{
    double ns[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        ns[i] = run(depth, n_same, n_samples);
    qsort(ns, RUNS, sizeof *ns, compare);
    return ns[RUNS / 2];
}

int main(int argc, char **argv)
{
    static const uint32_t depths[] = { 10, 100, 1000 };
    uint32_t n_samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
    printf("depth  unchanged known  from the root\n");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        make_stacks(depths[i]);
        printf("%5u %13.0f ns %11.0f ns\n", depths[i], median(depths[i], depths[i] - CHANGED, n_samples),
               median(depths[i], 0, n_samples));
    }
    return 0;
}
