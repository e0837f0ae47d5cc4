/*
 * The kernel's rings, held for real against what the threads of a child know about themselves.
 */
#include "core/perf/perf_rings.h"

#include "test/unit/tap.h"

#include <poll.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a child that knows what it does ---- */

#define N_WORKERS 5 /* two are there when the recording begins, the others are born later */
#define N_OLD     2
#define N_PAGES   500

struct worker {
    int32_t tid;
    uint64_t start_cpu_ns, end_cpu_ns;
    uint64_t voluntary, involuntary, faults;
};

struct child {
    struct worker workers[N_WORKERS];
    _Atomic int n_ready, go, finished, stop;
};

static struct child *child;

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void nap_ms(long ms)
{
    struct timespec nap = { 0, ms * 1000000 };
    nanosleep(&nap, NULL);
}

static void sleep_often(void)
{
    for (int i = 0; i < 200; i++)
        nap_ms(1);
}

static void spin(void)
{
    uint64_t end_ns = thread_cpu_ns() + 200 * UINT64_C(1000000);
    while (thread_cpu_ns() < end_ns)
        continue;
}

static void fault(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* cppcheck-suppress invalidFunctionArg */
    volatile char *pages = mmap(NULL, N_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
    madvise((void *)(uintptr_t)pages, N_PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < N_PAGES; i++)
        pages[i * page] = 1;
    munmap((void *)(uintptr_t)pages, N_PAGES * page);
}

static void (*const jobs[N_WORKERS])(void) = { sleep_often, spin, sleep_often, spin, fault };

/* Between its two notes a worker's switches and time are its own business only. */
static void *work(void *context)
{
    struct worker *me = context;
    int index = (int)(me - child->workers);
    me->tid = (int32_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), "worker");
    child->n_ready++;
    while (index < N_OLD && !child->go)
        nap_ms(1);
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    me->start_cpu_ns = thread_cpu_ns();
    jobs[index]();
    getrusage(RUSAGE_THREAD, &after);
    me->end_cpu_ns = thread_cpu_ns();
    me->voluntary = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
    me->involuntary = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
    me->faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
    return NULL;
}

static void be_child(void)
{
    pthread_t threads[N_WORKERS];
    for (int i = 0; i < N_WORKERS; i++) {
        while (i == N_OLD && !child->go)
            nap_ms(1);
        if (pthread_create(&threads[i], NULL, work, &child->workers[i]) != 0)
            _exit(1);
    }
    for (int i = 0; i < N_WORKERS; i++)
        pthread_join(threads[i], NULL);
    child->finished = 1;
    while (!child->stop)
        nap_ms(1);
    _exit(0);
}

/* What the records say about one thread. */
struct seen {
    uint64_t in_ns, on_cpu_ns, out, preempted, in, faults, found, started, ended, named;
    bool on_cpu, strange; /* in twice, out twice */
    int32_t tid;
};

struct story {
    struct seen threads[N_WORKERS + 8];
    size_t n_threads;
    uint64_t last_ns, lost, until_ns;
    bool disordered, beyond;
};

/* A thread's first records may be told before it has noted its number. */
static struct seen *seen_of(struct story *story, int32_t tid)
{
    for (size_t i = 0; i < story->n_threads; i++)
        if (story->threads[i].tid == tid)
            return &story->threads[i];
    if (story->n_threads == sizeof story->threads / sizeof *story->threads)
        return NULL;
    story->threads[story->n_threads].tid = tid;
    return &story->threads[story->n_threads++];
}

static void leave_cpu(struct seen *seen, uint64_t time_ns)
{
    if (seen->on_cpu)
        seen->on_cpu_ns += time_ns - seen->in_ns;
    else if (seen->in > 0)
        seen->strange = true;
    seen->on_cpu = false;
}

static int take(const struct kernel_event *event, void *context)
{
    struct story *story = context;
    story->disordered |= event->time_ns < story->last_ns;
    story->beyond |= event->time_ns > story->until_ns;
    story->last_ns = event->time_ns;
    story->lost += event->kind == KERNEL_LOST ? event->count : 0;
    struct seen *seen = seen_of(story, event->tid);
    if (seen == NULL)
        return 0;
    seen->found += event->kind == KERNEL_THREAD_FOUND;
    seen->started += event->kind == KERNEL_THREAD_START;
    seen->faults += event->kind == KERNEL_PAGE_FAULT;
    seen->out += event->kind == KERNEL_CPU_OUT;
    seen->preempted += event->kind == KERNEL_CPU_PREEMPTED;
    seen->named += event->kind == KERNEL_COMM && strcmp(event->name, "worker") == 0;
    if (event->kind == KERNEL_CPU_IN) {
        seen->strange |= seen->on_cpu;
        seen->on_cpu = true;
        seen->in_ns = event->time_ns;
        seen->in++;
    }
    if (event->kind == KERNEL_CPU_OUT || event->kind == KERNEL_CPU_PREEMPTED)
        leave_cpu(seen, event->time_ns);
    if (event->kind == KERNEL_THREAD_END) {
        leave_cpu(seen, event->time_ns);
        seen->ended++;
    }
    return 0;
}

static void wait_until(_Atomic int *what, int value)
{
    for (int i = 0; i < 20000 && *what < value; i++)
        nap_ms(1);
}

static const char *const job_names[N_WORKERS] = { "old sleeper", "old spinner", "sleeper", "spinner", "faulter" };

static void check_worker(int i, const char *name, const struct seen *seen)
{
    const struct worker *worker = &child->workers[i];
    char claim[128];
    int64_t difference = (int64_t)(seen->on_cpu_ns - worker->end_cpu_ns);
    printf("# %s: on CPU %.3f ms by switches, %.3f ms by its clock, difference %.3f ms; waits %" PRIu64 "/%" PRIu64
           ", preempted %" PRIu64 "/%" PRIu64 ", faults %" PRIu64 "/%" PRIu64 "\n",
           name, (double)seen->on_cpu_ns / 1e6, (double)worker->end_cpu_ns / 1e6, (double)difference / 1e6, seen->out,
           worker->voluntary, seen->preempted, worker->involuntary, seen->faults, worker->faults);
    printf("# found %" PRIu64 ", started %" PRIu64 ", named %" PRIu64 ", ended %" PRIu64 "\n", (uint64_t)seen->found,
           (uint64_t)seen->started, (uint64_t)seen->named, (uint64_t)seen->ended);
    snprintf(claim, sizeof claim, "%s: it is found or born, named and ended once", name);
    CHECK(claim, seen->found == (i < N_OLD) && seen->started == (i >= N_OLD) && seen->ended == 1 &&
                     (i < N_OLD || seen->named == 1));
    snprintf(claim, sizeof claim, "%s: it gets a CPU and loses it by turns", name);
    CHECK(claim, !seen->strange && seen->in > 0);
    if (i < N_OLD)
        return; /* it waited for the start before, which its notes leave out */
    snprintf(claim, sizeof claim, "%s: it waits as often as it says itself", name);
    CHECK(claim, seen->out >= worker->voluntary && seen->out <= worker->voluntary + 8);
    /*
     * The clock counts the switch itself, of which 5 us a time lie outside the records; it leaves out interrupts and
     * time that a hypervisor stole.  The thread's end comes after its note.
     */
    int64_t less = 1000000 + (int64_t)seen->in * 50000, more = 10000000 + (int64_t)worker->end_cpu_ns / 4;
    snprintf(claim, sizeof claim, "%s: its time on the CPU is what its clock says", name);
    CHECK(claim, difference > -less && difference < more);
}

static void test_child(void)
{
    struct perf_rings *rings;
    struct err err = { "" };
    /* cppcheck-suppress invalidFunctionArg */
    child = mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        be_child();
    wait_until(&child->n_ready, N_OLD);
    if (perf_rings_open(&rings, pid, &(struct perf_rings_options){ .fault_period = 1 }, &err) < 0) {
        err.text[strcspn(err.text, "\n")] = '\0';
        SKIP("the records of a child's threads", err.text);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return;
    }
    struct story story = { .until_ns = 0 };
    bool drained = true;
    child->go = 1;
    while (!child->finished && drained && waitpid(pid, NULL, WNOHANG) == 0) {
        nap_ms(5);
        story.until_ns = kernel_now_ns() - 20000000;
        drained = perf_rings_drain(rings, story.until_ns, take, &story) == 0;
    }
    CHECK("events are handed out while the child runs", drained && story.last_ns > 0);
    CHECK("none that is later than asked for", !story.beyond);
    story.until_ns = KERNEL_UNKNOWN;
    CHECK("and the rest at the end", perf_rings_drain(rings, KERNEL_UNKNOWN, take, &story) == 0);
    CHECK("in the order of time", !story.disordered);
    for (int i = 0; i < N_WORKERS; i++)
        check_worker(i, job_names[i], seen_of(&story, child->workers[i].tid));
    const struct seen *faulter = seen_of(&story, child->workers[4].tid);
    CHECK("page faults of user space are counted, each once",
          faulter->faults >= N_PAGES && faulter->faults <= child->workers[4].faults + N_PAGES / 4);
    uint64_t cpu_ns = 0;
    CHECK("a thread's time on the CPU is read from /proc",
          kernel_thread_cpu_ns(pid, pid, &cpu_ns) == 0 && cpu_ns > 0 && kernel_thread_cpu_ns(pid, 1, &cpu_ns) == -1);
    struct perf_rings_state state;
    perf_rings_state(rings, &state);
    printf("# %u CPUs, %u threads found, %u files, %zu KB a ring, lost %" PRIu64 ", late %" PRIu64 "\n", state.n_cpus,
           state.n_threads_found, state.n_files, state.ring_bytes / 1024, state.n_lost, state.n_late);
    CHECK("nothing was lost or damaged", state.n_lost == 0 && state.n_bad == 0 && story.lost == 0);
    CHECK("the threads that were there are found", state.n_threads_found >= N_OLD + 1);
    perf_rings_close(rings);
    child->stop = 1;
    waitpid(pid, NULL, 0);
}

/* ---- threads that are born while the recording begins ---- */

#define STORM_TIDS 65536
#define STORM_MS   300

struct storm {
    struct {
        uint64_t in, out, started, ended, found;
        bool on_cpu, strange;
    } threads[STORM_TIDS]; /* by tid */
    int32_t lowest;
};

static void *short_life(void *context)
{
    (void)context;
    nap_ms(1);
    nap_ms(1);
    return NULL;
}

static void *breed(void *context)
{
    (void)context;
    while (!child->stop) {
        pthread_t threads[4];
        int n = 0;
        while (n < 4 && pthread_create(&threads[n], NULL, short_life, NULL) == 0)
            n++;
        for (int i = 0; i < n; i++)
            pthread_join(threads[i], NULL);
    }
    return NULL;
}

static void be_storm(void)
{
    pthread_t thread;
    for (int i = 0; i < 8; i++)
        if (pthread_create(&thread, NULL, breed, NULL) != 0)
            _exit(1);
    child->n_ready = 1;
    breed(NULL);
    _exit(0);
}

static int take_storm(const struct kernel_event *event, void *context)
{
    struct storm *storm = context;
    int64_t i = (int64_t)event->tid - storm->lowest;
    if (i < 0 || i >= STORM_TIDS)
        return 0;
    storm->threads[i].found += event->kind == KERNEL_THREAD_FOUND;
    storm->threads[i].started += event->kind == KERNEL_THREAD_START;
    storm->threads[i].ended += event->kind == KERNEL_THREAD_END;
    bool in = event->kind == KERNEL_CPU_IN, out = event->kind == KERNEL_CPU_OUT || event->kind == KERNEL_CPU_PREEMPTED;
    uint64_t before = storm->threads[i].in + storm->threads[i].out;
    if (in || out) {
        storm->threads[i].strange |= before > 0 && storm->threads[i].on_cpu == in;
        storm->threads[i].on_cpu = in;
    }
    storm->threads[i].in += in;
    storm->threads[i].out += out;
    return 0;
}

static void check_storm(const struct storm *storm)
{
    uint64_t n = 0, n_twice = 0, n_strange = 0, n_silent = 0, n_both = 0;
    for (size_t i = 0; i < STORM_TIDS; i++) {
        n += storm->threads[i].ended;
        n_twice += storm->threads[i].started > 1 || storm->threads[i].ended > 1 || storm->threads[i].found > 1;
        n_strange += storm->threads[i].strange;
        n_silent += storm->threads[i].ended == 1 && storm->threads[i].started == 1 && storm->threads[i].in == 0;
        n_both += storm->threads[i].found == 1 && storm->threads[i].started == 1;
    }
    printf("# %" PRIu64 " threads ended, %" PRIu64 " of them were born while they were being found\n", n, n_both);
    CHECK("threads born during the start are recorded", n > 20 && n_silent == 0);
    CHECK("each is found, born and ended once at most", n_twice == 0);
    CHECK("and gets a CPU and loses it by turns", n_strange == 0);
}

static void test_storm(void)
{
    struct perf_rings *rings;
    struct err err = { "" };
    struct storm *storm = calloc(1, sizeof *storm);
    memset(child, 0, sizeof *child);
    fflush(stdout);
    pid_t pid = storm == NULL ? -1 : fork();
    if (pid == 0)
        be_storm();
    wait_until(&child->n_ready, 1);
    if (pid < 0 || perf_rings_open(&rings, pid, &(struct perf_rings_options){ 0 }, &err) < 0) {
        err.text[strcspn(err.text, "\n")] = '\0';
        SKIP("threads born during the start are recorded", err.text);
    } else {
        storm->lowest = pid;
        for (int i = 0; i < STORM_MS / 10; i++) {
            nap_ms(10);
            perf_rings_drain(rings, kernel_now_ns() - 20000000, take_storm, storm);
        }
        struct perf_rings_state state;
        perf_rings_drain(rings, KERNEL_UNKNOWN, take_storm, storm);
        perf_rings_state(rings, &state);
        printf("# found %u threads, lost %" PRIu64 ", late %" PRIu64 "\n", state.n_threads_found, state.n_lost,
               state.n_late);
        check_storm(storm);
        perf_rings_close(rings);
    }
    child->stop = 1;
    if (pid > 0)
        waitpid(pid, NULL, 0);
    free(storm);
}

static int take_none(const struct kernel_event *event, void *context)
{
    (void)event, (void)context;
    return 0;
}

/* The descriptor says once that there is much to drain; who polls it may drain later. */
static void test_full(void)
{
    enum { STACK_BYTES = 32768 };
    const struct perf_rings_options options = {
        .ip_samples_hz = 1000, .no_switches = true, .stack_bytes = STACK_BYTES, .stack_fn = take_none
    };
    struct perf_rings *rings;
    struct err err = { "" };
    fflush(stdout);
    pid_t pid = fork();
    while (pid == 0)
        continue;
    if (pid < 0 || perf_rings_open(&rings, pid, &options, &err) < 0) {
        err.text[strcspn(err.text, "\n")] = '\0';
        SKIP("rings are full until they are drained", err.text);
    } else {
        struct pollfd wake = { .fd = perf_rings_fd(rings), .events = POLLIN };
        int woken = poll(&wake, 1, 60000);
        kill(pid, SIGSTOP);
        while (poll(&wake, 1, 0) > 0)
            continue;
        CHECK("rings are full when the descriptor says so", woken == 1 && perf_rings_are_full(rings));
        perf_rings_drain(rings, KERNEL_UNKNOWN, take_none, NULL);
        CHECK("until they are drained", !perf_rings_are_full(rings));
        perf_rings_close(rings);
    }
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

int main(void)
{
    test_child();
    test_storm();
    test_full();
    return tap_done();
}
