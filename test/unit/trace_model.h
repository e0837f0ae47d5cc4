/*
 * For the tests of the trace: all that a reader gives, to be compared.
 */
#ifndef TEST_UNIT_TRACE_MODEL_H
#define TEST_UNIT_TRACE_MODEL_H

#include "core/trace/format.h"
#include "core/trace/reader_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct seen_event {
    struct trace_event event;
    uint64_t counters[TRACE_COLUMNS_MAX];
};

struct seen {
    struct seen_event *events; /* owned */
    size_t n, room;
    size_t n_recorded;    /* counters */
    uint64_t definitions; /* a hash of them and of how many events came before each */
    int rc;               /* of the last call */
    bool cut;
    uint64_t n_damaged, end_ticks;
};

struct bytes {
    uint8_t *at; /* owned */
    size_t n;
};

/* xorshift64* */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline void hash_number(struct seen *seen, uint64_t number)
{
    seen->definitions = (seen->definitions ^ number) * UINT64_C(1099511628211);
}

static inline void hash_words(struct seen *seen, const char *text)
{
    for (; *text != '\0'; text++)
        hash_number(seen, (unsigned char)*text);
    hash_number(seen, 256 + seen->n);
}

static inline void seen_info(void *context, const char *key, const char *value)
{
    hash_words(context, key);
    hash_words(context, value);
}

static inline void seen_clock(void *context, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns)
{
    hash_number(context, ticks);
    hash_number(context, monotonic_ns);
    hash_number(context, realtime_ns);
}

static inline void seen_counter(void *context, const struct trace_counter *counter)
{
    hash_words(context, counter->name);
    hash_words(context, counter->why);
    hash_number(context, counter->in_records);
    hash_number(context, counter->kind);
    hash_number(context, counter->group);
}

static inline void seen_thread(void *context, const struct trace_thread *thread)
{
    hash_number(context, thread->index);
    hash_number(context, (uint64_t)thread->tid);
    hash_number(context, thread->has_ring);
    hash_words(context, thread->name);
    hash_words(context, thread->comm);
    hash_number(context, thread->start_ticks);
    hash_number(context, thread->end_ticks);
    hash_number(context, thread->n_lost);
}

static inline void seen_cpu_time(void *context, const struct trace_thread *thread)
{
    hash_number(context, thread->index);
    hash_number(context, thread->cpu_time.accounted_ns);
    hash_number(context, thread->cpu_time.slices_ns);
    hash_number(context, thread->cpu_time.n_slices);
}

static inline void seen_method(void *context, const struct trace_method *method)
{
    hash_number(context, method->id);
    hash_words(context, method->names.class_name);
    hash_words(context, method->names.method);
    hash_words(context, method->names.descriptor);
    hash_words(context, method->source);
    hash_number(context, method->first_line);
    hash_number(context, method->code_bytes);
    hash_number(context, method->has_loop);
}

static inline void see_event(struct seen *seen, const struct trace_event *event, size_t n_counters)
{
    if (seen->n == seen->room) {
        seen->room = seen->room * 2 + 64;
        seen->events = realloc(seen->events, seen->room * sizeof *seen->events);
    }
    struct seen_event *item = &seen->events[seen->n++];
    memset(item, 0, sizeof *item);
    item->event = *event;
    item->event.counters = NULL;
    if (event->counters != NULL)
        memcpy(item->counters, event->counters, n_counters * sizeof *item->counters);
}

/* Read to the end and close. */
static inline void see_all(struct trace_reader *reader, struct seen *seen, struct err *err)
{
    memset(seen, 0, sizeof *seen);
    struct trace_listener listener = { .context = seen,
                                       .info = seen_info,
                                       .clock = seen_clock,
                                       .counter = seen_counter,
                                       .thread = seen_thread,
                                       .cpu_time = seen_cpu_time,
                                       .method = seen_method };
    struct trace_event event;
    trace_listen(reader, &listener);
    while ((seen->rc = trace_next(reader, &event, err)) > 0)
        see_event(seen, &event, trace_n_recorded_counters(reader));
    seen->cut = trace_is_cut(reader);
    seen->n_damaged = trace_damaged_chunks(reader);
    seen->n_recorded = trace_n_recorded_counters(reader);
    seen->end_ticks = trace_end_ticks(reader);
    trace_close(reader);
}

static inline void see_bytes(const uint8_t *bytes, size_t n, bool salvage, struct seen *seen, struct err *err)
{
    struct trace_reader *reader;
    memset(seen, 0, sizeof *seen);
    seen->rc = trace_open_bytes(&reader, bytes, n, "t", salvage, err);
    if (seen->rc == 0)
        see_all(reader, seen, err);
}

static inline bool same_event(const struct seen_event *a, const struct seen_event *b, bool with_counters)
{
    return a->event.kind == b->event.kind && a->event.thread == b->event.thread && a->event.method == b->event.method &&
           a->event.ticks == b->event.ticks && a->event.count == b->event.count &&
           (!with_counters || memcmp(a->counters, b->counters, sizeof a->counters) == 0);
}

/* Whether a's events are the first of b's. */
static inline bool begins(const struct seen *a, const struct seen *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (i >= b->n || !same_event(&a->events[i], &b->events[i], true))
            return false;
    return true;
}

/* Whether a's events are some of b's, in the same order; without counters if a has lost their definition. */
static inline bool is_within(const struct seen *a, const struct seen *b)
{
    size_t i = 0;
    for (size_t k = 0; i < a->n && k < b->n; k++)
        i += same_event(&a->events[i], &b->events[k], a->n_recorded > 0);
    return i == a->n;
}

static inline bool is_same(const struct seen *a, const struct seen *b)
{
    return a->n == b->n && begins(a, b) && a->definitions == b->definitions && a->end_ticks == b->end_ticks;
}

static inline const char *scratch_path(const char *name)
{
    static char path[512];
    const char *directory = getenv("SCRATCH") != NULL ? getenv("SCRATCH") : "/tmp";
    snprintf(path, sizeof path, "%s/mmprof-%ld-%s", directory, (long)getpid(), name);
    return path;
}

static inline struct bytes slurp(const char *path)
{
    struct bytes bytes = { NULL, 0 };
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) < 0)
        return bytes;
    bytes.at = malloc((size_t)status.st_size + 1);
    ssize_t got;
    while ((got = read(fd, bytes.at + bytes.n, (size_t)status.st_size - bytes.n)) > 0)
        bytes.n += (size_t)got;
    close(fd);
    return bytes;
}

#endif
