/*
 * Counters of threads with rings: what a thread hands over, what the recorder reads of it between its records, and what
 * it could not open.
 */
#include "core/wire/config.h"
#include "core/agent/probe/probe.h"
#include "test/unit/jvmti_stand_in.h"
#include "test/unit/open_files.h"
#include "test/unit/readings_world.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

/* What the JVM calls. */
jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token);

/* ---- threads with rings ---- */

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
    static struct counting_plan plan;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    w->session.peer = ends[0];
    plan = (struct counting_plan){ w->layout, by_call };
    probe_start(w->session.segment, &plan, &jvmti, ends[1]);
    return ends[1];
}

static bool hear(struct world *w)
{
    struct wire_message told;
    if (session_receive(&w->session, &told) <= 0)
        return false;
    readings_hand_over(&w->readings, &told, w->session.fds, w->session.n_fds);
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
    uint64_t before_round = own_cpu_ns();
    write_round(&w);
    uint64_t after_round = own_cpu_ns();
    work_for(30);
    uint64_t before_probe = own_cpu_ns();
    call();
    uint64_t after_probe = own_cpu_ns();
    work_for(20);
    hear(&w);
    write_round(&w);
    uint64_t start_ticks = session_ring(&w.session, 0)->start_ticks;
    struct series s = read_series(&w, 0);
    CHECK("the recorder's series ends where the probes' begins",
          s.n == 2 && s.numbers[1] == 0 && s.ticks[1] == start_ticks);
    uint64_t counted = s.n == 2 ? s.values[1] - s.values[0] : 0;
    uint64_t least = before_probe - after_round, most = after_probe - before_round, margin = least / 20;
    printf("# %" PRIu64 " ns, of %" PRIu64 " to %" PRIu64 "\n", counted, least, most);
    CHECK("with all until then", counted > least - margin && counted < most + margin);
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
        struct wire_message told;
        wire_decode(rows[i].packet, NULL, &told);
        readings_hand_over(&w.readings, &told, fds, rows[i].n_fds);
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
    readings_follow(&w.readings);
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
    if (!play_hardware())
        return tap_done();
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
