/*
 * Writes small traces for the tests of what reads them: a thread per index, a method per letter.
 */
#ifndef TEST_UNIT_TRACE_MAKER_H
#define TEST_UNIT_TRACE_MAKER_H

#include "core/base/err.h"
#include "core/wire/ring.h"
#include "core/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct maker {
    struct trace_writer *writer;
    struct err err;
    char path[256];
    size_t n_counters;
    uint32_t n_contexts;
};

/* A step of a thread: entry, exit and so on at a time, with the counters' values after it. */
struct step {
    enum ring_kind kind;
    uint32_t method; /* RING_GAP: calls lost; RING_MOUNT, RING_UNMOUNT: a ticket */
    uint64_t ticks;
    uint64_t counters[TRACE_COLUMNS_MAX];
};

static inline void maker_must(struct maker *m, int rc)
{
    if (rc >= 0)
        return;
    printf("Bail out! the trace cannot be written: %s\n", m->err.text);
    exit(1);
}

/* One tick is ns_per_tick ns; the recording starts at tick 0. */
static inline void maker_open_scaled(struct maker *m, const char *name, uint64_t ns_per_tick)
{
    const char *directory = getenv("SCRATCH");
    memset(m, 0, sizeof *m);
    snprintf(m->path, sizeof m->path, "%s/%s", directory == NULL ? "/tmp" : directory, name);
    maker_must(m, trace_writer_open(&m->writer, m->path, &m->err));
    maker_must(m, trace_write_clock(m->writer, 0, 1000, 1000000, &m->err));
    maker_must(m, trace_write_clock(m->writer, 1000, 1000 + 1000 * ns_per_tick, 1000000 + 1000 * ns_per_tick, &m->err));
}

static inline void maker_open(struct maker *m, const char *name)
{
    maker_open_scaled(m, name, 1);
}

static inline void maker_info(struct maker *m, const char *key, const char *value)
{
    maker_must(m, trace_write_info(m->writer, key, value, &m->err));
}

static inline void maker_thread(struct maker *m, uint32_t index, const char *name, bool has_ring)
{
    struct trace_thread thread = { .index = index,
                                   .tid = 100 + (int32_t)index,
                                   .has_ring = has_ring,
                                   .name = name,
                                   .comm = name,
                                   .start_ticks = TRACE_UNKNOWN,
                                   .end_ticks = TRACE_UNKNOWN };
    maker_must(m, trace_write_thread(m->writer, &thread, &m->err));
}

static inline void maker_method(struct maker *m, uint32_t id, const char *class_name, const char *name,
                                const char *descriptor)
{
    struct trace_method method = { id, { class_name, name, descriptor }, "Sort.java", 1, 60, false };
    maker_must(m, trace_write_method(m->writer, &method, &m->err));
}

/*
 * A calling context and, if n is not 0, so many samples in it; the method is named if its class is.
 */
static inline void maker_stack(struct maker *m, uint32_t parent, int32_t call_site, uint32_t method,
                               const struct trace_sampled_method *named, uint64_t n, uint64_t ns)
{
    const struct trace_context context = { .parent = parent,
                                           .call_site = call_site,
                                           .method = method,
                                           .named = named->names.class_name == NULL ? NULL : named };
    maker_must(m, trace_write_context(m->writer, &context, &m->err));
    const struct trace_sample sample = {
        .thread = TRACE_NO_THREAD, .context = ++m->n_contexts, .index = -1, .n = n, .weight_ns = ns
    };
    if (n > 0)
        maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
}

static inline void maker_steps(struct maker *m, uint32_t thread, const struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t words[1 + TRACE_COLUMNS_MAX] = { ring_word(steps[i].kind, steps[i].method, steps[i].ticks) };
        memcpy(words + 1, steps[i].counters, sizeof steps[i].counters);
        maker_must(m, trace_write_records(m->writer, thread, words, 1 + m->n_counters, steps[i].ticks, &m->err));
    }
}

/*
 * The trace's counters: groups of events, each as "cycles instructions L1-dcache-load-misses", up to NULL; with their
 * times if there are several.
 */
static inline void maker_groups(struct maker *m, const char *const *groups)
{
    static char texts[16][256];
    struct trace_counter counters[TRACE_COLUMNS_MAX];
    uint32_t n = 0, n_groups = 0;
    for (; groups[n_groups] != NULL; n_groups++) {
        snprintf(texts[n_groups], sizeof texts[n_groups], "%s", groups[n_groups]);
        char *rest = NULL;
        for (char *name = strtok_r(texts[n_groups], " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
            counters[n++] = (struct trace_counter){ name, "", true, TRACE_COUNTER_EVENT, n_groups };
    }
    for (uint32_t g = 0; n_groups > 1 && g < n_groups; g++)
        counters[n++] = (struct trace_counter){ "running_ns", "", true, TRACE_COUNTER_RUNNING_NS, g };
    if (n_groups > 1)
        counters[n++] = (struct trace_counter){ "enabled_ns", "", true, TRACE_COUNTER_ENABLED_NS, 0 };
    maker_must(m, trace_write_counters(m->writer, counters, n, &m->err));
    m->n_counters = n;
}

#define GROUPS(m, ...) maker_groups(m, (const char *const[]){ __VA_ARGS__, NULL })

/* The recorder reads a thread's counters. */
#define READING(m, thread, series, ticks, ...)                           \
    maker_must(m, trace_write_counts((m)->writer, thread, series, ticks, \
                                     (const uint64_t[TRACE_COLUMNS_MAX]){ __VA_ARGS__ }, &(m)->err))

#define STEPS(m, thread, ...)                                    \
    maker_steps(m, thread, (const struct step[]){ __VA_ARGS__ }, \
                sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

#define ENTER(method, ticks, ...)  \
    {                              \
        RING_ENTER, method, ticks, \
        {                          \
            __VA_ARGS__            \
        }                          \
    }
#define EXIT(method, ticks, ...)  \
    {                             \
        RING_EXIT, method, ticks, \
        {                         \
            __VA_ARGS__           \
        }                         \
    }
#define UNWIND(method, ticks, ...)  \
    {                               \
        RING_UNWIND, method, ticks, \
        {                           \
            __VA_ARGS__             \
        }                           \
    }
#define GAP(n, ticks, ...)  \
    {                       \
        RING_GAP, n, ticks, \
        {                   \
            __VA_ARGS__     \
        }                   \
    }

#define RESUME(method, ticks, ...)  \
    {                               \
        RING_RESUME, method, ticks, \
        {                           \
            __VA_ARGS__             \
        }                           \
    }
#define MOUNT(ticket, ticks, ...)  \
    {                              \
        RING_MOUNT, ticket, ticks, \
        {                          \
            __VA_ARGS__            \
        }                          \
    }
#define UNMOUNT(ticket, ticks, ...)  \
    {                                \
        RING_UNMOUNT, ticket, ticks, \
        {                            \
            __VA_ARGS__              \
        }                            \
    }

#define KERNEL(m, ...)                                                                                                 \
    maker_must(m, trace_write_kernel((m)->writer, (const struct trace_event[]){ __VA_ARGS__ },                         \
                                     sizeof((const struct trace_event[]){ __VA_ARGS__ }) / sizeof(struct trace_event), \
                                     &(m)->err))

#define AT(what, thread_index, when)                              \
    {                                                             \
        .kind = (what), .thread = (thread_index), .ticks = (when) \
    }

static inline void maker_close(struct maker *m, uint64_t end_ticks)
{
    maker_must(m, trace_writer_close(m->writer, end_ticks, &m->err));
}

static inline struct trace_reader *maker_read(struct maker *m)
{
    struct trace_reader *reader = NULL;
    maker_must(m, trace_open(&reader, m->path, false, &m->err));
    return reader;
}

/* The worked example of the thesis (Figure 3.3): names, calls and times; main is 1830 and has no time of its own. */
static inline void maker_children(struct maker *m, uint32_t caller, uint32_t callee, uint64_t n, uint64_t each,
                                  uint64_t *now)
{
    (void)caller;
    for (uint64_t i = 0; i < n; i++) {
        STEPS(m, 0, ENTER(callee, *now), EXIT(callee, *now + each));
        *now += each;
    }
}

static inline void maker_figure_3_3(struct maker *m)
{
    enum { MAIN, INIT, READ_DATA, READ_ELEMENT, PRINT, SORT_DATA, COMPARE, SWAP, PRINT_DATA, PRINT_ELEMENT };
    static const char *const names[] = { "main",     "init",    "readData", "readElement", "print",
                                         "sortData", "compare", "swap",     "printData",   "printElement" };
    uint64_t now = 0;
    maker_thread(m, 0, "main", true);
    for (uint32_t i = 0; i < 10; i++)
        maker_method(m, i, "thesis/Sort", names[i], "()V");
    STEPS(m, 0, ENTER(MAIN, 0));
    maker_children(m, MAIN, INIT, 1, 30, &now);
    STEPS(m, 0, ENTER(READ_DATA, now));
    maker_children(m, READ_DATA, READ_ELEMENT, 50, 4, &now);
    now += 100;
    STEPS(m, 0, EXIT(READ_DATA, now));
    maker_children(m, MAIN, PRINT, 1, 30, &now);
    STEPS(m, 0, ENTER(SORT_DATA, now));
    maker_children(m, SORT_DATA, COMPARE, 300, 2, &now);
    maker_children(m, SORT_DATA, SWAP, 250, 2, &now);
    now += 200;
    STEPS(m, 0, EXIT(SORT_DATA, now), ENTER(PRINT_DATA, now));
    maker_children(m, PRINT_DATA, PRINT_ELEMENT, 50, 3, &now);
    now += 20;
    STEPS(m, 0, EXIT(PRINT_DATA, now), EXIT(MAIN, now));
}

#endif
