/*
 * The memory of rings: where it is short they begin small and grow, what is recorded stays whole, and the target cannot
 * take more, nor take any away.
 */
#include "test/unit/probe_world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MB   (UINT64_C(1) << 20)
#define RING (8 * MB)

static uint64_t allocated(int fd)
{
    struct stat about;
    return fstat(fd, &about) < 0 ? 0 : (uint64_t)about.st_blocks * 512;
}

/* Calls of one thread, which is faster than the drain, or deep. */
static void call(uint64_t *n_recorded, int n)
{
    for (int i = 0; i < n; i++) {
        jint token = enter(1 + (uint32_t)i % N_METHODS);
        *n_recorded += token != 0;
        leave(token);
    }
}

static void test_growth(void)
{
    struct world w;
    struct tally t;
    uint64_t n = 0;
    CHECK("a session opens with little memory",
          open_world_within(&w, RING, (struct ring_memory_plan){ 20, 12 * MB, 0 }));
    struct ring_memory *memory = &w.session.memory;
    uint32_t first = memory->first_words;
    CHECK("its rings begin small", first < 16384 && memory->n_prepared == 84);
    CHECK("what they may take is allocated, and no more",
          allocated(w.session.segment_fd) == memory->used_bytes && memory->used_bytes < 4 * MB);
    for (int i = 0; i < 200; i++) {
        call(&n, (int)first / 3);
        drain_once(&w);
    }
    CHECK("a busy thread's ring has grown", memory->granted[0] > first);
    CHECK("within the limit", allocated(w.session.segment_fd) == memory->used_bytes && memory->used_bytes <= 12 * MB);
    CHECK("its trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("all calls are there", t.n_enters, n);
    CHECK_NUMBER("and nothing is lost", t.n_lost, 0);
    CHECK_NUMBER("or mixed up", t.n_unnested + (t.n_exits != n), 0);
    close_world(&w);
}

static void *run(void *argument)
{
    struct caller *c = argument;
    for (int i = 0; i < 200; i++)
        call(&c->n_recorded, 1000);
    probe_thread_ended();
    atomic_store(&c->done, true);
    return NULL;
}

/* Rings grow while their threads write, and go from thread to thread. */
static void test_threads(void)
{
    struct world w;
    struct tally t;
    struct caller callers[N_THREADS];
    uint64_t n = 0;
    CHECK("a session opens for threads", open_world_within(&w, MB, (struct ring_memory_plan){ 2, 4 * MB, 0 }));
    for (int turn = 0; turn < 3; turn++) {
        memset(callers, 0, sizeof callers);
        for (int i = 0; i < N_THREADS; i++)
            pthread_create(&callers[i].thread, NULL, run, &callers[i]);
        for (int i = 0; i < N_THREADS; i++) {
            while (!atomic_load(&callers[i].done))
                drain_once(&w);
            pthread_join(callers[i].thread, NULL);
            n += callers[i].n_recorded;
        }
    }
    CHECK("its trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("all that was recorded is there", t.n_enters, n);
    CHECK_NUMBER("well nested", t.n_unnested + (t.n_exits != n), 0);
    close_world(&w);
}

/* The thread fills its ring before the drain comes: it loses calls, which are counted, and gets more. */
static void test_loss(void)
{
    struct world w;
    struct tally t;
    uint64_t n = 0;
    CHECK("a session opens with little memory again",
          open_world_within(&w, RING, (struct ring_memory_plan){ 20, 12 * MB, 0 }));
    uint32_t first = w.session.memory.first_words;
    for (int i = 0; i < 20; i++) {
        call(&n, (int)first);
        drain_once(&w);
    }
    CHECK("its ring has grown", w.session.memory.granted[0] > first);
    CHECK("its trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK("some calls were lost at first", t.n_lost > 0 && t.n_lost + n == 20 * (uint64_t)first);
    CHECK_NUMBER("the others are there", t.n_enters, n);
    CHECK_NUMBER("each with its exit", t.n_unnested + (t.n_exits != n), 0);
    close_world(&w);
}

static void test_depth(void)
{
    struct world w;
    static jint tokens[100000];
    uint32_t n = 0, depth = 0;
    CHECK("a session opens for deep calls", open_world_within(&w, RING, (struct ring_memory_plan){ 20, 12 * MB, 0 }));
    uint32_t first = w.session.memory.first_words;
    for (; depth < sizeof tokens / sizeof *tokens; depth++) {
        tokens[depth] = enter(1);
        n += tokens[depth] != 0;
    }
    CHECK("the stack of open calls has an end", n > ring_stack_words(first) / 2 && n < ring_stack_words(first));
    while (depth-- > 0)
        leave(tokens[depth]);
    CHECK_NUMBER("what is behind it is lost and counted", atomic_load(&session_ring(&w.session, 0)->n_lost),
                 sizeof tokens / sizeof *tokens - n);
    CHECK("nothing outside of the ring's memory was touched",
          allocated(w.session.segment_fd) == w.session.memory.used_bytes);
    close_trace(&w);
    close_world(&w);
}

static void test_refusal(void)
{
    struct session session;
    struct err err = { "" };
    struct session_plan plan = { .ring_bytes = RING, .memory = { 1000, MB, 0 }, .config = "" };
    CHECK("what does not fit is refused", session_open(&session, &plan, &err) < 0);
    CHECK("and it is said why", strstr(err.text, "no memory for the records of 1024 threads") != NULL &&
                                    strstr(err.text, "\n  next: ") != NULL);
    session_close(&session);
}

/* ---- a hostile target ---- */

static void test_seals(void)
{
    struct world w;
    CHECK("a session opens to be attacked", open_world(&w, 65536));
    const int fds[] = { w.session.segment_fd, w.session.methods_fd, w.session.code_fd, w.session.config_fd };
    bool is_refused = true;
    for (size_t i = 0; i < 3; i++)
        is_refused &= i > 0 && write(fds[i], "12345", 5) != 5 ? false : ftruncate(fds[i], 1) < 0 && errno == EPERM;
    CHECK("memory and logs cannot be cut", is_refused);
    CHECK("the configuration cannot be written", pwrite(w.session.config_fd, "x", 1, 0) < 0 && errno == EPERM);
    CHECK("a log can be appended to", write(w.session.code_fd, "x", 1) == 1);
    CHECK("holes can be made in it",
          fallocate(w.session.code_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0);
    probe_stop();
    struct err err = { "" };
    trace_writer_close(w.writer, ticks_now(), &err);
    close_world(&w);
}

/* It says of its rings what is not so. */
static void test_lies(void)
{
    struct world w;
    static const uint32_t sizes[] = { 0, 3, 1u << 31, UINT32_MAX, 1u << 20, 1 };
    CHECK("a session opens for lies", open_world_within(&w, RING, (struct ring_memory_plan){ 4, 12 * MB, 0 }));
    bool drains = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ring *ring = session_ring(&w.session, (uint32_t)i);
        ring->tid = (int32_t)getpid();
        atomic_store(&ring->state, RING_TAKEN);
        atomic_store(&ring->size, sizes[i]);
        atomic_store(&ring->granted, sizes[i]);
        atomic_store(&ring->head, UINT64_C(1) << (i * 9));
        atomic_store(&ring->n_lost, i * 1000);
        atomic_store(&w.session.segment->n_rings_seen, UINT32_MAX);
        atomic_store(&w.session.segment->n_prepared, UINT32_MAX);
        drains &= drain_once(&w) && drain_once(&w);
    }
    CHECK("they are drained", drains);
    CHECK("and get no more than the limit",
          allocated(w.session.segment_fd) <= 12 * MB && w.session.memory.used_bytes <= 12 * MB);
    CHECK("the trace closes", close_trace(&w));
    close_world(&w);
}

int main(void)
{
    test_growth();
    test_threads();
    test_loss();
    test_depth();
    test_refusal();
    test_seals();
    test_lies();
    return tap_done();
}
