#include "core/recorder/drain.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define METHODS_PIECE_BYTES ((size_t)1 << 20)

int drain_init(struct drain *drain, struct session *session, struct threads *threads, struct err *err)
{
    memset(drain, 0, sizeof *drain);
    drain->session = session;
    drain->threads = threads;
    drain->rings = calloc(session->n_rings, sizeof *drain->rings);
    drain->words = malloc((size_t)session->ring_words * sizeof *drain->words);
    drain->methods = malloc(METHODS_PIECE_BYTES);
    if (drain->rings == NULL || drain->words == NULL || drain->methods == NULL)
        return err_set(err, "out of memory");
    return 0;
}

void drain_free(struct drain *drain)
{
    free(drain->rings);
    free(drain->words);
    free(drain->methods);
    memset(drain, 0, sizeof *drain);
}

/* A thread id of the target's PID namespace in ours, or the id itself when it is not found. */
static int32_t outer_tid(const struct drain *drain, int32_t tid)
{
    char path[96], line[256];
    if (drain->pid == drain->inner_pid)
        return tid;
    snprintf(path, sizeof path, "/proc/%d/task", (int)drain->pid);
    DIR *tasks = opendir(path);
    int32_t found = tid;
    for (const struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/status", (int)drain->pid, entry->d_name);
        FILE *status = fopen(path, "re");
        while (status != NULL && fgets(line, sizeof line, status) != NULL) {
            const char *last = strrchr(line, '\t');
            if (strncmp(line, "NSpid:", 6) == 0 && last != NULL && atoi(last) == tid)
                found = atoi(entry->d_name);
        }
        if (status != NULL)
            fclose(status);
    }
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

static int meet(struct drain *drain, struct ring *ring, struct drain_ring *mine, struct err *err)
{
    int32_t tid = outer_tid(drain, ring->tid);
    struct recorder_thread *thread = threads_find(drain->threads, tid);
    /* A short-lived thread may have ended since; an earlier one of the same id ended before the ring was taken. */
    if (thread == NULL || (thread->info.end_ticks != TRACE_UNKNOWN && thread->info.end_ticks < ring->start_ticks))
        thread = threads_add(drain->threads, tid, ring->start_ticks);
    if (thread == NULL)
        return err_set(err, "out of memory");
    mine->thread = thread;
    mine->thread->info.has_ring = true;
    mine->thread->ring = (int32_t)(mine - drain->rings);
    mine->thread->changed = true;
    return 0;
}

static void update_thread(struct ring *ring, struct recorder_thread *thread)
{
    uint64_t n_lost = atomic_load_explicit(&ring->n_lost, memory_order_relaxed);
    if (atomic_load_explicit(&ring->name_set, memory_order_acquire) != 0) {
        char name[RING_NAME_BYTES];
        memcpy(name, ring->name, sizeof name);
        name[sizeof name - 1] = '\0';
        /* The first one: the main thread is called DestroyJavaVM in the end. */
        if (thread->name[0] == '\0')
            threads_set_name(thread, name);
    }
    if (n_lost != thread->info.n_lost) {
        thread->info.n_lost = n_lost;
        thread->changed = true;
    }
}

uint64_t drain_snapshot(struct drain *drain)
{
    uint64_t n_waiting = 0;
    uint32_t n_seen = atomic_load(&drain->session->segment->n_rings_seen);
    drain->n_seen = n_seen < drain->session->n_rings ? n_seen : drain->session->n_rings;
    for (uint32_t i = 0; i < drain->n_seen; i++) {
        struct ring *ring = session_ring(drain->session, i);
        struct drain_ring *mine = &drain->rings[i];
        uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
        mine->taken = state == RING_TAKEN || state == RING_ENDED;
        mine->ended = state == RING_ENDED;
        mine->head = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (mine->taken)
            n_waiting += mine->head - atomic_load_explicit(&ring->tail, memory_order_relaxed);
    }
    return n_waiting;
}

int drain_threads(struct drain *drain, struct err *err)
{
    for (uint32_t i = 0; i < drain->n_seen; i++) {
        struct ring *ring = session_ring(drain->session, i);
        struct drain_ring *mine = &drain->rings[i];
        if (!mine->taken)
            continue;
        if (mine->thread == NULL && meet(drain, ring, mine, err) < 0)
            return -1;
        update_thread(ring, mine->thread);
    }
    return 0;
}

/* ---- methods ---- */

static char *copy(struct arena *arena, struct protocol_text text)
{
    return arena_text(arena, text.at, text.n);
}

static int tell_method(const struct drain *drain, const struct trace_method *method, struct err *err)
{
    return drain->link == NULL ? 0 : link_know(drain->link, method, err);
}

static int write_method(const struct drain *drain, struct trace_writer *writer, const struct protocol_method *method,
                        struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct trace_method out = { .id = method->id,
                                .class_name = copy(&arena, method->class_name),
                                .name = copy(&arena, method->name),
                                .descriptor = copy(&arena, method->descriptor),
                                .source = copy(&arena, method->source),
                                .first_line = method->first_line,
                                .code_bytes = method->code_bytes,
                                .has_loop = method->has_loop };
    int rc = err_set(err, "out of memory");
    if (out.class_name != NULL && out.name != NULL && out.descriptor != NULL && out.source != NULL)
        rc = trace_write_method(writer, &out, err) < 0 || tell_method(drain, &out, err) < 0 ? -1 : 0;
    arena_free(&arena);
    return rc;
}

/* Write the whole entries of a piece.  Returns the bytes used, or -1 with *err set. */
static int64_t write_methods(const struct drain *drain, const uint8_t *piece, size_t n, struct trace_writer *writer,
                             struct err *err)
{
    struct cursor c = cursor_over(piece, n);
    for (;;) {
        const uint8_t *start = c.at;
        uint32_t length = cursor_u32le(&c);
        if (!c.bad && length > PROTOCOL_METHOD_BYTES)
            return err_set(err, "the agent's method log is damaged");
        const uint8_t *entry = c.bad ? NULL : cursor_bytes(&c, length);
        if (entry == NULL)
            return start - piece;
        struct cursor inner = cursor_over(entry, length);
        struct protocol_method method;
        if (protocol_get_method(&inner, &method) < 0)
            return err_set(err, "the agent's method log is damaged");
        if (write_method(drain, writer, &method, err) < 0)
            return -1;
    }
}

int drain_methods(struct drain *drain, struct trace_writer *writer, struct err *err)
{
    for (;;) {
        ssize_t n = pread(drain->session->methods_fd, drain->methods, METHODS_PIECE_BYTES, (off_t)drain->methods_at);
        if (n <= 0)
            return 0;
        int64_t used = write_methods(drain, drain->methods, (size_t)n, writer, err);
        if (used < 0)
            return -1;
        drain->methods_at += (uint64_t)used;
        if (used == 0 || n < (ssize_t)METHODS_PIECE_BYTES)
            return 0;
    }
}

/* ---- records ---- */

/* Copy the words out first: the thread gets its room back at once, and cannot change what is being encoded. */
static size_t take_words(struct drain *drain, uint32_t i, struct ring *ring)
{
    const uint64_t *words = session_words(drain->session, i);
    uint64_t head = drain->rings[i].head, size = drain->session->ring_words;
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed), n = head - tail;
    uint64_t record_words = 1 + (uint64_t)drain->session->n_counters;
    if (n > size || n % record_words != 0) {
        drain->n_damaged++;
        n = 0;
    }
    uint64_t at = tail & (size - 1), first = n < size - at ? n : size - at;
    memcpy(drain->words, words + at, first * sizeof *words);
    memcpy(drain->words + first, words, (n - first) * sizeof *words);
    atomic_store_explicit(&ring->tail, head, memory_order_release);
    return n;
}

static void release(struct drain *drain, struct ring *ring, struct drain_ring *mine)
{
    struct recorder_thread *thread = mine->thread;
    if (thread->info.end_ticks == TRACE_UNKNOWN && !drain->kernel_tells_ends) {
        thread->info.end_ticks = ring->end_ticks;
        thread->changed = true;
    }
    drain->n_lost += thread->info.n_lost;
    thread->ring = -1;
    mine->thread = NULL;
    mine->ended = false;
    atomic_store_explicit(&ring->state, RING_FREE, memory_order_release);
}

static int tell_records(const struct drain *drain, uint32_t thread, size_t n_words, uint64_t now, struct err *err)
{
    const struct recorder_observer *observer = drain->observer;
    return observer == NULL || observer->records == NULL
               ? 0
               : observer->records(observer->context, thread, drain->words, n_words, now, err);
}

int drain_records(struct drain *drain, struct trace_writer *writer, uint64_t now, struct err *err)
{
    for (uint32_t i = 0; i < drain->n_seen; i++) {
        struct ring *ring = session_ring(drain->session, i);
        struct drain_ring *mine = &drain->rings[i];
        if (!mine->taken)
            continue;
        size_t n = take_words(drain, i, ring);
        if (n > 0 && (trace_write_records(writer, mine->thread->info.index, drain->words, n, now, err) < 0 ||
                      tell_records(drain, mine->thread->info.index, n, now, err) < 0))
            return -1;
        if (mine->ended)
            release(drain, ring, mine);
    }
    return 0;
}

uint64_t drain_n_lost(const struct drain *drain)
{
    uint64_t n = drain->n_lost + atomic_load(&drain->session->segment->n_lost_no_ring);
    for (uint32_t i = 0; i < drain->n_seen; i++)
        if (drain->rings[i].thread != NULL)
            n += drain->rings[i].thread->info.n_lost;
    return n;
}
