/*
 * A recorder without a target, for the tests of the readings: software events play the hardware's.
 */
#ifndef TEST_UNIT_READINGS_WORLD_H
#define TEST_UNIT_READINGS_WORLD_H

#include "core/base/ticks.h"
#include "core/perf/perf_rings.h"
#include "core/recorder/drain.h"
#include "core/recorder/readings.h"
#include "test/unit/tap.h"

#include <sys/syscall.h>
#include <unistd.h>

#define EPOCH   3u
#define STEP_NS 10000000u
#define SECOND  1000000000u

static struct err err;

/* ---- the kernel, with software events ---- */

static inline int open_software(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    struct perf_event_attr software = *attr;
    software.type = PERF_TYPE_SOFTWARE;
    software.config = PERF_COUNT_SW_TASK_CLOCK;
    software.config1 = 0;
    software.exclude_kernel = 1;
    return (int)syscall(SYS_perf_event_open, &software, pid, cpu, group_fd, flags);
}

/* n_groups groups of two events. */
static inline struct counter_layout make_layout(uint32_t n_groups)
{
    struct counter_layout layout = { .n_groups = 0 };
    const struct counter_code codes[2] = { { .type = PERF_TYPE_HARDWARE }, { .type = PERF_TYPE_HARDWARE } };
    for (uint32_t g = 0; g < n_groups; g++)
        counter_layout_add(&layout, codes, (const uint8_t[]){ 0, (uint8_t)(g + 1) }, 2);
    return layout;
}

/* ---- a session without a target ---- */

struct world {
    struct session session;
    struct threads threads;
    struct drain drain;
    struct counter_layout layout;
    struct readings readings;
    struct trace_writer *writer;
    char path[64];
};

static inline bool open_world(struct world *w, uint32_t n_groups, bool without_probes)
{
    struct session_plan plan = { .ring_bytes = 65536, .memory = { 0, UINT64_MAX, UINT64_MAX }, .config = "" };
    memset(w, 0, sizeof *w);
    w->layout = make_layout(n_groups);
    plan.n_counters = without_probes ? 0 : counter_layout_columns(&w->layout);
    struct readings_plan readings = { &w->layout, without_probes, NULL };
    struct trace_counter counters[COUNTERS_COLUMNS_MAX];
    size_t n = counter_layout_columns(&w->layout);
    for (size_t i = 0; i < n; i++)
        counters[i] = (struct trace_counter){ "c", "", true, TRACE_COUNTER_EVENT, 0 };
    snprintf(w->path, sizeof w->path, "/tmp/mmprof-readings-test.%d", (int)getpid());
    threads_init(&w->threads);
    bool ok = session_open(&w->session, &plan, &err) == 0;
    drain_init(&w->drain, &w->session, &w->threads);
    readings_init(&w->readings, &readings, &w->session, &w->threads);
    ok = ok && trace_writer_open(&w->writer, w->path, &err) == 0 &&
         trace_write_counters(w->writer, counters, n, &err) == 0;
    if (ok && without_probes)
        trace_write_plain_records(w->writer);
    w->session.segment->epoch = EPOCH;
    return ok;
}

static inline bool write_round(struct world *w)
{
    readings_take(&w->readings, kernel_now_ns());
    drain_snapshot(&w->drain);
    drain_threads(&w->drain);
    readings_follow(&w->readings);
    return threads_write(&w->threads, w->writer, &err) == 0 && readings_write(&w->readings, w->writer, &err) == 0 &&
           drain_records(&w->drain, w->writer, ticks_now(), &err) == 0;
}

static inline void close_world(struct world *w)
{
    if (w->writer != NULL)
        trace_writer_close(w->writer, ticks_now(), &err);
    unlink(w->path);
    readings_close(&w->readings);
    drain_free(&w->drain);
    session_close(&w->session);
    threads_free(&w->threads);
}

/* The trace's readings of a thread. */
struct series {
    size_t n, n_records;
    uint64_t ticks[256], values[256], numbers[256]; /* values: of the first column */
    bool in_order;                                  /* neither time nor values go back within a series */
};

static inline struct series read_series(struct world *w, uint32_t thread)
{
    struct series s = { .in_order = true };
    struct trace_reader *reader;
    struct trace_event event;
    trace_writer_close(w->writer, ticks_now(), &err);
    w->writer = NULL;
    if (trace_open(&reader, w->path, false, &err) < 0)
        return s;
    while (trace_next(reader, &event, &err) > 0) {
        s.n_records += event.kind <= TRACE_GAP;
        if (event.kind != TRACE_COUNTS || event.thread != thread || s.n == 256)
            continue;
        s.ticks[s.n] = event.ticks;
        s.numbers[s.n] = event.count;
        s.values[s.n] = event.counters[0];
        if (s.n > 0 && s.numbers[s.n - 1] == event.count)
            s.in_order = s.in_order && event.ticks >= s.ticks[s.n - 1] && event.counters[0] >= s.values[s.n - 1];
        s.n++;
    }
    trace_close(reader);
    return s;
}

static inline void rounds(struct world *w, unsigned ms)
{
    for (uint64_t until = kernel_now_ns() + (uint64_t)ms * 1000000u; kernel_now_ns() < until; usleep(2000))
        write_round(w);
}

/* Software events from now on.  Returns whether there are any here. */
static inline bool play_hardware(void)
{
    struct perf_event_attr attr;
    counters_attr(&(struct counter_code){ .type = PERF_TYPE_HARDWARE }, &attr);
    int fd = open_software(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        SKIP("threads are read from outside", "perf_event_open does not work here");
        return false;
    }
    close(fd);
    counters_perf_open_replace(open_software);
    return true;
}

#endif
