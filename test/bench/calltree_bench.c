/*
 * How fast a trace becomes a call tree:   calltree_bench [RECORDS [RUNS]]
 *
 * Writes a synthetic trace (default: 50 million records of 4 threads, about 2,000 methods, calls 12 deep on the
 * average, loops over few callees as programs have them, a switch per thread now and then) to a temporary file, builds
 * its tree RUNS times (default 5) and prints the median:
 *
 *     records 50000000 bytes/record 4.1 nodes 120331
 *     read 61.2 M records/s, tree 24.3 M records/s (median of 5), peak memory 31 MiB
 */
#include "core/wire/ring.h"
#include "phases/tree/calltree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define N_THREADS   4
#define N_METHODS   2048
#define N_BATCH     8192
#define DEPTH_LIMIT 24
#define RUNS_MAX    99

struct walker {
    uint32_t stack[DEPTH_LIMIT];
    uint32_t depth;
    uint64_t random;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One record of a thread: a method calls one of four others, most often the same one again. */
static uint64_t step(struct walker *w, uint64_t ticks)
{
    uint64_t r = next_random(&w->random);
    bool enters = w->depth < 2 || (w->depth < DEPTH_LIMIT && r % 100 < 50);
    if (!enters)
        return ring_word(RING_EXIT, w->stack[--w->depth], ticks);
    uint32_t caller = w->depth == 0 ? 0 : w->stack[w->depth - 1];
    uint32_t which = (r >> 16) % 16 < 12 ? 0 : (uint32_t)(r >> 16) % 4;
    uint32_t method = (caller * 5 + which * 131 + 17) % N_METHODS;
    w->stack[w->depth++] = method;
    return ring_word(RING_ENTER, method, ticks);
}

static int write_tables(struct trace_writer *writer, struct err *err)
{
    for (uint32_t i = 0; i < N_METHODS; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%u", i);
        struct trace_method method = { i, { "bench/Synthetic", name, "()V" }, "Synthetic.java", 1, 60, true };
        if (trace_write_method(writer, &method, err) < 0)
            return -1;
    }
    for (uint32_t i = 0; i < N_THREADS; i++) {
        struct trace_thread thread = { .index = i,
                                       .tid = (int32_t)i + 1,
                                       .has_ring = true,
                                       .name = "worker",
                                       .comm = "worker",
                                       .start_ticks = TRACE_UNKNOWN,
                                       .end_ticks = TRACE_UNKNOWN };
        if (trace_write_thread(writer, &thread, err) < 0)
            return -1;
    }
    if (trace_write_info(writer, "probe.inside_ticks", "21.5", err) < 0)
        return -1;
    return trace_write_info(writer, "probe.outside_ticks", "30.25", err);
}

static int write_round(struct trace_writer *writer, struct walker *walkers, uint64_t *now, struct err *err)
{
    static uint64_t words[N_BATCH];
    struct trace_event switches[2 * N_THREADS];
    for (uint32_t i = 0; i < N_THREADS; i++) {
        switches[i] = (struct trace_event){ .kind = TRACE_CPU_PREEMPTED, .thread = i, .ticks = *now + 5000 };
        switches[N_THREADS + i] = (struct trace_event){ .kind = TRACE_CPU_IN, .thread = i, .ticks = *now + 9000 };
    }
    if (trace_write_kernel(writer, switches, 2 * N_THREADS, err) < 0)
        return -1;
    uint64_t ticks = *now;
    for (uint32_t i = 0; i < N_THREADS; i++) {
        ticks = *now;
        for (size_t j = 0; j < N_BATCH; j++) {
            ticks += 60 + (next_random(&walkers[i].random) >> 40) % 400;
            words[j] = step(&walkers[i], ticks);
        }
        if (trace_write_records(writer, i, words, N_BATCH, ticks, err) < 0)
            return -1;
    }
    *now += N_BATCH * 500;
    return 0;
}

static int write_trace(const char *path, uint64_t n_records, uint64_t *n_bytes, struct err *err)
{
    struct trace_writer *writer;
    struct walker walkers[N_THREADS] = { 0 };
    uint64_t now = 1000;
    if (trace_writer_open(&writer, path, err) < 0)
        return -1;
    int rc = trace_write_clock(writer, 0, 0, 0, err);
    if (rc == 0)
        rc = write_tables(writer, err);
    for (uint32_t i = 0; i < N_THREADS; i++)
        walkers[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    while (rc == 0 && trace_writer_records(writer) < n_records)
        rc = write_round(writer, walkers, &now, err);
    if (rc == 0)
        rc = trace_write_clock(writer, now, now / 3, now / 3, err);
    *n_bytes = trace_writer_bytes(writer);
    if (trace_writer_close(writer, now, err) < 0)
        rc = -1;
    return rc;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds of CPU time of one pass, or negative. */
static double run(const char *path, bool with_tree, struct calltree *tree, struct err *err)
{
    struct trace_reader *reader;
    struct trace_event event;
    double start = seconds_now();
    int rc = trace_open(&reader, path, false, err);
    if (rc == 0 && with_tree)
        rc = calltree_build(reader, &(struct calltree_options){ 0 }, tree, err);
    else if (rc == 0)
        while ((rc = trace_next(reader, &event, err)) > 0)
            continue;
    trace_close(reader);
    return rc < 0 ? -1 : seconds_now() - start;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(const char *path, int n_runs, uint64_t n_bytes, struct err *err)
{
    double reads[RUNS_MAX] = { 0 }, trees[RUNS_MAX] = { 0 };
    uint64_t n_records = 0, n_nodes = 0;
    for (int i = 0; i < n_runs; i++) {
        struct calltree tree;
        reads[i] = run(path, false, NULL, err);
        trees[i] = run(path, true, &tree, err);
        if (reads[i] < 0 || trees[i] < 0)
            return -1;
        n_records = tree.n_records;
        n_nodes = tree.n_nodes - 1;
        calltree_free(&tree);
    }
    qsort(reads, (size_t)n_runs, sizeof *reads, by_size);
    qsort(trees, (size_t)n_runs, sizeof *trees, by_size);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double millions = (double)n_records / 1e6;
    printf("records %.0f bytes/record %.1f nodes %.0f\n", (double)n_records, (double)n_bytes / (double)n_records,
           (double)n_nodes);
    printf("read %.1f M records/s, tree %.1f M records/s (median of %d), peak memory %ld MiB\n",
           millions / reads[n_runs / 2], millions / trees[n_runs / 2], n_runs, usage.ru_maxrss / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t n_records = argc > 1 ? strtoull(argv[1], NULL, 10) : 50000000, n_bytes = 0;
    long n_runs = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    const char *directory = getenv("TMPDIR");
    char path[4096];
    struct err err = { "" };
    if (n_records == 0 || n_runs < 1 || n_runs > RUNS_MAX) {
        fprintf(stderr, "usage: calltree_bench [RECORDS [RUNS]]\n");
        return 1;
    }
    snprintf(path, sizeof path, "%s/calltree_bench.%ld", directory == NULL ? "/tmp" : directory, (long)getpid());
    int rc = write_trace(path, n_records, &n_bytes, &err);
    if (rc == 0)
        rc = measure(path, (int)n_runs, n_bytes, &err);
    unlink(path);
    if (rc < 0)
        fprintf(stderr, "calltree_bench: %s\n", err.text);
    return rc < 0 ? 1 : 0;
}
