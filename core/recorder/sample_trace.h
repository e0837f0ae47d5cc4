/*
 * A trace of stack samples alone, as 'mmprof sample' writes it: threads, clock, contexts, samples.
 */
#ifndef CORE_RECORDER_SAMPLE_TRACE_H
#define CORE_RECORDER_SAMPLE_TRACE_H

#include "core/recorder/clock.h"
#include "core/recorder/sample_log.h"
#include "core/recorder/threads.h"
#include "core/recorder/wait_log.h"
#include "core/trace/recording_info.h"

struct sample_trace {
    struct trace_writer *writer; /* NULL: no trace is wanted, or it is closed */
    struct sample_log log;
    struct wait_log waits;
    struct threads threads;
    struct hash_set by_name; /* a thread's number by its id and each name */
    struct clock_point first, latest;
};

/* All zero is a trace that is not written: the other functions do nothing then. */

/*
 * Create a trace.
 *
 * events     what takes the samples, then what is read with each, with spaces between them
 * period_ns  of the first one; 0: it is no clock
 *
 * Returns 0, or -1 with *err set; sample_trace_close in both cases.
 */
int sample_trace_open(struct sample_trace *trace, const char *path, const char *events, uint64_t period_ns,
                      struct err *err);

/* Which JVM it is, once that is known.  Each returns 0, or -1 with *err set. */
int sample_trace_target(struct sample_trace *trace, pid_t pid, char *const *argv, struct err *err);

/* Before the samples of a round; then each of them. */
int sample_trace_round(struct sample_trace *trace, struct err *err);
int sample_trace_add(struct sample_trace *trace, const struct stack_sample *sample, struct err *err);

/* And what visits to its threads found; of one that waits, that it does is a sample, too. */
int sample_trace_add_wait(struct sample_trace *trace, const struct stack_wait *wait, struct err *err);

int sample_trace_words(struct sample_trace *trace, enum info_key key, const char *words, struct err *err);

/* Metadata of the end: mmprof.trace(5) has the keys. */
int sample_trace_metadata(struct sample_trace *trace, enum info_key key, uint64_t value, struct err *err);
int sample_trace_close(struct sample_trace *trace, struct err *err);

#endif
