/*
 * What the recorder's observer may ask of the agent while a recording runs, and what it is told.
 *
 * Nothing here waits: a command goes to the agent at once, or as soon as there is room or the one before it has ended,
 * and its answer comes to the observer in a later round.  core/wire/protocol.h says what the agent does.
 */
#ifndef CORE_RECORDER_LINK_H
#define CORE_RECORDER_LINK_H

#include "core/base/err.h"
#include "core/wire/config.h"
#include "core/recorder/recompilation_cost.h"
#include "core/recorder/stack_sampler.h"
#include "core/trace/trace.h"
#include "core/wire/message.h"

struct recorder_link;

/* A method by name: class in internal form. */
struct recorder_phase {
    const char *class_name, *name, *descriptor; /* UTF-8 */
};

/*
 * Switch methods' probes on or off: within a millisecond.  A loop that was compiled while a method in it was off may
 * see it on only when it ends.
 */
void recorder_enable(struct recorder_link *link, const uint32_t *ids, size_t n);
void recorder_disable(struct recorder_link *link, const uint32_t *ids, size_t n);

/*
 * Give methods probes, enabled ones; their ids come by the observer's 'method', those that have them already are
 * enabled. Or take the probes of (disabled) methods out again.  Each stops the application for some tens of ms, once or
 * a few times.  Returns 0, or -1 with *err set.
 */
int recorder_instrument(struct recorder_link *link, const struct recorder_phase *methods, size_t n,
                        const struct recorder_phase *loops, size_t n_loops, struct err *err);
void recorder_remove(struct recorder_link *link, const uint32_t *ids, size_t n);

/*
 * Record what the JIT compiler does with the methods that get probes from now on, before and after they do, in the
 * trace.  Once, before the first recorder_instrument.  Returns 0, or -1 with *err set.
 */
int recorder_jit(struct recorder_link *link, struct err *err);

/*
 * Have the agent find out whose classes' code all compiled code has: recorder_recompilation_costs is up to date when it
 * has answered.  Returns 0, or -1 with *err set.
 */
void recorder_dependents(struct recorder_link *link);

/*
 * What the JIT compilers would have to compile again if classes changed now: as recompilation_costs_find.  Where the
 * JVM does not tell of its code, 'compiled' is 0.  Returns 0 and *costs for recompilation_costs_free, or -1 with *err
 * set.
 */
void recorder_recompilation_costs(struct recorder_link *link, const char *const *classes, size_t n,
                                  struct recompilation_costs *costs);

/* The rules by which the agent would give a method probes.  NULL with *err set: they cannot be read. */
const struct agent_config *recorder_rules(struct recorder_link *link, struct err *err);

/* Where to write what the trace is to say of the recording (core/trace/recording_info.h); NULL: it is closed. */
struct trace_writer *recorder_trace(struct recorder_link *link);

/* For the trace: at a moment (ticks) the JVM's compilers were as busy as before, ns after the pause. */
int recorder_window_ended(struct recorder_link *link, uint64_t ticks, uint64_t ns, struct err *err);

/* How long a round may wait when there is little to do, from now on; 0: as long as it does without an observer. */
void recorder_pace(struct recorder_link *link, uint32_t round_ms);

/* End the recording after this round, as a signal would. */
void recorder_end(struct recorder_link *link);

/*
 * Hand methods to the JIT compilers of a JVM that runs with -XX:+WhiteBoxAPI: the answer says how many of them it took
 * (n_methods) and how many not (n_unknown).  Returns 0, or -1 with *err set.
 */
struct recorder_compile {
    struct recorder_phase method;
    uint32_t tier; /* 1 to 4 */
};

int recorder_compile(struct recorder_link *link, const struct recorder_compile *methods, size_t n, struct err *err);

enum recorder_command {
    RECORDER_ENABLE = WIRE_ENABLE,
    RECORDER_INSTRUMENT = WIRE_INSTRUMENT,
    RECORDER_REMOVE = WIRE_REMOVE,
    RECORDER_DEPENDENTS = WIRE_DEPENDENTS,
    RECORDER_COMPILE = WIRE_COMPILE,
    RECORDER_WHERE = WIRE_WHERE, /* the recorder's own, as the next ones: no observer hears of it */
    RECORDER_POLL = WIRE_POLL,
    RECORDER_ALLOCATIONS = WIRE_ALLOCATIONS
};

/* The agent's answer to a command. */
struct recorder_answer {
    enum recorder_command command;
    const char *refused; /* why it was not done, or NULL; borrowed */
    /*
     * enable, disable, remove: as they were given (a long list is given and answered in parts); instrument: those of
     * its methods that have probes now, in loaded classes.
     */
    const uint32_t *ids;
    size_t n_ids;
    uint64_t ticks;                    /* enable, disable: since when (until when) they are enabled for sure */
    uint32_t n_unknown;                /* ids that no method has; compile: methods that were not taken */
    uint32_t n_classes, n_methods;     /* instrument, remove: that were changed; compile: that were taken */
    uint32_t n_batches;                /* times that the application was stopped */
    double longest_pause_ms, total_ms; /* of which one, at most; from the command to its end */
    double cpu_ms;                     /* CPU time of it, the stops included */
};

/* The state of the recording at the end of a round. */
struct recorder_status {
    uint64_t ticks, monotonic_ns;   /* now */
    uint64_t start_ticks, start_ns; /* of the recording */
    uint64_t process_cpu_ns;        /* CPU time of the JVM since the start */
    uint64_t own_cpu_ns;            /* CPU time of this process since the start */
    uint64_t ip_samples_cpu_ns;     /* that the JVM lost by being looked at where it is, and by telling of its code */
    double inside_ticks,
        outside_ticks; /* what a pair of probes costs between its timestamps, and outside; 0: not yet */
    double ns_per_tick;
    uint64_t n_records, n_lost;         /* so far */
    uint32_t n_columns;                 /* words that follow each record */
    pid_t pid;                          /* of the JVM; 0: not known yet */
    uint64_t n_classes;                 /* that the JVM had loaded when it was attached to; 0: not known */
    bool polls_stacks;                  /* the agent samples stacks, not the recorder from outside */
    uint64_t polling_cpu_ns;            /* that the JVM lost by that */
    uint64_t allocations_cpu_ns;        /* that it lost by sampling allocations */
    uint64_t jvm_cpu_ns;                /* of the JVM since its start */
    const char *archive;                /* it writes a class archive by this option: no class is changed; or NULL */
    bool ready;                         /* the agent takes commands */
    bool busy;                          /* an instrument, remove or dependents is under way or waits */
    uint32_t n_flags;                   /* enable and disable that are not answered yet */
    uint32_t n_pauses;                  /* RetransformClasses so far */
    double longest_pause_ms, pauses_ms; /* their sum */
};

/* All are optional; one that fails ends the recording with its error.  Called in this order in each round. */
struct recorder_observer {
    void *context; /* borrowed; the first argument of each */
    /* A method that has probes, before its first record. */
    void (*method)(void *context, const struct trace_method *method);
    /* Records of a thread as trace_write_records takes them: ring words, now in ticks. */
    void (*records)(void *context, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now);
    /* What the kernel's rings said, before the records that came meanwhile. */
    void (*kernel)(void *context, const struct trace_event *events, size_t n);
    /* A stack sample, of the thread with this index; what it points to is valid during the call. */
    int (*stack)(void *context, const struct stack_sample *sample, uint32_t thread, struct err *err);
    /* What a visit found of such a thread: the same. */
    void (*wait)(void *context, const struct stack_wait *wait, uint32_t thread);
    /* A thread has ended, and its index is another's from now on. */
    void (*forget)(void *context, uint32_t thread);
    /* To a command. */
    int (*answer)(void *context, const struct recorder_answer *answer, struct err *err);
    /* May give commands. */
    int (*round)(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err);
    /* The file ends, and the recording goes on in another: metadata of it may be written, sums of all files. */
    int (*file)(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err);
    /* The recording is over; the last metadata may be written. */
    int (*finish)(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err);
};

#endif
