/*
 * The probes and the recorder's side of their rings, without a JVM: threads that call as rewritten methods do, rings
 * that are too small, a recorder that drains meanwhile.  Also built with ThreadSanitizer.
 */
#include "test/unit/tap.h"

#include "core/agent/agent.h"
#include "core/agent/parked.h"
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
    parked_begin();
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
    uint64_t n_opens;
    uint64_t n_moves, n_early; /* virtual threads that came again; before they had gone */
    uint32_t depth[N_THREADS + 8];
    uint32_t base[N_THREADS + 8]; /* the carrier's calls */
    uint32_t stack[N_THREADS + 8][2 * MAX_DEPTH + 8];
    uint32_t ticket, n_resumes; /* of the MOUNT before */
};

/* By ticket: the calls that went with it. */
static struct {
    bool is_away;
    uint32_t depth;
    uint32_t stack[MAX_DEPTH + 8];
} away[1 << 16];

/* What goes with a ticket comes with it. */
static void take_virtual(struct tally *t, const struct trace_event *event)
{
    uint32_t i = event->thread % (N_THREADS + 8), *depth = &t->depth[i], at = event->count % (1 << 16);
    if (event->kind == TRACE_MOUNT) {
        t->n_moves += event->count != 0;
        t->n_early += event->count != 0 && !away[at].is_away;
        away[at].is_away = false;
        t->base[i] = *depth;
        t->n_resumes = 0;
        t->ticket = at;
        return;
    }
    if (event->count != 0) {
        away[at].is_away = true;
        away[at].depth = *depth - t->base[i];
        memcpy(away[at].stack, t->stack[i] + t->base[i], away[at].depth * sizeof(uint32_t));
    }
    *depth = t->base[i];
    t->base[i] = 0;
}

static void take_resume(struct tally *t, const struct trace_event *event)
{
    uint32_t i = event->thread % (N_THREADS + 8), k = t->n_resumes++;
    if (t->n_opens == 0)
        t->n_unnested += k >= away[t->ticket].depth || away[t->ticket].stack[k] != event->method;
    t->stack[i][t->depth[i]++] = event->method;
}

static void take(struct tally *t, const struct trace_event *event)
{
    uint32_t *depth = &t->depth[event->thread % (N_THREADS + 8)], *stack = t->stack[event->thread % (N_THREADS + 8)];
    switch (event->kind) {
    case TRACE_ENTER:
        t->n_enters++;
        if (*depth < 2 * MAX_DEPTH + 8)
            stack[(*depth)++] = event->method;
        break;
    case TRACE_EXIT:
    case TRACE_UNWIND:
        t->n_exits += event->kind == TRACE_EXIT;
        t->n_unwinds += event->kind == TRACE_UNWIND;
        if (*depth <= t->base[event->thread % (N_THREADS + 8)] || stack[--*depth] != event->method)
            t->n_unnested++;
        break;
    case TRACE_MOUNT:
    case TRACE_UNMOUNT:
        take_virtual(t, event);
        break;
    case TRACE_OPEN:
        t->n_opens++;
        stack[(*depth)++] = event->method;
        break;
    case TRACE_RESUME:
        take_resume(t, event);
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
    memset(away, 0, sizeof away);
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

/* ---- calls under way ---- */

static const uint32_t *on_stack; /* outermost first; ends with 0 */

static bool find_calls(struct open_calls *calls, void *jni)
{
    (void)jni;
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
    CHECK("a session opens with calls under way", open_world(&w, 65536));
    leave(enter(3));
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
    CHECK_NUMBER("recorded calls have their entries", t.n_enters, 5);
    CHECK_NUMBER("and exits, and so has what is over, and what moved", t.n_exits, 5 + 1 + 1);
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

/* ---- virtual threads ---- */

#define N_VIRTUAL     200
#define N_TURNS       200 /* of each virtual thread on a carrier */
#define VIRTUAL_DEPTH 50  /* more than fit into a block */

struct virtual_thread {
    uint32_t handle, depth, n_turns;
    jint tokens[VIRTUAL_DEPTH];
};

static struct {
    pthread_mutex_t lock;
    struct virtual_thread threads[N_VIRTUAL];
    struct virtual_thread *queue[N_VIRTUAL];
    uint32_t first, n, n_ended;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct virtual_thread *next_virtual(bool *all_ended)
{
    struct virtual_thread *v = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.n > 0) {
        v = pool.queue[pool.first];
        pool.first = (pool.first + 1) % N_VIRTUAL;
        pool.n--;
    }
    *all_ended = pool.n_ended == N_VIRTUAL;
    pthread_mutex_unlock(&pool.lock);
    return v;
}

static void put_back(struct virtual_thread *v)
{
    pthread_mutex_lock(&pool.lock);
    if (v->n_turns < N_TURNS || v->depth > 0)
        pool.queue[(pool.first + pool.n++) % N_VIRTUAL] = v;
    else
        pool.n_ended++;
    pthread_mutex_unlock(&pool.lock);
}

/* Enter and leave some methods, and leave some open for the next turn. */
static void run_turn(struct caller *c, struct virtual_thread *v)
{
    bool is_last = ++v->n_turns >= N_TURNS;
    for (uint32_t n = next_random(c) % 12; n > 0 && !is_last; n--) {
        if (v->depth > 0 && next_random(c) % 2 == 0) {
            leave(v->tokens[--v->depth]);
        } else if (v->depth < VIRTUAL_DEPTH) {
            v->tokens[v->depth] = enter(1 + next_random(c) % N_METHODS);
            c->n_recorded += v->tokens[v->depth] != 0;
            c->n_dropped += v->tokens[v->depth++] == 0;
        }
    }
    while (is_last && v->depth > 0)
        leave(v->tokens[--v->depth]);
}

static void *run_carrier(void *argument)
{
    struct caller *c = argument;
    bool all_ended = false;
    while (!all_ended) {
        struct virtual_thread *v = next_virtual(&all_ended);
        if (v == NULL)
            continue;
        jint token = next_random(c) % 2 == 0 ? enter(N_METHODS + 1) : 0;
        c->n_recorded += token != 0;
        probe_mount(v->handle);
        run_turn(c, v);
        v->handle = probe_unmount();
        leave(token);
        put_back(v);
    }
    probe_thread_ended();
    atomic_store(&c->done, true);
    return NULL;
}

static bool run_carriers(struct world *w, uint64_t *n_recorded)
{
    struct caller callers[N_THREADS];
    bool ok = true;
    memset(pool.threads, 0, sizeof pool.threads);
    pool.first = pool.n = pool.n_ended = 0;
    for (uint32_t i = 0; i < N_VIRTUAL; i++)
        put_back(&pool.threads[i]);
    for (int i = 0; ok && i < N_THREADS; i++) {
        callers[i] = (struct caller){ .random = (uint32_t)i + 1 };
        ok = pthread_create(&callers[i].thread, NULL, run_carrier, &callers[i]) == 0;
    }
    for (int i = 0; ok && i < N_THREADS; i++) {
        while (ok && !atomic_load(&callers[i].done))
            ok = drain_once(w);
        pthread_join(callers[i].thread, NULL);
        *n_recorded += callers[i].n_recorded;
    }
    return ok;
}

static void test_virtual_threads(uint64_t ring_bytes, bool may_lose)
{
    struct world w;
    struct tally t;
    uint64_t n_recorded = 0;
    CHECK("a session opens for virtual threads", open_world(&w, ring_bytes));
    CHECK("carriers run them", run_carriers(&w, &n_recorded) && close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("all that was recorded is there", t.n_enters, n_recorded);
    CHECK_NUMBER("each one left before it came again", t.n_early, 0);
    CHECK_NUMBER("with its own calls", t.n_unnested, 0);
    if (!may_lose) {
        CHECK("they have come and gone", t.n_moves > N_VIRTUAL);
        CHECK_NUMBER("nothing is lost", t.n_lost, 0);
        CHECK_NUMBER("each entry has its exit, whoever carries it", t.n_exits, n_recorded);
    } else {
        CHECK("what finds no room is lost and counted", t.n_lost > 0 && t.n_exits <= n_recorded);
    }
    close_world(&w);
}

/* A carrier with a call open, and its ring full but for that call's exit. */
static void test_deaf_carrier(void)
{
    struct world w;
    struct tally t;
    CHECK("a session with the smallest rings opens", open_world(&w, 8192));
    jint own = enter(1);
    probe_mount(0);
    jint call = enter(2);
    uint32_t handle = probe_unmount(), n = 0;
    CHECK("a virtual thread leaves a call open", call != 0 && handle != 0);
    for (jint token; (token = enter(3)) != 0; n++)
        leave(token);
    probe_mount(handle);
    CHECK_NUMBER("where there is no room for its coming, its calls are not recorded", enter(1), 0);
    leave(call);
    leave(own); /* as another call of the carrier's method would */
    CHECK_NUMBER("nor what it leaves open", probe_unmount(), 0);
    CHECK("the ring is drained", drain_once(&w));
    jint token = enter(4);
    CHECK("the carrier goes on", token != 0);
    leave(token);
    leave(own);
    CHECK("the trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("with the carrier's exits", t.n_exits, n + 2);
    CHECK_NUMBER("the lost calls are counted", t.n_lost, 3);
    CHECK_NUMBER("and what is there is well nested", t.n_unnested, 0);
    close_world(&w);
}

static void test_parked_calls(void)
{
    uint32_t methods[100], fetched[100], handle = 0, n = 0, first = 0, last = 0;
    for (uint32_t i = 0; i < 100; i++)
        methods[i] = 7 * i;
    parked_begin();
    uint32_t ticket = parked_put(&handle, methods, 100), before = handle;
    CHECK("a hundred calls are parked", ticket != 0 && parked_n(handle) == 100);
    CHECK_NUMBER("they have one ticket", parked_fetch(handle, fetched, 100), ticket);
    CHECK("and come back", memcmp(methods, fetched, sizeof methods) == 0);
    uint32_t again = parked_put(&handle, methods, 1);
    CHECK("the next ones get the same place and another ticket", handle == before && again != 0 && again != ticket);
    parked_drop(handle);
    for (handle = 0; (ticket = parked_put(&handle, methods, 30)) != 0; handle = 0, n++) {
        first = n == 0 ? handle : first;
        last = handle;
    }
    CHECK_NUMBER("all blocks can be used", n, (PARKED_BLOCKS - 1) / 2);
    CHECK("then there is no handle", handle == 0 && parked_n(0) == 0);
    parked_drop(first);
    CHECK("what is dropped is room", parked_put(&handle, methods, 30) != 0);
    CHECK("and what is not stays", parked_n(last) == 30);
    parked_begin();
}

int main(void)
{
    test_parked_calls();
    test_virtual_threads(16 << 20, false);
    test_virtual_threads(8192, true);
    test_deaf_carrier();
    test_loss();
    test_stale_calls();
    test_under_way();
    test_lost_memory();
    test_epochs();
    test_threads();
    return tap_done();
}
