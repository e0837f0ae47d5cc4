/*
 * The probes and the recorder's side of their rings, without a JVM: threads that call as rewritten methods do, rings
 * that are too small, a recorder that drains meanwhile.  Also built with ThreadSanitizer.
 */
#include "test/unit/tap.h"

#include "core/agent/agent.h"
#include "core/base/ticks.h"
#include "core/recorder/drain.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* What the JVM calls. */
jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_unwind0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_caught0(JNIEnv *jni, jclass probe, jint token);

#define EPOCH     7u
#define N_THREADS 4
#define N_METHODS 50
#define MAX_DEPTH 60
#define N_CALLS   100000u /* by each thread */

static jvmtiError JNICALL no_thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *info)
{
    (void)env;
    (void)thread;
    (void)info;
    return JVMTI_ERROR_WRONG_PHASE;
}

static struct jvmtiInterface_1_ functions = { .GetThreadInfo = no_thread_info };
static jvmtiEnv jvmti = &functions;

static jint enter(uint32_t method)
{
    return Java_java_lang_MmprofProbe_enter0(NULL, NULL, (jint)agent_token(EPOCH, method));
}

static void leave(jint token)
{
    if (token != 0)
        Java_java_lang_MmprofProbe_exit0(NULL, NULL, token);
}

/* ---- a session without a target ---- */

struct world {
    struct session session;
    struct threads threads;
    struct drain drain;
    struct agent_config config;
    struct trace_writer *writer;
    char path[64];
};

static bool open_world(struct world *w, uint64_t ring_bytes)
{
    struct err err = { "" };
    struct session_plan plan = { .ring_bytes = ring_bytes, .config = "" };
    memset(w, 0, sizeof *w);
    snprintf(w->path, sizeof w->path, "/tmp/mmprof-probe-test.%d", (int)getpid());
    threads_init(&w->threads);
    if (session_open(&w->session, &plan, &err) < 0 || drain_init(&w->drain, &w->session, &w->threads, &err) < 0 ||
        trace_writer_open(&w->writer, w->path, &err) < 0) {
        printf("# %s\n", err.text);
        return false;
    }
    w->session.segment->epoch = EPOCH;
    probe_start(w->session.segment, &w->config, &jvmti, -1);
    return true;
}

static bool drain_once(struct world *w)
{
    struct err err = { "" };
    drain_snapshot(&w->drain);
    if (drain_threads(&w->drain, &err) == 0 && threads_write(&w->threads, w->writer, &err) == 0 &&
        drain_records(&w->drain, w->writer, ticks_now(), &err) == 0)
        return true;
    printf("# %s\n", err.text);
    return false;
}

static bool close_trace(struct world *w)
{
    struct err err = { "" };
    bool ok = drain_once(w) && trace_writer_close(w->writer, ticks_now(), &err) == 0;
    probe_stop();
    return ok;
}

static void close_world(struct world *w)
{
    probe_thread_ended();
    unlink(w->path);
    drain_free(&w->drain);
    session_close(&w->session);
    threads_free(&w->threads);
}

/* ---- what the trace says ---- */

struct tally {
    uint64_t n_enters, n_exits, n_unwinds, n_lost, n_lost_in_gaps, n_unnested;
    uint32_t depth[N_THREADS + 8];
    uint32_t stack[N_THREADS + 8][MAX_DEPTH + 8];
};

static void take(struct tally *t, const struct trace_event *event)
{
    uint32_t *depth = &t->depth[event->thread % (N_THREADS + 8)], *stack = t->stack[event->thread % (N_THREADS + 8)];
    switch (event->kind) {
    case TRACE_ENTER:
        t->n_enters++;
        if (*depth < MAX_DEPTH + 8)
            stack[(*depth)++] = event->method;
        break;
    case TRACE_EXIT:
    case TRACE_UNWIND:
        t->n_exits += event->kind == TRACE_EXIT;
        t->n_unwinds += event->kind == TRACE_UNWIND;
        if (*depth == 0 || stack[--*depth] != event->method)
            t->n_unnested++;
        break;
    case TRACE_GAP:
        t->n_lost_in_gaps += event->count;
        break;
    default:
        break;
    }
}

static bool read_trace(const struct world *w, struct tally *t)
{
    struct err err = { "" };
    struct trace_reader *reader;
    struct trace_event event;
    int rc;
    memset(t, 0, sizeof *t);
    if (trace_open(&reader, w->path, false, &err) < 0)
        return false;
    while ((rc = trace_next(reader, &event, &err)) > 0)
        take(t, &event);
    for (uint32_t i = 0; i < trace_n_threads(reader); i++)
        if (trace_thread(reader, i) != NULL)
            t->n_lost += trace_thread(reader, i)->n_lost;
    trace_close(reader);
    return rc == 0;
}

/* ---- threads that call ---- */

struct caller {
    pthread_t thread;
    uint64_t n_recorded, n_dropped;
    uint32_t random, n_left;
    _Atomic bool done;
};

static uint32_t next_random(struct caller *c)
{
    c->random = c->random * 1664525u + 1013904223u;
    return c->random >> 16;
}

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

int main(void)
{
    test_loss();
    test_stale_calls();
    test_lost_memory();
    test_epochs();
    test_threads();
    return tap_done();
}
