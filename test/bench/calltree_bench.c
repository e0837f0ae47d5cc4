/*
 * How fast records become a trace, and that a call tree:
 *
 *     calltree_bench [-r RECORDS] [-n RUNS] [-m METHODS] [-t THREADS] [-d DEPTH] [-o TRACE]
 *
 * Writes a synthetic trace (default: 50 million records of 4 threads, 2,048 methods, calls 12 deep on the average,
 * loops over few callees as programs have them, a switch per thread now and then) to TRACE, or to a temporary file,
 * builds its tree RUNS times (default 5; 0: only writes) and prints the medians, of CPU time:
 *
 *     records 50000000 bytes/record 4.1 nodes 120331
 *     write 8.1 ns/record
 *     read 61.2 M records/s, tree 24.3 M records/s (median of 5), peak memory 31 MiB
 *
 * Of mmprof it uses only what its revisions have had for long: bench-compare builds it with older ones.
 */
#include "core/wire/ring.h"
#include "phases/tree/calltree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define N_BATCH     8192    /* records of a thread at once, */
#define ROUND_MAX   1000000 /* and of all threads */
#define METHODS_MAX 1000000
#define THREADS_MAX 4096
#define DEPTH_LIMIT 64
#define RUNS_MAX    99

struct making {
    uint64_t n_records;
    uint32_t n_runs, n_methods, n_threads, depth; /* depth: of calls, at most */
    const char *path;                             /* or NULL: a temporary file */
    uint64_t n_bytes, n_written;                  /* of the trace that was made */
    double write_seconds;                         /* CPU time of writing the records alone */
};

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
static uint64_t step(struct walker *w, const struct making *making, uint64_t ticks)
{
    uint64_t r = next_random(&w->random);
    bool enters = w->depth < 2 || (w->depth < making->depth && r % 100 < 50);
    if (!enters)
        return ring_word(RING_EXIT, w->stack[--w->depth], ticks);
    uint32_t caller = w->depth == 0 ? 0 : w->stack[w->depth - 1];
    uint32_t which = (r >> 16) % 16 < 12 ? 0 : (uint32_t)(r >> 16) % 4;
    uint32_t method = (caller * 5 + which * 131 + 17) % making->n_methods;
    w->stack[w->depth++] = method;
    return ring_word(RING_ENTER, method, ticks);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int write_tables(struct trace_writer *writer, const struct making *making, struct err *err)
{
    for (uint32_t i = 0; i < making->n_methods; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%u", i);
        struct trace_method method = { i, { "bench/Synthetic", name, "()V" }, "Synthetic.java", 1, 60, true };
        if (trace_write_method(writer, &method, err) < 0)
            return -1;
    }
    for (uint32_t i = 0; i < making->n_threads; i++) {
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

static int write_switches(struct trace_writer *writer, uint32_t n_threads, uint64_t now, struct err *err)
{
    static struct trace_event switches[2 * THREADS_MAX];
    for (uint32_t i = 0; i < n_threads; i++) {
        switches[i] = (struct trace_event){ .kind = TRACE_CPU_PREEMPTED, .thread = i, .ticks = now + 5000 };
        switches[n_threads + i] = (struct trace_event){ .kind = TRACE_CPU_IN, .thread = i, .ticks = now + 9000 };
    }
    return trace_write_kernel(writer, switches, 2 * (size_t)n_threads, err);
}

static int write_round(struct trace_writer *writer, struct making *making, struct walker *walkers, uint64_t *now,
                       struct err *err)
{
    static uint64_t words[N_BATCH];
    size_t fair = ROUND_MAX / making->n_threads, n = fair < N_BATCH ? fair : N_BATCH;
    if (write_switches(writer, making->n_threads, *now, err) < 0 || trace_writer_flush(writer, err) < 0)
        return -1;
    for (uint32_t i = 0; i < making->n_threads; i++) {
        uint64_t ticks = *now;
        for (size_t j = 0; j < n; j++) {
            ticks += 60 + (next_random(&walkers[i].random) >> 40) % 400;
            words[j] = step(&walkers[i], making, ticks);
        }
        double start = seconds_now();
        if (trace_write_records(writer, i, words, n, ticks, err) < 0)
            return -1;
        making->write_seconds += seconds_now() - start;
    }
    *now += N_BATCH * 500;
    return 0;
}

static int write_trace(const char *path, struct making *making, struct err *err)
{
    struct trace_writer *writer;
    static struct walker walkers[THREADS_MAX];
    uint64_t now = 1000;
    if (trace_writer_open(&writer, path, err) < 0)
        return -1;
    int rc = trace_write_clock(writer, 0, 0, 0, err);
    if (rc == 0)
        rc = write_tables(writer, making, err);
    for (uint32_t i = 0; i < making->n_threads; i++)
        walkers[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    while (rc == 0 && trace_writer_records(writer) < making->n_records)
        rc = write_round(writer, making, walkers, &now, err);
    if (rc == 0)
        rc = trace_write_clock(writer, now, now / 3, now / 3, err);
    making->n_bytes = trace_writer_bytes(writer);
    making->n_written = trace_writer_records(writer);
    if (trace_writer_close(writer, now, err) < 0)
        rc = -1;
    return rc;
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

static int measure(const char *path, const struct making *making, struct err *err)
{
    double reads[RUNS_MAX] = { 0 }, trees[RUNS_MAX] = { 0 };
    uint64_t n_nodes = 0;
    for (uint32_t i = 0; i < making->n_runs; i++) {
        struct calltree tree;
        reads[i] = run(path, false, NULL, err);
        trees[i] = run(path, true, &tree, err);
        if (reads[i] < 0 || trees[i] < 0)
            return -1;
        n_nodes = tree.n_nodes - 1;
        calltree_free(&tree);
    }
    qsort(reads, making->n_runs, sizeof *reads, by_size);
    qsort(trees, making->n_runs, sizeof *trees, by_size);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double n = (double)making->n_written, millions = n / 1e6;
    printf("records %.0f bytes/record %.2f nodes %.0f\nwrite %.2f ns/record\n", n, (double)making->n_bytes / n,
           (double)n_nodes, making->write_seconds / n * 1e9);
    if (making->n_runs > 0)
        printf("read %.1f M records/s, tree %.1f M records/s (median of %u), peak memory %ld MiB\n",
               millions / reads[making->n_runs / 2], millions / trees[making->n_runs / 2], making->n_runs,
               usage.ru_maxrss / 1024);
    return 0;
}

static int take_options(struct making *making, int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "r:n:m:t:d:o:")) != -1;) {
        unsigned long long n = optarg == NULL ? 0 : strtoull(optarg, NULL, 10);
        if (option == 'r')
            making->n_records = n;
        else if (option == 'n')
            making->n_runs = n > RUNS_MAX ? RUNS_MAX : (uint32_t)n;
        else if (option == 'm')
            making->n_methods = n > METHODS_MAX ? METHODS_MAX : (uint32_t)n;
        else if (option == 't')
            making->n_threads = n > THREADS_MAX ? THREADS_MAX : (uint32_t)n;
        else if (option == 'd')
            making->depth = n > DEPTH_LIMIT ? DEPTH_LIMIT : (uint32_t)n;
        else if (option == 'o')
            making->path = optarg;
        else
            return -1;
    }
    return making->n_records > 0 && making->n_methods > 0 && making->n_threads > 0 && making->depth >= 2 &&
                   optind == argc
               ? 0
               : -1;
}

int main(int argc, char **argv)
{
    struct making making = { .n_records = 50000000, .n_runs = 5, .n_methods = 2048, .n_threads = 4, .depth = 24 };
    const char *directory = getenv("TMPDIR");
    char path[4096];
    struct err err = { "" };
    if (take_options(&making, argc, argv) < 0) {
        fprintf(stderr,
                "usage: calltree_bench [-r RECORDS] [-n RUNS] [-m METHODS] [-t THREADS] [-d DEPTH] [-o TRACE]\n");
        return 1;
    }
    snprintf(path, sizeof path, "%s/calltree_bench.%ld", directory == NULL ? "/tmp" : directory, (long)getpid());
    int rc = write_trace(making.path == NULL ? path : making.path, &making, &err);
    if (rc == 0)
        rc = measure(making.path == NULL ? path : making.path, &making, &err);
    if (making.path == NULL)
        unlink(path);
    if (rc < 0)
        fprintf(stderr, "calltree_bench: %s\n", err.text);
    return rc < 0 ? 1 : 0;
}
