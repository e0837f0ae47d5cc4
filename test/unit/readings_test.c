/*
 * Threads' counters, read from outside: threads of this process that work, wait and end; what cannot be read; and what
 * it may cost.
 */
#include "test/unit/open_files.h"
#include "test/unit/readings_world.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

/* ---- a thread that works until it is told to end ---- */

struct worker {
    pthread_t thread;
    _Atomic int32_t tid;
    _Atomic bool works, ends;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    atomic_store(&worker->tid, (int32_t)syscall(SYS_gettid));
    while (!atomic_load(&worker->ends))
        if (!atomic_load(&worker->works))
            usleep(1000);
    return NULL;
}

static void start(struct worker *worker)
{
    memset(worker, 0, sizeof *worker);
    pthread_create(&worker->thread, NULL, work, worker);
    while (atomic_load(&worker->tid) == 0)
        usleep(100);
}

static void test_thread_without_ring(uint32_t n_groups)
{
    struct world w;
    struct worker worker;
    CHECK("a session opens", open_world(&w, n_groups, false));
    start(&worker);
    struct recorder_thread *thread = threads_add(&w.threads, worker.tid, TRACE_UNKNOWN);
    write_round(&w);
    atomic_store(&worker.works, true);
    rounds(&w, 100);
    atomic_store(&worker.ends, true);
    pthread_join(worker.thread, NULL);
    uint64_t end = thread->info.end_ticks = ticks_now();
    write_round(&w);
    uint64_t n_read = w.readings.n_read;
    rounds(&w, 30);
    CHECK_NUMBER("a thread that has ended is read no more", w.readings.n_read, n_read);
    struct series s = read_series(&w, 0);
    CHECK("a thread without a ring is read at its begin, every 10 ms or so, and at its end", s.n >= 3 && s.n <= 13);
    CHECK("in order, all of its own series", s.in_order && s.numbers[0] == 0 && s.numbers[s.n - 1] == 0);
    CHECK("the last values are of its end", s.n > 0 && s.ticks[s.n - 1] == end);
    CHECK("it has worked", s.n > 0 && s.values[s.n - 1] - s.values[0] > 2000000);
    close_world(&w);
}

/* ---- a thread that waits ---- */

static void test_idle(void)
{
    struct world w;
    struct recorder_thread *thread;
    int pipes[2];
    if (pipe(pipes) < 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(pipes[1]);
        _exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(pipes[0]);
    usleep(20000);
    open_world(&w, 1, false);
    thread = threads_add(&w.threads, child, TRACE_UNKNOWN);
    for (uint64_t now = SECOND; now < 3u * SECOND; now += STEP_NS / 2) {
        readings_take(&w.readings, now);
        readings_follow(&w.readings);
    }
    CHECK("one that waits is read more and more seldom", w.readings.n_read >= 3 && w.readings.n_read <= 12);
    thread->is_off = true;
    uint64_t n_read = w.readings.n_read;
    readings_take(&w.readings, 30u * (uint64_t)SECOND);
    CHECK_NUMBER("and not at all when the kernel says that it is off the CPU", w.readings.n_read, n_read);
    thread->has_run = true;
    readings_take(&w.readings, 31u * (uint64_t)SECOND);
    CHECK_NUMBER("but once when it has run since", w.readings.n_read, n_read + 1);
    readings_take(&w.readings, 32u * (uint64_t)SECOND);
    CHECK_NUMBER("only once", w.readings.n_read, n_read + 1);
    readings_write(&w.readings, w.writer, &err);
    CHECK("what says nothing new is not written", read_series(&w, 0).n <= 2);
    close(pipes[1]);
    close_world(&w);
}

/* ---- what it may cost ---- */

static void test_budget(void)
{
    enum { N_THREADS = 100, N_SECONDS = 3 };
    struct world w;
    open_world(&w, 1, false);
    for (int i = 0; i < N_THREADS; i++)
        threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    for (int i = 0; i < 40; i++)
        readings_follow(&w.readings);
    uint64_t n_begun = w.readings.n_read, now = SECOND;
    for (; now < (1u + N_SECONDS) * (uint64_t)SECOND; now += STEP_NS / 2) {
        for (uint32_t i = 0; i < w.threads.n; i++)
            w.threads.all[i]->has_run = true;
        readings_take(&w.readings, now);
        readings_write(&w.readings, w.writer, &err);
    }
    uint64_t n_read = w.readings.n_read - n_begun;
    double share = (double)w.readings.spent_ns / ((double)N_SECONDS * SECOND);
    printf("# %" PRIu64 " readings a second, %.2f %% of a CPU, %.1f us each\n", n_read / N_SECONDS, share * 100,
           (double)w.readings.spent_ns / 1e3 / (double)n_read);
    CHECK_NUMBER("all threads have begun", n_begun, N_THREADS);
    CHECK("a hundred busy threads are read at most 2000 times a second", n_read <= 2000u * N_SECONDS + 200);
    CHECK("and take at most 0.5 % of a CPU", share < 0.0055);
    CHECK("but are read", n_read > 100);
    CHECK("in turn", w.readings.next > 0);
    w.readings.is_last = true;
    n_read = w.readings.n_read;
    readings_take(&w.readings, now);
    CHECK_NUMBER("in the end all of them once more", w.readings.n_read - n_read, N_THREADS);
    close_world(&w);
}

static void test_descriptors(void)
{
    enum { N_THREADS = 60 };
    struct rlimit old, limit;
    struct world w;
    getrlimit(RLIMIT_NOFILE, &old);
    limit = (struct rlimit){ n_open_files() + 4 + 64 + 40, old.rlim_max };
    setrlimit(RLIMIT_NOFILE, &limit);
    open_world(&w, 1, false);
    for (int i = 0; i < N_THREADS; i++)
        threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    for (int i = 0; i < 40; i++)
        readings_follow(&w.readings);
    int fd = dup(0);
    CHECK("some descriptors are left for all else", fd >= 0);
    close(fd);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK("threads for which there are none are counted", w.readings.n_without >= 30 && w.readings.n_without < 60);
    CHECK_TEXT("with the reason", w.readings.why, "too few file descriptors (ulimit -n)");
    CHECK("the others are read", w.readings.n_read + w.readings.n_without == N_THREADS);
    close_world(&w);
    CHECK("all are closed", n_open_files() < limit.rlim_cur - 64 - 40);
}

static int refuse(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    (void)attr, (void)cpu, (void)group_fd, (void)flags;
    errno = pid == 1 ? ESRCH : EACCES;
    return -1;
}

static void test_refusal(void)
{
    struct world w;
    counters_perf_open_replace(refuse);
    open_world(&w, 1, false);
    threads_add(&w.threads, 1, TRACE_UNKNOWN);
    threads_add(&w.threads, 2, TRACE_UNKNOWN);
    threads_add(&w.threads, 3, TRACE_UNKNOWN);
    for (int i = 0; i < 3; i++) /* on a slow machine they are more than a round's work */
        readings_follow(&w.readings);
    readings_take(&w.readings, SECOND);
    CHECK_NUMBER("threads that may not be read are counted, not those that have gone", w.readings.n_without, 2);
    CHECK_TEXT("with the kernel's reason", w.readings.why, "Permission denied");
    counters_perf_open_replace(open_software);
    close_world(&w);
}

int main(void)
{
    if (!play_hardware())
        return tap_done();
    test_thread_without_ring(1);
    test_thread_without_ring(2);
    test_idle();
    test_budget();
    test_descriptors();
    test_refusal();
    return tap_done();
}
