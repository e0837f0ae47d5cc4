/*
 * What it takes to walk a stack from outside:   walk_bench PID [SECONDS [HZ]]
 *
 * Samples the JVM for SECONDS (3) HZ (499) times a second of its threads' CPU time, keeps what the kernel copied, and
 * walks each of the stacks, one after the other, in rounds as 'mmprof sample' has them; then all of them TURNS times
 * more in the last round, in which all of the JVM's memory that is needed has been read.  By the number of frames:
 *
 *     frames  stacks     first  known
 *      16-23     801    1.9 us  0.21 us
 */
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/known_methods.h"
#include "core/hotspot/vm.h"
#include "core/perf/perf_rings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STACK_BYTES 32768u
#define KEPT_MAX    8192u
#define TURNS       20
#define CLASSES     12
#define ROUND_NS    500000000

static struct {
    struct thread_state *threads; /* their stacks are owned */
    uint32_t n;
    double first_ns[KEPT_MAX], known_ns[KEPT_MAX];
    uint32_t n_frames[KEPT_MAX];
} kept;
static struct java_stack stack;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ignore(const struct kernel_event *event, void *context)
{
    (void)event;
    (void)context;
    return 0;
}

static int keep(const struct kernel_event *event, void *context)
{
    uint8_t *copy = kept.n == KEPT_MAX || event->count == KERNEL_UNKNOWN ? NULL : malloc(event->stack.n_bytes + 1);
    (void)context;
    if (copy == NULL)
        return 0;
    memcpy(copy, event->stack.bytes, event->stack.n_bytes);
    kept.threads[kept.n++] = (struct thread_state){ .pc = event->count,
                                                    .sp = event->stack.sp,
                                                    .fp = event->stack.fp,
                                                    .link = event->stack.link,
                                                    .bytecode = event->stack.bytecode,
                                                    .stack = copy,
                                                    .n_bytes = event->stack.n_bytes };
    return 0;
}

static _Noreturn void fail(const struct err *err)
{
    fprintf(stderr, "walk_bench: %s\n", err->text);
    exit(1);
}

/* In rounds of half a second; each begins with the comparison of all that is known. */
static double sample(struct stack_walker *walker, pid_t pid, double seconds, uint32_t hz)
{
    const struct perf_rings_options options = {
        .ip_samples_hz = hz, .no_switches = true, .stack_bytes = STACK_BYTES, .stack_fn = keep
    };
    struct perf_rings *rings;
    struct err err;
    double round_ns = 0;
    if (perf_rings_open(&rings, pid, &options, &err) < 0)
        fail(&err);
    for (int round = 0; round < (int)(seconds * 2); round++) {
        uint32_t from = kept.n;
        nanosleep(&(struct timespec){ .tv_nsec = ROUND_NS }, NULL);
        if (perf_rings_drain(rings, KERNEL_UNKNOWN, ignore, NULL) < 0)
            fail(&err);
        double start = now_ns();
        stack_walker_round(walker);
        round_ns += now_ns() - start;
        for (uint32_t i = from; i < kept.n; i++) {
            start = now_ns();
            stack_walk(walker, &kept.threads[i], &stack);
            kept.first_ns[i] = now_ns() - start;
            kept.n_frames[i] = stack.n;
        }
    }
    perf_rings_close(rings);
    return round_ns / (seconds * 2);
}

/* Each TURNS times in a row: a clock is slower than a walk. */
static void walk_again(struct stack_walker *walker)
{
    for (uint32_t i = 0; i < kept.n; i++) {
        stack_walk(walker, &kept.threads[i], &stack);
        double start = now_ns();
        for (int turn = 0; turn < TURNS; turn++)
            stack_walk(walker, &kept.threads[i], &stack);
        kept.known_ns[i] = (now_ns() - start) / TURNS;
    }
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static double median_of(const double *from, uint32_t low, uint32_t high, uint32_t *n)
{
    static double some[KEPT_MAX];
    *n = 0;
    for (uint32_t i = 0; i < kept.n; i++)
        if (kept.n_frames[i] >= low && kept.n_frames[i] < high)
            some[(*n)++] = from[i];
    qsort(some, *n, sizeof *some, compare);
    return *n == 0 ? 0 : some[*n / 2] / 1e3;
}

int main(int argc, char **argv)
{
    static const uint32_t limits[CLASSES] = { 0, 1, 4, 8, 16, 24, 32, 48, 64, 128, 256, STACK_FRAMES_MAX + 1 };
    struct err err;
    struct vm *vm = NULL;
    pid_t pid = argc < 2 ? 0 : (pid_t)strtol(argv[1], NULL, 10);
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 3;
    uint32_t hz = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 499, n;
    kept.threads = calloc(KEPT_MAX, sizeof *kept.threads);
    if (kept.threads == NULL || pid <= 0 || (vm = vm_open(pid, &err)) == NULL)
        fail(pid <= 0 ? &(struct err){ .text = "usage: walk_bench PID [SECONDS [HZ]]" } : &err);
    struct stack_walker *walker = stack_walker_open(vm, frame_rules_here(), &err);
    if (walker == NULL)
        fail(&err);
    double round_ns = sample(walker, pid, seconds, hz);
    walk_again(walker);
    printf("%u stacks; a round begins with %.0f us\nframes  stacks     first  known\n", kept.n, round_ns / 1e3);
    for (size_t i = 0; i + 1 < CLASSES; i++) {
        double first = median_of(kept.first_ns, limits[i], limits[i + 1], &n),
               known = median_of(kept.known_ns, limits[i], limits[i + 1], &n);
        if (n > 0)
            printf("%3u-%-3u %6u %6.2f us %6.2f us\n", limits[i], limits[i + 1] - 1, n, first, known);
    }
    stack_walker_close(walker);
    vm_close(vm);
    return 0;
}
