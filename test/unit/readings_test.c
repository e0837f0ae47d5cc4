/*
 * Threads' counters, read from outside, with software events in the place of the hardware's: threads of this process
 * that work, wait and end; what a thread hands over with its ring; what cannot be read; and what it may cost.
 */
#include "test/unit/tap.h"

#include "core/agent/agent.h"
#include "core/base/ticks.h"
#include "core/counters/kernel_rings.h"
#include "core/recorder/drain.h"
#include "core/recorder/readings.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the JVM calls. */
jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token);

#define EPOCH   3u
#define STEP_NS 10000000u
#define SECOND  1000000000u

static struct err err;

/* ---- the kernel, with software events ---- */

static int open_software(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    struct perf_event_attr software = *attr;
    software.type = PERF_TYPE_SOFTWARE;
    software.config = PERF_COUNT_SW_TASK_CLOCK;
    software.config1 = 0;
    software.exclude_kernel = 1;
    return (int)syscall(SYS_perf_event_open, &software, pid, cpu, group_fd, flags);
}

/* n_groups groups of two events. */
static struct counter_layout make_layout(uint32_t n_groups)
{
    struct counter_layout layout = { .n_groups = 0 };
    const struct counter_code codes[2] = { { .type = PERF_TYPE_HARDWARE }, { .type = PERF_TYPE_HARDWARE } };
    for (uint32_t g = 0; g < n_groups; g++)
        counter_layout_add(&layout, codes, (const uint8_t[]){ 0, (uint8_t)(g + 1) }, 2);
    return layout;
}

static size_t n_open_files(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n;
}

/* ---- a session without a target ---- */

struct world {
    struct session session;
    struct threads threads;
    struct drain drain;
    struct counter_layout layout;
    struct readings readings;
    struct trace_writer *writer;
    char path[64];
};

static bool open_world(struct world *w, uint32_t n_groups, bool without_probes)
{
    struct session_plan plan = { .ring_bytes = 65536, .config = "" };
    memset(w, 0, sizeof *w);
    w->layout = make_layout(n_groups);
    plan.n_counters = without_probes ? 0 : counter_layout_columns(&w->layout);
    struct readings_plan readings = { &w->layout, without_probes };
    struct trace_counter counters[COUNTERS_COLUMNS_MAX];
    size_t n = counter_layout_columns(&w->layout);
    for (size_t i = 0; i < n; i++)
        counters[i] = (struct trace_counter){ "c", "", true, TRACE_COUNTER_EVENT, 0 };
    snprintf(w->path, sizeof w->path, "/tmp/mmprof-readings-test.%d", (int)getpid());
    threads_init(&w->threads);
    bool ok =
        session_open(&w->session, &plan, &err) == 0 && drain_init(&w->drain, &w->session, &w->threads, &err) == 0 &&
        readings_init(&w->readings, &readings, &w->session, &w->threads, &err) == 0 &&
        trace_writer_open(&w->writer, w->path, &err) == 0 && trace_write_counters(w->writer, counters, n, &err) == 0;
    if (ok && without_probes)
        trace_write_plain_records(w->writer);
    w->session.segment->epoch = EPOCH;
    return ok;
}

static bool write_round(struct world *w)
{
    readings_take(&w->readings, kernel_now_ns());
    drain_snapshot(&w->drain);
    return drain_threads(&w->drain, &err) == 0 && readings_follow(&w->readings, &err) == 0 &&
           threads_write(&w->threads, w->writer, &err) == 0 && readings_write(&w->readings, w->writer, &err) == 0 &&
           drain_records(&w->drain, w->writer, ticks_now(), &err) == 0;
}

static void close_world(struct world *w)
{
    if (w->writer != NULL)
        trace_writer_close(w->writer, ticks_now(), &err);
    unlink(w->path);
    readings_close(&w->readings);
    drain_free(&w->drain);
    session_close(&w->session);
    threads_free(&w->threads);
}

/* The trace's readings of a thread. */
struct series {
    size_t n, n_records;
    uint64_t ticks[256], values[256], numbers[256]; /* values: of the first column */
    bool in_order;                                  /* neither time nor values go back within a series */
};

static struct series read_series(struct world *w, uint32_t thread)
{
    struct series s = { .in_order = true };
    struct trace_reader *reader;
    struct trace_event event;
    trace_writer_close(w->writer, ticks_now(), &err);
    w->writer = NULL;
    if (trace_open(&reader, w->path, false, &err) < 0)
        return s;
    while (trace_next(reader, &event, &err) > 0) {
        s.n_records += event.kind <= TRACE_GAP;
        if (event.kind != TRACE_COUNTS || event.thread != thread || s.n == 256)
            continue;
        s.ticks[s.n] = event.ticks;
        s.numbers[s.n] = event.count;
        s.values[s.n] = event.counters[0];
        if (s.n > 0 && s.numbers[s.n - 1] == event.count)
            s.in_order = s.in_order && event.ticks >= s.ticks[s.n - 1] && event.counters[0] >= s.values[s.n - 1];
        s.n++;
    }
    trace_close(reader);
    return s;
}

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

static void rounds(struct world *w, unsigned ms)
{
    for (uint64_t until = kernel_now_ns() + (uint64_t)ms * 1000000u; kernel_now_ns() < until; usleep(2000))
        write_round(w);
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
        readings_follow(&w.readings, &err);
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
        readings_follow(&w.readings, &err);
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
        readings_follow(&w.readings, &err);
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
        readings_follow(&w.readings, &err);
    readings_take(&w.readings, SECOND);
    CHECK_NUMBER("threads that may not be read are counted, not those that have gone", w.readings.n_without, 2);
    CHECK_TEXT("with the kernel's reason", w.readings.why, "Permission denied");
    counters_perf_open_replace(open_software);
    close_world(&w);
}

/* ---- threads with rings ---- */

static jvmtiError JNICALL no_thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *info)
{
    (void)env, (void)thread, (void)info;
    return JVMTI_ERROR_WRONG_PHASE;
}

static struct jvmtiInterface_1_ functions = { .GetThreadInfo = no_thread_info };
static jvmtiEnv jvmti = &functions;

static void call(void)
{
    jint token = Java_java_lang_MmprofProbe_enter0(NULL, NULL, (jint)agent_token(EPOCH, 1));
    if (token != 0)
        Java_java_lang_MmprofProbe_exit0(NULL, NULL, token);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Of this thread's CPU time: the machine may be busy. */
static void work_for(unsigned ms)
{
    uint64_t start = own_cpu_ns(), now;
    do
        now = own_cpu_ns();
    while (now - start < (uint64_t)ms * 1000000u);
}

/* A session whose probes count by system call, and hand over through a pair of sockets.  Returns the agent's end. */
static int open_probes(struct world *w, bool by_call)
{
    static struct agent_config config;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    w->session.peer = ends[0];
    config.counting = (struct counting_plan){ w->layout, by_call };
    probe_start(w->session.segment, &config, &jvmti, ends[1]);
    return ends[1];
}

static bool hear(struct world *w)
{
    char packet[PROTOCOL_PACKET_BYTES];
    if (session_receive(&w->session, packet) <= 0)
        return false;
    readings_hand_over(&w->readings, packet, w->session.fds, w->session.n_fds);
    w->session.n_fds = 0;
    return true;
}

/* The agent's probes, that is this thread: descriptors to look at what becomes of its events. */
static void test_handed_over(uint32_t n_groups)
{
    struct world w;
    size_t n_files = n_open_files();
    CHECK("a session with probes opens", open_world(&w, n_groups, false));
    int end = open_probes(&w, true);
    struct recorder_thread *thread = threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    write_round(&w);
    work_for(15);
    write_round(&w);
    call();
    CHECK("its first probe hands a thread's counters over", hear(&w) && !hear(&w));
    for (int i = 0; i < 4; i++) {
        write_round(&w);
        work_for(12);
        if (i == 2)
            call();
    }
    write_round(&w);
    CHECK("the thread has a ring", thread->ring == 0);
    const uint64_t *words = session_words(&w.session, 0);
    uint64_t at_exit = words[1 + counter_layout_columns(&w.layout) + 1];
    struct counters_outside copy = w.readings.handed[0].outside;
    for (uint32_t i = 0; i < copy.n_slots; i++)
        copy.fds[i] = copy.fds[i] < 0 ? -1 : dup(copy.fds[i]);
    struct series s = read_series(&w, 0);
    for (size_t i = 0; i < s.n; i++)
        printf("# series %" PRIu64 " at %" PRIu64 " ticks: %" PRIu64 " ns\n", s.numbers[i], s.ticks[i] - s.ticks[0],
               s.values[i]);
    CHECK("its readings are in order", s.in_order && s.n >= 4);
    CHECK_NUMBER("first of the recorder's own series", s.numbers[0], 0);
    CHECK_NUMBER("then of the probes'", s.numbers[s.n - 1], 1);
    CHECK("which continues the values in its records", s.values[s.n - 1] > at_exit + 20000000);
    CHECK_NUMBER("all records are there", s.n_records, 4);
    readings_close(&w.readings);
    uint64_t before[COUNTERS_COLUMNS_MAX] = { 0 }, after[COUNTERS_COLUMNS_MAX] = { 0 };
    counters_outside_read(&copy, &w.layout, before);
    work_for(5);
    counters_outside_read(&copy, &w.layout, after);
    CHECK("after the session what the thread has open counts no more", before[0] > 0 && before[0] == after[0]);
    counters_outside_close(&copy);
    probe_stop();
    probe_thread_ended();
    close(end);
    close_world(&w);
    CHECK_NUMBER("no descriptor is left", n_open_files(), n_files);
}

/* What a thread did between the last reading of it and its first probe is in the recorder's series. */
static void test_begin_of_probes(void)
{
    struct world w;
    open_world(&w, 1, false);
    int end = open_probes(&w, true);
    threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    write_round(&w);
    uint64_t start = own_cpu_ns();
    work_for(30);
    call();
    uint64_t at_probe = own_cpu_ns();
    work_for(20);
    hear(&w);
    write_round(&w);
    uint64_t start_ticks = session_ring(&w.session, 0)->start_ticks;
    struct series s = read_series(&w, 0);
    CHECK("the recorder's series ends where the probes' begins",
          s.n == 2 && s.numbers[1] == 0 && s.ticks[1] == start_ticks);
    uint64_t counted = s.n == 2 ? s.values[1] - s.values[0] : 0, worked = at_probe - start;
    printf("# %" PRIu64 " ns of %" PRIu64 " ns\n", counted, worked);
    CHECK("with all until then", counted > worked - worked / 20 && counted < worked + worked / 20);
    probe_stop();
    probe_thread_ended();
    close(end);
    close_world(&w);
}

static void test_calibrating(void)
{
    struct world w;
    open_world(&w, 1, false);
    int32_t tid = (int32_t)syscall(SYS_gettid);
    threads_add(&w.threads, tid, TRACE_UNKNOWN);
    size_t n_files = n_open_files();
    write_round(&w);
    CHECK("a thread is counted", n_open_files() > n_files);
    atomic_store(&w.session.segment->calibrating_tid, tid);
    write_round(&w);
    CHECK_NUMBER("not while it needs the counters for itself", n_open_files(), n_files);
    write_round(&w);
    atomic_store(&w.session.segment->calibrating_tid, 0);
    write_round(&w);
    work_for(15);
    write_round(&w);
    struct series s = read_series(&w, 0);
    CHECK("then again, in another series", s.n >= 2 && s.numbers[0] == 0 && s.numbers[s.n - 1] == 2);
    close_world(&w);
}

static void test_full_socket(void)
{
    struct world w;
    open_world(&w, 1, false);
    int end = open_probes(&w, true);
    threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    write_round(&w);
    while (send(end, "x", 1, MSG_DONTWAIT) == 1)
        continue;
    call();
    CHECK("a thread that cannot hand its counters over goes on",
          atomic_load(&session_ring(&w.session, 0)->counters) == RING_COUNTERS_ALONE);
    write_round(&w);
    write_round(&w);
    CHECK_NUMBER("it is counted, once", w.readings.n_without, 1);
    CHECK_TEXT("with the reason", w.readings.why, "the agent's socket to mmprof is full");
    probe_stop();
    probe_thread_ended();
    close(end);
    close_world(&w);
}

static void test_bad_packets(void)
{
    static const struct {
        const char *claim, *packet;
        size_t n_fds;
        bool is_event;
    } rows[] = {
        { "too few descriptors", "counters 7 0", 1, true }, { "too many", "counters 7 0", 3, true },
        { "what is no event", "counters 7 0", 2, false },   { "a ring that is none", "counters 7 1024", 2, true },
        { "a negative ring", "counters 7 -1", 2, true },    { "no numbers", "counters x", 2, true },
    };
    struct world w;
    open_world(&w, 2, false);
    size_t n_files = n_open_files();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct perf_event_attr attr;
        int fds[3];
        counters_attr(&w.layout.codes[0], &attr);
        for (size_t k = 0; k < rows[i].n_fds; k++)
            fds[k] = rows[i].is_event || k == 0 ? open_software(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) : dup(0);
        readings_hand_over(&w.readings, rows[i].packet, fds, rows[i].n_fds);
        bool is_taken = false;
        for (uint32_t r = 0; r < w.session.n_rings; r++)
            is_taken = is_taken || w.readings.handed[r].outside.n_slots > 0;
        char claim[80];
        snprintf(claim, sizeof claim, "%s: not taken, and closed", rows[i].claim);
        CHECK(claim, !is_taken && n_open_files() == n_files);
    }
    close_world(&w);
}

/* ---- a record in between ---- */

static struct ring *writing;

static bool read_and_write(int fd, struct counters_reading *reading)
{
    atomic_fetch_add(&writing->head, 1);
    ssize_t n = read(fd, reading, sizeof *reading);
    return n > 0;
}

static void test_dropped(void)
{
    struct world w;
    open_world(&w, 1, true);
    struct recorder_thread *thread = threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    thread->ring = 5;
    writing = session_ring(&w.session, 5);
    readings_follow(&w.readings, &err);
    CHECK("where probes do not read, a thread with a ring is counted, too", w.readings.n_read == 1);
    CHECK_NUMBER("a reading without a record in between is kept", w.readings.n_pending, 1);
    counters_perf_read_replace(read_and_write);
    thread->has_run = true;
    readings_take(&w.readings, SECOND);
    CHECK("one during which the thread wrote a record is dropped",
          w.readings.n_read == 2 && w.readings.n_dropped == 1 && w.readings.n_pending == 1);
    counters_perf_read_replace(NULL);
    close_world(&w);
}

/* ---- counters that do not open in the target ---- */

static void test_failed(void)
{
    struct world w;
    open_world(&w, 1, false);
    int end = open_probes(&w, false); /* software events cannot be read in user space */
    threads_add(&w.threads, (int32_t)syscall(SYS_gettid), TRACE_UNKNOWN);
    write_round(&w);
    call();
    struct ring *ring = session_ring(&w.session, 0);
    CHECK("counters that do not open at once may open later", atomic_load(&ring->counters) == RING_COUNTERS_NONE);
    for (uint64_t until = kernel_now_ns() + 3u * (uint64_t)SECOND;
         kernel_now_ns() < until && atomic_load(&ring->counters) == RING_COUNTERS_NONE; usleep(5000)) {
        call();
        write_round(&w);
    }
    CHECK("after a second the thread gives up", atomic_load(&ring->counters) == RING_COUNTERS_FAILED);
    rounds(&w, 30);
    struct series s = read_series(&w, 0);
    CHECK("then the recorder counts it again, in a series of its own", s.n > 1 && s.numbers[s.n - 1] == 2);
    probe_stop();
    probe_thread_ended();
    close(end);
    close_world(&w);
}

int main(void)
{
    struct perf_event_attr attr;
    counters_attr(&(struct counter_code){ .type = PERF_TYPE_HARDWARE }, &attr);
    int fd = open_software(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        SKIP("threads are read from outside", "perf_event_open does not work here");
        return tap_done();
    }
    close(fd);
    counters_perf_open_replace(open_software);
    test_thread_without_ring(1);
    test_thread_without_ring(2);
    test_idle();
    test_budget();
    test_descriptors();
    test_refusal();
    test_handed_over(1);
    test_handed_over(3);
    test_begin_of_probes();
    test_calibrating();
    test_full_socket();
    test_bad_packets();
    test_dropped();
    test_failed();
    return tap_done();
}
