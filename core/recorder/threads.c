#include "core/recorder/threads.h"

#include "core/base/text.h"

#include <stdlib.h>
#include <string.h>

void threads_init(struct threads *threads)
{
    memset(threads, 0, sizeof *threads);
}

void threads_free(struct threads *threads)
{
    hash_free(&threads->by_tid);
    free(threads->all);
    arena_free(&threads->arena);
    memset(threads, 0, sizeof *threads);
}

struct recorder_thread *threads_find(const struct threads *threads, int32_t tid)
{
    const uint32_t *index = hash_find(&threads->by_tid, (uint32_t)tid);
    return index == NULL ? NULL : threads->all[*index];
}

struct recorder_thread *threads_add(struct threads *threads, int32_t tid, uint64_t start_ticks)
{
    if ((threads->n & (threads->n - 1)) == 0) {
        size_t room = threads->n == 0 ? 1 : (size_t)threads->n * 2;
        struct recorder_thread **all = realloc(threads->all, room * sizeof *all);
        if (all == NULL)
            return NULL;
        threads->all = all;
    }
    struct recorder_thread *thread = arena_alloc(&threads->arena, sizeof *thread);
    if (thread == NULL || hash_store(&threads->by_tid, (uint32_t)tid, threads->n) < 0)
        return NULL;
    thread->info.index = threads->n;
    thread->info.tid = tid;
    thread->info.name = thread->name;
    thread->info.comm = thread->comm;
    thread->info.start_ticks = start_ticks;
    thread->info.end_ticks = TRACE_UNKNOWN;
    thread->found_cpu_ns = TRACE_UNKNOWN;
    thread->ring = -1;
    thread->changed = true;
    threads->all[threads->n++] = thread;
    return thread;
}

/* Moments of two clocks are compared: far less time than it takes until the kernel gives a tid again. */
#define SLACK_TICKS (UINT64_C(1) << 24)

struct recorder_thread *threads_get(struct threads *threads, int32_t tid, uint64_t ticks)
{
    struct recorder_thread *thread = threads_find(threads, tid);
    uint64_t end = thread == NULL ? 0 : thread->info.end_ticks;
    if (thread != NULL && (end == TRACE_UNKNOWN || (ticks != TRACE_UNKNOWN && ticks <= end + SLACK_TICKS)))
        return thread;
    return threads_add(threads, tid, TRACE_UNKNOWN);
}

int threads_rename(struct threads *threads, struct recorder_thread *thread, int32_t tid)
{
    if (hash_store(&threads->by_tid, (uint32_t)tid, thread->info.index) < 0)
        return -1;
    thread->info.tid = tid;
    thread->changed = true;
    return 0;
}

static void set(struct recorder_thread *thread, char *to, size_t n, const char *from)
{
    char text[RING_NAME_BYTES];
    if (strncmp(to, from, n - 1) == 0)
        return;
    text_utf8_into(text, n < sizeof text ? n : sizeof text, from, strlen(from));
    if (strcmp(to, text) == 0)
        return;
    memcpy(to, text, strlen(text) + 1);
    thread->changed = true;
}

void threads_set_comm(struct recorder_thread *thread, const char *comm)
{
    set(thread, thread->comm, sizeof thread->comm, comm);
}

void threads_set_name(struct recorder_thread *thread, const char *name)
{
    set(thread, thread->name, sizeof thread->name, name);
}

int threads_write(struct threads *threads, struct trace_writer *writer, struct err *err)
{
    for (uint32_t i = 0; i < threads->n; i++) {
        struct recorder_thread *thread = threads->all[i];
        if (!thread->changed)
            continue;
        struct trace_thread info = thread->info;
        if (thread->name[0] == '\0')
            info.name = thread->comm;
        if (trace_write_thread(writer, &info, err) < 0)
            return -1;
        thread->written = info.cpu_time;
        thread->changed = false;
    }
    return 0;
}
