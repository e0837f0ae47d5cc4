/*
 * What a record costs the live account:   live_bench [RECORDS [RUNS]]
 *
 * Records of 4 threads and 64 methods, calls 12 deep on the average, in rounds of 8192, with a switch per thread and
 * round (default: 50 million records, 5 runs).  Prints the median:
 *
 *     50000000 records of 64 methods: 5.1 ns each (median of 5)
 */
#include "core/wire/ring.h"
#include "phases/live/live_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_THREADS   4
#define N_METHODS   64
#define N_BATCH     8192
#define DEPTH_LIMIT 24
#define RUNS_MAX    99

struct walker {
    uint32_t stack[DEPTH_LIMIT];
    uint32_t depth;
    uint64_t random;
};

static uint64_t step(struct walker *w, uint64_t ticks)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    if (w->depth >= 2 && (w->depth == DEPTH_LIMIT || w->random % 100 >= 50))
        return ring_word(RING_EXIT, w->stack[--w->depth], ticks);
    uint32_t method = (uint32_t)(w->random >> 16) % N_METHODS;
    w->stack[w->depth++] = method;
    return ring_word(RING_ENTER, method, ticks);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Returns ns per record; making the records is not in it. */
static double run(uint64_t n_records)
{
    static uint64_t words[N_BATCH];
    struct walker walkers[N_THREADS] = { 0 };
    uint64_t ticks = 1000, n = 0;
    double taken_ns = 0;
    struct live_tree *tree = live_tree_open(&(struct live_tree_options){ 0 });
    for (; n < n_records; n += N_BATCH) {
        struct walker *w = &walkers[n / N_BATCH % N_THREADS];
        uint32_t thread = (uint32_t)(w - walkers);
        struct trace_event switches[] = { { .kind = TRACE_CPU_PREEMPTED, .thread = thread, .ticks = ticks + 5000 },
                                          { .kind = TRACE_CPU_IN, .thread = thread, .ticks = ticks + 9000 } };
        w->random = w->random == 0 ? UINT64_C(0x9e3779b97f4a7c15) * (thread + 1) : w->random;
        for (size_t i = 0; i < N_BATCH; i++)
            words[i] = step(w, ticks += 100);
        double start = now_ns();
        live_tree_kernel(tree, switches, 2);
        live_tree_records(tree, thread, words, N_BATCH, ticks);
        taken_ns += now_ns() - start;
    }
    live_tree_close(tree);
    return taken_ns / (double)n;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    uint64_t n_records = argc > 1 ? strtoull(argv[1], NULL, 10) : 50000000;
    int n_runs = argc > 2 ? atoi(argv[2]) : 5;
    double ns[RUNS_MAX] = { 0 };
    if (n_runs < 1 || n_runs > RUNS_MAX)
        n_runs = 5;
    for (int i = 0; i < n_runs; i++)
        ns[i] = run(n_records);
    qsort(ns, (size_t)n_runs, sizeof *ns, ascending);
    printf("%llu records of %d methods: %.1f ns each (median of %d)\n", (unsigned long long)n_records, N_METHODS,
           ns[n_runs / 2], n_runs);
    return 0;
}
