/*
 * The probes and the recorder's side of their rings, without a JVM: a session, what threads call, and what the trace
 * says of it.
 */
#ifndef TEST_UNIT_PROBE_WORLD_H
#define TEST_UNIT_PROBE_WORLD_H

#include "test/unit/jvmti_stand_in.h"
#include "test/unit/tap.h"

#include "core/wire/config.h"
#include "core/agent/probe/probe_parts.h"
#include "core/agent/probe/probe.h"
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

static inline jint enter(uint32_t method)
{
    return Java_java_lang_MmprofProbe_enter0(NULL, NULL, (jint)agent_token(EPOCH, method));
}

static inline void leave(jint token)
{
    if (token != 0)
        Java_java_lang_MmprofProbe_exit0(NULL, NULL, token);
}

/* ---- a session without a target ---- */

struct world {
    struct session session;
    struct threads threads;
    struct drain drain;
    struct counting_plan counting;
    struct trace_writer *writer;
    char path[64];
};

static inline bool open_world_within(struct world *w, uint64_t ring_bytes, struct ring_memory_plan memory)
{
    struct err err = { "" };
    struct session_plan plan = { .ring_bytes = ring_bytes, .memory = memory, .config = "" };
    memset(w, 0, sizeof *w);
    snprintf(w->path, sizeof w->path, "/tmp/mmprof-probe-test.%d", (int)getpid());
    threads_init(&w->threads);
    if (session_open(&w->session, &plan, &err) < 0 || (drain_init(&w->drain, &w->session, &w->threads), false) ||
        trace_writer_open(&w->writer, w->path, &err) < 0) {
        printf("# %s\n", err.text);
        return false;
    }
    w->session.segment->epoch = EPOCH;
    unmounted_begin();
    probe_start(w->session.segment, &w->counting, &jvmti, -1);
    return true;
}

/* With room for all rings. */
static inline bool open_world(struct world *w, uint64_t ring_bytes)
{
    return open_world_within(w, ring_bytes, (struct ring_memory_plan){ 0, UINT64_MAX, UINT64_MAX });
}

static inline bool drain_once(struct world *w)
{
    struct err err = { "" };
    drain_snapshot(&w->drain);
    drain_threads(&w->drain);
    if (threads_write(&w->threads, w->writer, &err) == 0 && drain_records(&w->drain, w->writer, ticks_now(), &err) == 0)
        return true;
    printf("# %s\n", err.text);
    return false;
}

static inline bool close_trace(struct world *w)
{
    struct err err = { "" };
    bool ok = drain_once(w) && trace_writer_close(w->writer, ticks_now(), &err) == 0;
    probe_stop();
    return ok;
}

static inline void close_world(struct world *w)
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
static inline void take_virtual(struct tally *t, const struct trace_event *event)
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

static inline void take_resume(struct tally *t, const struct trace_event *event)
{
    uint32_t i = event->thread % (N_THREADS + 8), k = t->n_resumes++;
    if (t->n_opens == 0)
        t->n_unnested += k >= away[t->ticket].depth || away[t->ticket].stack[k] != event->method;
    t->stack[i][t->depth[i]++] = event->method;
}

static inline void take(struct tally *t, const struct trace_event *event)
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

static inline bool read_trace(const struct world *w, struct tally *t)
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

static inline uint32_t next_random(struct caller *c)
{
    c->random = c->random * 1664525u + 1013904223u;
    return c->random >> 16;
}

#endif
