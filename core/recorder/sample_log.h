/*
 * Samples on their way into a trace: calling contexts as they are met, and the samples in them.
 *
 * Samplers number methods each in its own way; a method of the same name and code in two of them is one in the trace.
 *
 * A context is a method, the context that calls it, and where in that one's bytecode.  When there are
 * SAMPLE_LOG_CONTEXTS of them, no more are made: samples are then in the nearest one outside of theirs, and counted.
 */
#ifndef CORE_RECORDER_SAMPLE_LOG_H
#define CORE_RECORDER_SAMPLE_LOG_H

#include "core/base/hash.h"
#include "core/hotspot/vm_objects.h"
#include "core/recorder/clock.h"
#include "core/recorder/poll_sampler.h"
#include "core/recorder/pressure.h"
#include "core/recorder/threads.h"
#include "core/trace/recording_info.h"
#include "core/trace/trace.h"

#define SAMPLE_LOG_CONTEXTS (UINT32_C(1) << 19) /* 24 MB here */

enum sample_log_sampler { SAMPLE_LOG_STACKS, SAMPLE_LOG_ALLOCATIONS, SAMPLE_LOG_SAMPLERS };

/* What is known of a method's code: method_code.c. */
struct method_code;

struct sample_log {
    struct hash_set contexts; /* their numbers in the trace */
    uint32_t n_contexts, n_methods;
    struct hash_set by_name; /* methods: one more than the trace's number; second: whose it was first */
    struct {
        uint32_t *method_of; /* owned; by the sampler's number: one more than the trace's; 0: not named yet */
        uint32_t room;
    } samplers[SAMPLE_LOG_SAMPLERS];
    uint32_t *context_of; /* owned; by the trace's number of a method: its first context */
    uint32_t context_of_room;
    struct method_code *codes; /* owned; by the stack sampler's number */
    uint32_t codes_room;
    uint64_t looked_ns;            /* at them, last; 0: never */
    uint32_t n_classes;            /* that are named: the sampler numbers them as they come */
    uint64_t n_written, n_outside; /* samples; of them those whose context found no room */
    bool is_halved;                /* they are: perf_rings_mark */
};

/*
 * Write a sample of a thread (the trace's index), at a moment in ticks.
 *
 * Returns 0, or -1 with *err set: the trace cannot be written.
 */
int sample_log_write(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                     uint32_t thread, uint64_t ticks, struct err *err);

/*
 * Where a sample is: its context, which is written if it is new, the index and the frame's kind in it, and how the
 * stack ends; the rest of *out stays.  As above.
 */
int sample_log_locate(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                      struct trace_sample *out, struct err *err);

/* The mean distance to a sampled object: the JVM's interval, and the size of the one before (0: none), in bytes. */
uint64_t sample_log_mean_bytes(uint64_t interval_bytes, uint64_t before_bytes);

/* The same of an allocation: its class is named when it comes first. */
int sample_log_write_allocation(struct sample_log *log, struct trace_writer *writer,
                                const struct allocation_sample *sample, uint32_t thread, uint64_t ticks,
                                struct err *err);

/*
 * After a drain of this sampler: write what has become of its methods' code since the look before.  is_last: even if
 * that was a moment ago.
 *
 * Returns 0, or -1 with *err set: the trace cannot be written.
 */
int sample_log_write_code(struct sample_log *log, struct trace_writer *writer, const struct stack_sampler *sampler,
                          uint64_t ticks, bool is_last, struct err *err);
void sample_log_free(struct sample_log *log);

/* What threads waited for, on its way into a trace: what goes on from visit to visit is one entry for each second. */

/* Of one thread. */
struct wait_pending {
    struct trace_wait wait; /* n 0: none; its class is 'class_name' */
    char class_name[VM_CLASS_NAME_BYTES];
    bool has_site; /* of the wait that goes on, whether it is pending or not: */
    uint32_t context, owner_context;
    int32_t index;
    uint8_t end;
    uint64_t run_since_ns;      /* when what follows began; 0: there is nothing */
    uint64_t run_ticks, n_run;  /* the latest visit that found it running, and how many did */
    int64_t run_ns;             /* the time these stand for, less ready_ns */
    uint64_t ready_ns, n_ready; /* that it could run, but had no CPU */
};

struct wait_log {
    struct wait_pending *all; /* owned; by the trace's index of a thread */
    uint32_t n;
    uint64_t n_written; /* waits */
};

/*
 * Add what a visit found of a thread (the trace's index), at a moment in ticks.
 *
 * contexts  where stacks go
 * owner     the trace's index of the thread that has what this one waits for; TRACE_NO_THREAD
 *
 * Returns 0, or -1 with *err set: the trace cannot be written.
 */
int wait_log_add(struct wait_log *log, struct sample_log *contexts, struct trace_writer *writer,
                 const struct stack_wait *wait, uint32_t thread, uint32_t owner, uint64_t ticks, struct err *err);

/* The same of virtual threads, which have no entry that goes on. */
int wait_log_add_virtual(struct sample_log *contexts, struct trace_writer *writer, const struct stack_virtual *threads,
                         uint64_t ticks, struct err *err);

/* What looks at virtual threads found in all, as metadata; nothing where there were none. */
int sample_log_write_virtual_info(struct trace_writer *writer, const struct stack_virtual_state *state,
                                  struct err *err);

/* Write all that is pending: at the end.  As above. */
int wait_log_flush(struct wait_log *log, struct trace_writer *writer, struct err *err);

/* A thread has ended, and its index is another's from now on; all that was pending is written. */
void wait_log_forget(struct wait_log *log, uint32_t thread);
void wait_log_free(struct wait_log *log);

/* A trace of stack samples alone, as 'mmprof sample' writes it: threads, clock, contexts, samples. */

struct sample_trace {
    struct trace_writer *writer; /* NULL: no trace is wanted, or it is closed */
    struct sample_log log;
    struct wait_log waits;
    struct threads threads;
    struct hash_set by_name; /* a thread's number by its id and each name */
    struct clock_point first, latest;
    struct pressure pressure; /* of the target's control groups */
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

/* And what a look at virtual threads found. */
int sample_trace_end_virtual(struct sample_trace *trace, const struct stack_virtual_state *state, struct err *err);
int sample_trace_add_virtual(struct sample_trace *trace, const struct stack_virtual *threads, struct err *err);

/* After a drain. */
int sample_trace_code(struct sample_trace *trace, const struct stack_sampler *sampler, bool is_last, struct err *err);
int sample_trace_words(struct sample_trace *trace, enum info_key key, const char *words, struct err *err);

/* Metadata of the end: mmprof.trace(5) has the keys. */
int sample_trace_metadata(struct sample_trace *trace, enum info_key key, uint64_t value, struct err *err);
int sample_trace_close(struct sample_trace *trace, struct err *err);

#endif
