/*
 * Threads that call as rewritten methods do, rings that are too small, a recorder that drains meanwhile.  Also built
 * with ThreadSanitizer.
 */
#include "test/unit/probe_world.h"

#include <sys/syscall.h>
#include <time.h>

#define N_CALLS 100000u /* by each thread */

static void call(struct caller *c, int depth)
{
    jint token = enter(1 + next_random(c) % N_METHODS);
    c->n_recorded += token != 0;
    c->n_dropped += token == 0;
    while (c->n_left > 0 && depth < MAX_DEPTH && next_random(c) % 2 == 0) {
        c->n_left--;
        call(c, depth + 1);
    }
    if (token != 0 && next_random(c) % 8 == 0)
        Java_java_lang_MmprofProbe_unwind0(NULL, NULL, token);
    else
        leave(token);
}

static void *run_caller(void *argument)
{
    struct caller *c = argument;
    while (c->n_left > 0) {
        c->n_left--;
        call(c, 1);
    }
    probe_thread_ended();
    atomic_store(&c->done, true);
    return NULL;
}

static void test_threads(void)
{
    struct world w;
    struct tally t;
    struct caller callers[N_THREADS];
    uint64_t n_recorded = 0, n_dropped = 0;
    bool ok = CHECK("a session opens", open_world(&w, 8192));
    for (int i = 0; ok && i < N_THREADS; i++) {
        callers[i] = (struct caller){ .random = (uint32_t)i + 1, .n_left = N_CALLS };
        ok = pthread_create(&callers[i].thread, NULL, run_caller, &callers[i]) == 0;
    }
    for (int i = 0; ok && i < N_THREADS; i++) {
        while (ok && !atomic_load(&callers[i].done))
            ok = drain_once(&w);
        pthread_join(callers[i].thread, NULL);
        n_recorded += callers[i].n_recorded;
        n_dropped += callers[i].n_dropped;
    }
    CHECK("rings are drained while threads fill them", ok && close_trace(&w));
    CHECK("the trace is readable", read_trace(&w, &t));
    CHECK("calls were made", n_recorded + n_dropped >= (uint64_t)N_THREADS * N_CALLS);
    CHECK_NUMBER("all that was recorded is there", t.n_enters, n_recorded);
    CHECK_NUMBER("each entry has its exit", t.n_exits + t.n_unwinds, n_recorded);
    CHECK_NUMBER("what found no room is counted", t.n_lost, n_dropped);
    CHECK("gaps say where, but for those at a thread's end", t.n_lost_in_gaps <= n_dropped);
    CHECK_NUMBER("the rest is well nested", t.n_unnested, 0);
    close_world(&w);
}

/* ---- one thread, step by step ---- */

static void test_loss(void)
{
    struct world w;
    struct tally t;
    uint32_t n = 0;
    jint tokens[4096];
    CHECK("a session with the smallest rings opens", open_world(&w, 8192));
    while (n < 4096 && (tokens[n] = enter(3)) != 0)
        n++;
    CHECK("a ring keeps half of its room for the exits of open calls", n > 400 && n <= 512);
    CHECK_NUMBER("a call that found no room has no token", enter(4), 0);
    for (uint32_t i = n; i > 0; i--)
        leave(tokens[i - 1]);
    jint token;
    for (; (token = enter(5)) != 0; n++)
        leave(token);
    CHECK("without a recorder the exits' room is soon used up", n <= 512);
    CHECK("the ring is drained", drain_once(&w));
    token = enter(6);
    CHECK("then there is", token != 0);
    leave(token);
    CHECK("the trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("the exits of all recorded calls are there", t.n_exits, n + 1);
    CHECK_NUMBER("three calls were lost", t.n_lost, 3);
    CHECK_NUMBER("and a gap says so", t.n_lost_in_gaps, 3);
    close_world(&w);
}

static void test_stale_calls(void)
{
    struct world w;
    struct tally t;
    CHECK("a session opens once more", open_world(&w, 65536));
    jint outer = enter(1), inner = enter(2), lost = enter(3);
    Java_java_lang_MmprofProbe_caught0(NULL, NULL, inner);
    Java_java_lang_MmprofProbe_caught0(NULL, NULL, inner);
    leave(inner);
    jint again = enter(4);
    leave(outer);
    leave(lost);
    leave(again);
    CHECK("the trace closes again", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("four entries", t.n_enters, 4);
    CHECK_NUMBER("a catch and an outer exit end what was left unseen", t.n_unwinds, 2);
    CHECK_NUMBER("exits of calls that ended so are ignored", t.n_exits, 2);
    CHECK_NUMBER("nothing is out of order", t.n_unnested, 0);
    probe_thread_ended();
    CHECK_NUMBER("after the session no thread gets a ring", enter(1), 0);
    close_world(&w);
}

/* ---- calls under way ---- */

static const uint32_t *on_stack; /* outermost first; ends with 0 */
static uint32_t n_put_off;       /* so often classes are still being changed */
static uint32_t n_found;         /* so often they were not */

static bool find_calls(struct open_calls *calls, void *jni)
{
    (void)jni;
    calls->is_deferred = n_put_off > 0;
    if (calls->is_deferred) {
        n_put_off--;
        return false;
    }
    n_found++;
    for (calls->n_found = 0; on_stack[calls->n_found] != 0; calls->n_found++)
        calls->found[calls->n_found] = on_stack[calls->n_found] | OPEN_CALL;
    return true;
}

static void look_at(const uint32_t *stack)
{
    on_stack = stack;
    probe_find_open();
}

static void test_under_way(void)
{
    struct world w;
    struct tally t;
    look_at((const uint32_t[]){ 1, 2, 0 });
    probe_find_with(find_calls);
    n_put_off = 3;
    CHECK("a session opens with calls under way", open_world(&w, 65536));
    uint64_t n_tries = 0;
    for (const struct timespec pause = { 0, 100000 }; n_found == 0; n_tries++) {
        leave(enter(3));
        nanosleep(&pause, NULL);
    }
    CHECK_NUMBER("what is put off is tried again", n_put_off, 0);
    jint outer = enter(4);
    look_at((const uint32_t[]){ 1, 4, 0 }); /* 2 is over, 4 has begun outside of it */
    leave(enter(3));
    leave(outer);
    jint last = enter(1); /* within the call of the same method that is under way */
    look_at((const uint32_t[]){ 1, 1, 0 });
    leave(enter(3));
    leave(last);
    CHECK("its trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("calls under way are found once", t.n_opens, 2);
    CHECK_NUMBER("a recorded call that goes on elsewhere is resumed", t.n_resumes, 1);
    CHECK_NUMBER("recorded calls have their entries", t.n_enters, 4 + n_tries);
    CHECK_NUMBER("and exits, and so has what is over, and what moved", t.n_exits, 4 + n_tries + 1 + 1);
    CHECK_NUMBER("what is under way has none", t.depth[0] + t.depth[1], 1);
    CHECK_NUMBER("all of it is well nested", t.n_unnested, 0);
    probe_find_with(NULL);
    close_world(&w);
}

/* The agent replaces a session's memory by zeros, whatever threads are doing. */
static void test_lost_memory(void)
{
    struct world w;
    CHECK("a session opens to lose its memory", open_world(&w, 8192));
    jint outer = enter(1), inner = enter(2);
    probe_stop();
    memset(w.session.segment, 0, w.session.segment_bytes);
    leave(inner);
    leave(outer);
    leave(inner);
    CHECK_NUMBER("afterwards nothing is recorded", enter(3), 0);
    leave(outer);
    CHECK_NUMBER("and nothing is written", atomic_load(&session_ring(&w.session, 0)->head), 0);
    struct err err = { "" };
    CHECK("the trace closes all the same", trace_writer_close(w.writer, ticks_now(), &err) == 0);
    close_world(&w);
}

static void test_epochs(void)
{
    struct world w;
    struct tally t;
    CHECK("a session opens for tokens", open_world(&w, 65536));
    uint32_t old = agent_token(EPOCH - 1, 9);
    CHECK_NUMBER("a token of another session records nothing", Java_java_lang_MmprofProbe_enter0(NULL, NULL, (jint)old),
                 0);
    jint token = enter(9);
    Java_java_lang_MmprofProbe_exit0(NULL, NULL, (jint)old);
    leave(token);
    CHECK("its trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("nor ends it a call of this one", t.n_exits, 1);
    close_world(&w);
}

static void *call_in_second(void *token)
{
    Java_java_lang_MmprofProbe_enter0(NULL, NULL, *(const jint *)token);
    probe_thread_ended();
    return NULL;
}

/*
 * Tokens have fewer epochs than a JVM may have sessions.  This thread's latest session had the same epoch in its tokens
 * as the one that begins now, where its ring is another thread's.
 */
static void test_epochs_again(void)
{
    struct world w;
    pthread_t other;
    uint32_t next = EPOCH;
    CHECK("a session opens before many others", open_world(&w, 65536));
    jint stale = enter(3), token = (jint)agent_token(EPOCH, 4);
    struct ring *first = session_ring(&w.session, 0), *second = session_ring(&w.session, 1);
    probe_stop();
    atomic_store(&first->state, RING_FREE);
    atomic_store(&first->head, 0);
    do
        next = agent_next_epoch(next);
    while (agent_token(next, 4) != (uint32_t)token);
    w.session.segment->epoch = next;
    probe_start(w.session.segment, &w.counting, &jvmti, -1);
    CHECK("another thread takes the ring",
          pthread_create(&other, NULL, call_in_second, &token) == 0 && pthread_join(other, NULL) == 0);
    uint64_t head = atomic_load(&first->head);
    Java_java_lang_MmprofProbe_exit0(NULL, NULL, stale);
    Java_java_lang_MmprofProbe_caught0(NULL, NULL, stale);
    CHECK_NUMBER("a call of 2,046 sessions ago does not end in it", atomic_load(&first->head), head);
    CHECK_NUMBER("a call is recorded", Java_java_lang_MmprofProbe_enter0(NULL, NULL, token), token);
    CHECK_NUMBER("not as the other thread's", atomic_load(&first->head), head);
    CHECK_NUMBER("but in a ring of its own", atomic_load(&second->head), 1);
    CHECK_NUMBER("which is this thread's", second->tid, (int)syscall(SYS_gettid));
    probe_stop();
    CHECK("the trace of both closes", trace_writer_close(w.writer, ticks_now(), &(struct err){ "" }) == 0);
    close_world(&w);
}

/* 0 is no session, and the last of a token's epochs is calibration's. */
static void test_next_epoch(void)
{
    uint32_t epoch = 0;
    bool is_bad = false;
    for (uint32_t i = 0; i < 3 * AGENT_EPOCH_MAX; i++) {
        uint32_t before = epoch, in_token;
        epoch = agent_next_epoch(epoch);
        in_token = agent_token(epoch, 0) >> RING_METHOD_BITS;
        is_bad |= epoch <= before || in_token == 0 || in_token == AGENT_EPOCH_MAX;
    }
    CHECK("each session has an epoch that no session before had", !is_bad);
    CHECK_NUMBER("after the last number comes the first", agent_next_epoch(UINT32_MAX - 1), 1);
}

int main(void)
{
    test_next_epoch();
    test_epochs_again();
    test_loss();
    test_stale_calls();
    test_under_way();
    test_lost_memory();
    test_epochs();
    test_threads();
    return tap_done();
}
