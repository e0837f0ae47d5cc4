#include "core/recorder/sample_log.h"

#include "core/base/xalloc.h"

#include "core/recorder/metadata.h"

int sample_trace_words(struct sample_trace *trace, enum info_key key, const char *words, struct err *err)
{
    return info_write_text(trace->writer, key, words, err);
}

int sample_trace_metadata(struct sample_trace *trace, enum info_key key, uint64_t value, struct err *err)
{
    return info_write_count(trace->writer, key, value, err);
}

int sample_trace_open(struct sample_trace *trace, const char *path, const char *events, uint64_t period_ns,
                      struct err *err)
{
    memset(trace, 0, sizeof *trace);
    threads_init(&trace->threads);
    pressure_init(&trace->pressure);
    if (trace_writer_open(&trace->writer, path, err) < 0)
        return -1;
    trace->first = trace->latest = clock_point_now();
    if (metadata_write_samples(trace->writer, events, period_ns, err) < 0)
        return -1;
    return trace_write_clock(trace->writer, trace->first.ticks, trace->first.monotonic_ns, trace->first.realtime_ns,
                             err);
}

int sample_trace_target(struct sample_trace *trace, pid_t pid, char *const *argv, struct err *err)
{
    if (trace->writer == NULL)
        return 0;
    pressure_open(&trace->pressure, "", pid, clock_ns(CLOCK_MONOTONIC), ticks_now());
    return metadata_write_target(trace->writer, pid, "", argv, err);
}

/* What holds the target's groups back, since it was written last. */
static int write_pressure(struct sample_trace *trace, bool always, struct err *err)
{
    pressure_look(&trace->pressure, clock_ns(CLOCK_MONOTONIC), ticks_now(), always);
    return pressure_write(&trace->pressure, trace->writer, err);
}

static int write_quota(struct sample_trace *trace, struct err *err)
{
    struct pressure *pressure = &trace->pressure;
    struct cpu_quota_level quota = { .cpus = 0 };
    cpu_quota_read(&pressure->latest);
    cpu_quota_since(&pressure->start, &pressure->latest, &quota);
    return metadata_write_quota(trace->writer, &quota, err);
}

int sample_trace_round(struct sample_trace *trace, struct err *err)
{
    if (trace->writer == NULL)
        return 0;
    trace->latest = clock_point_now();
    if (trace_write_clock(trace->writer, trace->latest.ticks, trace->latest.monotonic_ns, trace->latest.realtime_ns,
                          err) < 0 ||
        write_pressure(trace, false, err) < 0)
        return -1;
    return trace_writer_flush(trace->writer, err);
}

/* The key of a thread's name in Java, or in the kernel. */
static uint64_t name_key(int32_t tid, bool is_java, const char *name)
{
    return hash_text(hash_address((uint64_t)(uint32_t)tid << 1 | is_java), name, strlen(name));
}

static int64_t find_thread(struct sample_trace *trace, const struct stack_sample *sample, uint64_t java, uint64_t comm)
{
    const uint32_t *by_java = sample->java_name[0] == '\0' ? NULL : hash_find(&trace->by_name, java);
    const uint32_t *by_comm = by_java != NULL ? NULL : hash_find(&trace->by_name, comm);
    if (by_java != NULL)
        return *by_java;
    bool is_other = by_comm != NULL && sample->java_name[0] != '\0' && trace->threads.all[*by_comm]->name[0] != '\0';
    return by_comm == NULL || is_other ? -1 : (int64_t)*by_comm;
}

/*
 * The sample's thread, which the trace has then; NULL with *err set.  A thread that changes its name is another one in
 * the trace, with the same id for each of its names: samples have the name of their time.  What Java calls it may be
 * known later than what the kernel does.
 */
static struct recorder_thread *thread_of(struct sample_trace *trace, const struct stack_sample *sample, struct err *err)
{
    uint64_t java = name_key(sample->tid, true, sample->java_name);
    uint64_t comm = name_key(sample->tid, false, sample->thread_name);
    int64_t known = find_thread(trace, sample, java, comm);
    struct recorder_thread *thread =
        known >= 0 ? trace->threads.all[known] : threads_add(&trace->threads, sample->tid, TRACE_UNKNOWN);
    xhash_store(&trace->by_name, comm, thread->info.index);
    threads_set_comm(thread, sample->thread_name);
    if (sample->java_name[0] != '\0') {
        xhash_store(&trace->by_name, java, thread->info.index);
        threads_set_name(thread, sample->java_name);
    }
    return !thread->changed || threads_write(&trace->threads, trace->writer, err) == 0 ? thread : NULL;
}

static uint64_t ticks_of(const struct sample_trace *trace, const struct stack_sample *sample)
{
    return clock_ticks(sample->time_ns, &trace->latest, &trace->first, &trace->latest);
}

int sample_trace_add_wait(struct sample_trace *trace, const struct stack_wait *wait, struct err *err)
{
    if (trace->writer == NULL)
        return 0;
    struct recorder_thread *thread = thread_of(trace, &wait->sample, err);
    if (thread == NULL || (wait->sample.is_waiting && sample_trace_add(trace, &wait->sample, err) < 0))
        return -1;
    const struct recorder_thread *owner = wait->owner_tid == 0 ? NULL : threads_find(&trace->threads, wait->owner_tid);
    return wait_log_add(&trace->waits, &trace->log, trace->writer, wait, thread->info.index,
                        owner == NULL ? TRACE_NO_THREAD : owner->info.index, ticks_of(trace, &wait->sample), err);
}

int sample_trace_add_virtual(struct sample_trace *trace, const struct stack_virtual *threads, struct err *err)
{
    return trace->writer == NULL
               ? 0
               : wait_log_add_virtual(&trace->log, trace->writer, threads, ticks_of(trace, &threads->sample), err);
}

int sample_trace_end_virtual(struct sample_trace *trace, const struct stack_virtual_state *state, struct err *err)
{
    return trace->writer == NULL ? 0 : sample_log_write_virtual_info(trace->writer, state, err);
}

int sample_trace_add(struct sample_trace *trace, const struct stack_sample *sample, struct err *err)
{
    if (trace->writer == NULL)
        return 0;
    struct recorder_thread *thread = thread_of(trace, sample, err);
    if (thread == NULL)
        return -1;
    uint64_t ticks = ticks_of(trace, sample);
    return sample_log_write(&trace->log, trace->writer, sample, thread->info.index, ticks, err);
}

int sample_trace_code(struct sample_trace *trace, const struct stack_sampler *sampler, bool is_last, struct err *err)
{
    return trace->writer == NULL
               ? 0
               : sample_log_write_code(&trace->log, trace->writer, sampler, clock_point_now().ticks, is_last, err);
}

int sample_trace_close(struct sample_trace *trace, struct err *err)
{
    struct trace_writer *writer = trace->writer;
    int rc = 0;
    if (writer == NULL)
        return 0;
    if (threads_write(&trace->threads, writer, err) < 0 || wait_log_flush(&trace->waits, writer, err) < 0 ||
        write_pressure(trace, true, err) < 0 || write_quota(trace, err) < 0)
        rc = -1;
    pressure_close(&trace->pressure);
    trace->writer = NULL;
    if (trace_writer_close(writer, clock_point_now().ticks, err) < 0)
        rc = -1;
    sample_log_free(&trace->log);
    wait_log_free(&trace->waits);
    threads_free(&trace->threads);
    hash_free(&trace->by_name);
    return rc;
}
