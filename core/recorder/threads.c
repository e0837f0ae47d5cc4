#include "core/recorder/threads.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"

void threads_init(struct threads *threads)
{
    memset(threads, 0, sizeof *threads);
}

void threads_free(struct threads *threads)
{
    hash_free(&threads->by_tid);
    free(threads->all);
    free(threads->free);
    arena_free(&threads->arena);
    memset(threads, 0, sizeof *threads);
}

struct recorder_thread *threads_find(const struct threads *threads, int32_t tid)
{
    const uint32_t *index = hash_find(&threads->by_tid, (uint32_t)tid);
    return index == NULL ? NULL : threads->all[*index];
}

/* One whose number is free, or a new one. */
static struct recorder_thread *take_number(struct threads *threads)
{
    if (threads->n_free > 0) {
        uint32_t index = threads->free[--threads->n_free];
        *threads->all[index] = (struct recorder_thread){ .info = { .index = index } };
        return threads->all[index];
    }
    if ((threads->n & (threads->n - 1)) == 0) {
        size_t room = threads->n == 0 ? 1 : (size_t)threads->n * 2;
        threads->all = xreallocarray(threads->all, room, sizeof(struct recorder_thread *));
    }
    struct recorder_thread *thread = arena_alloc(&threads->arena, sizeof *thread);
    thread->info.index = threads->n;
    return threads->all[threads->n++] = thread;
}

struct recorder_thread *threads_add(struct threads *threads, int32_t tid, uint64_t start_ticks)
{
    struct recorder_thread *thread = take_number(threads);
    xhash_store(&threads->by_tid, (uint32_t)tid, thread->info.index);
    thread->info.tid = tid;
    thread->info.name = thread->name;
    thread->info.comm = thread->comm;
    thread->info.start_ticks = start_ticks;
    thread->info.end_ticks = TRACE_UNKNOWN;
    thread->found_cpu_ns = thread->gone_ticks = TRACE_UNKNOWN;
    thread->ring = -1;
    thread->changed = true;
    return thread;
}

/* No earlier than that; TRACE_UNKNOWN: it goes on. */
static uint64_t end_of(const struct recorder_thread *thread)
{
    return thread->info.end_ticks != TRACE_UNKNOWN ? thread->info.end_ticks : thread->gone_ticks;
}

void threads_miss(struct threads *threads, uint64_t now_ticks, threads_is_there_fn *is_there, void *context)
{
    for (uint32_t i = 0; i < threads->n; i++) {
        struct recorder_thread *thread = threads->all[i];
        if (!thread->is_free && thread->ring < 0 && end_of(thread) == TRACE_UNKNOWN &&
            !is_there(context, thread->info.tid))
            thread->gone_ticks = now_ticks;
    }
}

void threads_recycle(struct threads *threads, uint64_t before_ticks, threads_forget_fn *forget, void *context)
{
    for (uint32_t i = 0; i < threads->n; i++) {
        struct recorder_thread *thread = threads->all[i];
        const uint32_t *latest = hash_find(&threads->by_tid, (uint32_t)thread->info.tid);
        if (thread->is_free || thread->ring >= 0 || end_of(thread) >= before_ticks)
            continue;
        forget(context, i);
        if (latest != NULL && *latest == i)
            hash_remove(&threads->by_tid, (uint32_t)thread->info.tid);
        thread->is_free = true;
        thread->changed = false;
        *xpush(threads->free, threads->free_room, threads->n_free) = i;
    }
}

/* Moments of two clocks are compared: far less time than it takes until the kernel gives a tid again. */
#define SLACK_TICKS (UINT64_C(1) << 24)

struct recorder_thread *threads_get(struct threads *threads, int32_t tid, uint64_t ticks)
{
    struct recorder_thread *thread = threads_find(threads, tid);
    uint64_t end = thread == NULL ? 0 : end_of(thread);
    if (thread != NULL && (end == TRACE_UNKNOWN || (ticks != TRACE_UNKNOWN && ticks <= end + SLACK_TICKS)))
        return thread;
    return threads_add(threads, tid, TRACE_UNKNOWN);
}

void threads_rename(struct threads *threads, struct recorder_thread *thread, int32_t tid)
{
    xhash_store(&threads->by_tid, (uint32_t)tid, thread->info.index);
    thread->info.tid = tid;
    thread->changed = true;
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

/* The JVM's first thread is called DestroyJavaVM when Java's main has ended. */
void threads_hear_name(struct threads *threads, struct recorder_thread *thread, const char *name, bool is_java)
{
    char text[RING_NAME_BYTES];
    const char *before = is_java ? thread->name : thread->has_own_name ? thread->comm : "";
    text_utf8_into(text, is_java ? sizeof text : sizeof thread->comm, name, strlen(name));
    if (before[0] != '\0' && strcmp(before, text) != 0 && !thread->is_renamed && strcmp(text, "DestroyJavaVM") != 0) {
        thread->is_renamed = true;
        threads->n_renamed++;
    }
    thread->has_own_name |= !is_java;
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
