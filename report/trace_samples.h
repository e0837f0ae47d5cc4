/* The stack samples of a trace as a profile: added up while the trace is read. */
#ifndef REPORT_TRACE_SAMPLES_H
#define REPORT_TRACE_SAMPLES_H

#include "core/base/hash.h"
#include "core/trace/trace.h"
#include "phases/samples/sample_profile.h"
#include "report/samples_table.h"

/* A sample, or some that are alike. */
struct trace_kept_sample {
    uint64_t ticks; /* TRACE_UNKNOWN: in traces of minor versions before 7 */
    uint64_t weight_ns, n;
    uint64_t ready_ns;        /* on the wall clock: for which the thread had to wait for that CPU time; else 0 */
    uint32_t thread, context; /* TRACE_NO_THREAD: of several; 0: in no Java method */
    uint8_t frame, tier;      /* enum trace_frame, and compiler, of the innermost call */
    bool is_waiting;          /* the thread had no CPU */
    bool is_idle;             /* nor work: report/waiting_samples.h */
};

/* What is known of a thread's time on the wall clock. */
struct trace_thread_waits {
    uint64_t waited_ns;        /* for a CPU, too */
    uint64_t seen_ns, idle_ns; /* the sum of its samples' weights; of that, without work */
};

#define TRACE_SAMPLES_OTHER VM_PARTS /* the group of the application's other threads */

struct trace_samples {
    struct sample_profile profile; /* methods by trace_samples_method; groups: enum vm_part, or that */
    struct trace_reader *reader;   /* borrowed */
    const char *only_threads;      /* the profile is of those (report/some_threads.h); NULL: all; borrowed */
    bool is_open, has_waiting;
    uint64_t n_by_end[16];
    /* A method whose class was changed has another number, and the same name: the first one counts. */
    struct hash_set by_name;
    uint32_t *first_of; /* owned; by number */
    uint32_t n_known, room;
    struct trace_kept_sample *kept; /* owned; all of them */
    size_t n_kept, kept_room;
    struct trace_sample *held; /* owned: until all threads' names are known; as are their counters */
    size_t n_held, held_room;
    uint64_t *held_counters;
    size_t n_held_counters, held_counters_room;
    const struct trace_thread_waits *waits; /* by thread; NULL: not of the wall clock (report/waiting_samples.h) */
    uint32_t methods[TRACE_DEPTH_MAX];      /* of the sample that is being taken */
    int32_t bytecodes[TRACE_DEPTH_MAX];
};

/* Before the reading; trace_samples_close in any case. */
void trace_samples_open(struct trace_samples *samples, struct trace_reader *reader);
void trace_samples_close(struct trace_samples *samples);

/* For each sample that the listener is told of. */
void trace_samples_add(struct trace_samples *samples, const struct trace_sample *sample);

/* After the last one.  Before, those of threads whose names were not known yet do not count; with only_threads none. */
void trace_samples_end(struct trace_samples *samples);

/* The number by which the profile has a sampled method of the trace. */
uint32_t trace_samples_method(const struct trace_samples *samples, uint32_t method);

/* The profile's labels, by number; the arena's. */
const char **trace_samples_labels(const struct trace_samples *samples, struct arena *arena);

/* By name.  In the arena, trace_n_sampled_methods of them. */
struct method_name *trace_samples_names(const struct trace_reader *reader, struct arena *arena);

/* Is there nothing but samples in the trace? */
bool trace_samples_are_all(const struct trace_reader *reader);

/* The table of its methods.  Returns 0, or -1 with *err set: no samples. */
int trace_samples_table(struct trace_samples *samples, const struct samples_options *options, struct arena *arena,
                        struct table *table, struct err *err);

#endif
