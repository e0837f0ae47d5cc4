/*
 * Stack samples of a JVM, from outside: the kernel's CPU clock interrupts each of its threads after so much CPU time
 * and copies registers and stack into a ring; the stacks are walked here.
 */
#ifndef CORE_RECORDER_STACK_SAMPLER_H
#define CORE_RECORDER_STACK_SAMPLER_H

#include "core/base/err.h"
#include "core/base/method_name.h"
#include "core/perf/perf_rings.h"
#include "core/hotspot/bytecodes.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_methods.h"
#include "core/recorder/last_stacks.h"
#include "core/recorder/wait_sampler.h"

struct stack_sampler;

struct stack_sampler_options {
    uint32_t hz; /* per second of a thread's CPU time */
    struct kernel_trigger trigger;
    uint32_t stack_bytes; /* that are copied with each sample */
    bool tells_loaders;   /* a class that another class loader has, too, is called "a/B[2]", and so on */
    bool is_wall;         /* threads that wait are sampled, too: the trigger is a clock; */
    bool only_java;       /* of these, only Java threads */
    bool is_starting;     /* the process is a child that waits before its exec: it or a child of it becomes the JVM */
    bool with_children;   /* with is_starting: it is not the JVM itself */
    bool is_told;         /* with with_children: which is the JVM is said by stack_sampler_choose */
    const char *name;     /* with with_children: a part of the JVM's command line; NULL: any */
    bool *is_refused;     /* set where sampling fails because the JVM's layout is not known; or NULL */
};

/* A method that was found on a stack. */
struct sampled_method {
    struct method_name names; /* the sampler's */
    const char *source;       /* file name, or "" */
    struct vm *vm;            /* borrowed */
    uint64_t address;         /* of the JVM's Method, when it was found last; 0: not known */
    uint64_t key;             /* of it: vm_methods_keys */
    uint32_t calls, tier;     /* then: of its calls and code, as the agent has told last */
    struct vm_code code;
    struct bytecodes_summary bytecodes; /* of it */
    const uint8_t *bytes;               /* code.n_bytes of it; NULL: they could not be read */
    const struct code_line *lines;      /* in the order of their bytecode */
    uint32_t n_lines;
    struct frame_traits traits;
};

/* How often it was called, and the tier of its code, as of now: core/hotspot/vm_methods.h. */
uint32_t sampled_method_calls(const struct sampled_method *method);
uint32_t sampled_method_tier(const struct sampled_method *method);

#define SAMPLED_UNKNOWN UINT32_MAX

/* One sample; all of it is the sampler's, until the function that gets it returns. */
struct stack_sample {
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t weight;  /* that it stands for: ns of CPU or waiting time; with a trigger that is no clock, events */
    int32_t tid;      /* in our PID namespace */
    const char *thread_name; /* as the kernel had it then; "" */
    const char *java_name;   /* as Java had it, up to 0.5 s later; "": not known, or no Java thread */
    uint64_t pc;             /* in user space; KERNEL_UNKNOWN: the kernel did not tell */
    bool is_waiting;         /* it had no CPU, and wanted none */
    bool in_kernel;          /* the kernel worked for the thread */
    bool in_native;          /* it was not in code of the code cache */
    bool is_halved;          /* by one of two clocks: perf_rings_mark */
    enum stack_end end;
    uint32_t n;                         /* frames */
    const uint32_t *methods;            /* by number, the innermost first; SAMPLED_UNKNOWN: a stub */
    const struct sampled_method *known; /* n_known of them, by number */
    uint32_t n_known;
    const struct java_frame *frames;
    bool is_compared; /* with the last one of this thread that was: how it differs */
    struct stack_change change;
    /* What the trigger and the events that are read with it counted since this thread's sample before on this CPU. */
    uint32_t n_counters; /* 0: there is only a trigger */
    const uint64_t *counters;
};

/* Returns 0, or -1 with *err set to end the sampling. */
typedef int stack_sample_fn(const struct stack_sample *sample, void *context, struct err *err);

/* What a visit to a thread found; all of it is the sampler's, until the function that gets it returns. */
struct stack_wait {
    struct stack_sample sample;       /* of one that waits; of others only tid, name, time and weight */
    enum trace_cause cause;           /* ON_CPU: it does not wait */
    uint64_t ready_ns;                /* of the time since its visit before it could run, but had no CPU: exact */
    bool is_same;                     /* it has had no CPU since its visit before */
    const char *lock_class;           /* of the monitor or lock that it waits for; "": not known */
    int32_t owner_tid;                /* who has that; 0: not known */
    const struct stack_sample *owner; /* where that waits itself; NULL: it does not, or not known */
};

typedef int stack_wait_fn(const struct stack_wait *wait, void *context, struct err *err);

/* Virtual threads that did the same when they were looked at; all of it is the sampler's, as above. */
struct stack_virtual {
    struct stack_sample sample; /* of those that wait; of others its time and weight only: since the look before */
    enum trace_cause cause;     /* ON_CPU: they had a carrier; READY: not yet; UNKNOWN: they could not be read */
    const char *lock_class;     /* what one of them waits for; "": not known */
    uint64_t n;                 /* of them, found or estimated */
};

typedef int stack_virtual_fn(const struct stack_virtual *threads, void *context, struct err *err);

/* What looks at virtual threads found in all. */
struct stack_virtual_state {
    uint64_t n_visits, n_whole; /* looks that found any; that looked at all of them */
    uint64_t n_found, n_lost;   /* threads of these, all looks together; of them not read */
    uint64_t n_by_loss[VM_VIRTUAL_LOSSES];
    const char *why_not; /* there are some, and they cannot be read; NULL */
};

struct stack_sampler_state {
    uint64_t n_samples;            /* handed out */
    uint64_t n_by_end[STACK_ENDS]; /* of those in threads of user space */
    uint64_t n_lost;               /* the rings were full */
    uint64_t
        cpu_ns; /* CPU time of the process meanwhile, without pauses; of user space alone where has_kernel is false */
    bool finds_threads_late; /* the kernel reads no events with samples of a thread before it has been found */
    bool has_kernel;         /* samples of threads in the kernel, too */
    const char *shared_name; /* a class that several class loaders have; the sampler's; NULL: none was seen */
    bool has_cpus;           /* by one clock for each CPU, in place of each thread */
    uint64_t n_waiting;      /* samples of threads that wait */
    struct wait_sampler_state waits;
    struct stack_virtual_state virtuals;
    char why_no_waits[256]; /* with only_java the rest goes on without them; "" */
};

/*
 * Begin to sample all threads of a JVM, those that start later too.  Of one that is starting, samples stay in the rings
 * until its stacks can be walked, if they have room for them.
 *
 * Returns 0, or -1 with *err set (reason and next step): no JVM, its memory may not be read, its layout is not known,
 * no perf events.
 */
int stack_sampler_open(struct stack_sampler **sampler, pid_t pid, const struct stack_sampler_options *options,
                       struct err *err);

/* With is_told: this process is the JVM. */
void stack_sampler_choose(struct stack_sampler *sampler, pid_t jvm);

/* Hand out what was sampled by now.  Returns 0, or -1 with *err set. */
int stack_sampler_drain(struct stack_sampler *sampler, stack_sample_fn *fn, void *context, struct err *err);

/*
 * Of a sampler with is_wall, to be called some times a second: hand out what each thread does, which stands for the
 * time since the call before.  The JVM's collectors and compilers are left out, and threads that have no Java stack.
 *
 * Returns 0, or -1 with *err set.
 */
int stack_sampler_visit(struct stack_sampler *sampler, stack_wait_fn *fn, void *context, struct err *err);

/*
 * Of the same, after it: look at the virtual threads, or if they are more than 'most' (0: any number), at about so many
 * of them, each of which stands for others.  Those that did the same are handed out together.
 *
 * Returns 0, or -1 with *err set.
 */
int stack_sampler_visit_virtual(struct stack_sampler *sampler, uint64_t most, stack_virtual_fn *fn, void *context,
                                struct err *err);

/* The methods that were found so far, n of them; *from_start: it has sampled since the JVM's start. */
const struct sampled_method *stack_sampler_methods(const struct stack_sampler *sampler, uint32_t *n, bool *from_start);

/* Take samples more seldom, so many times, than now; or, with less than 1, more often. */
void stack_sampler_stretch(struct stack_sampler *sampler, double times);

/* Take none, until further notice; or go on.  Threads that start meanwhile may be sampled until it is called again. */
void stack_sampler_pause(struct stack_sampler *sampler, bool is_paused);

/* The JVM's process id; 0: none has started yet. */
pid_t stack_sampler_pid(const struct stack_sampler *sampler);

/* Polls as readable, once, when there is much to drain; or -1. */
int stack_sampler_fd(const struct stack_sampler *sampler);
bool stack_sampler_is_full(const struct stack_sampler *sampler); /* until the next drain */

/* What the kernel's rings for it are like. */
void stack_sampler_rings(const struct stack_sampler *sampler, struct perf_rings_state *state);

void stack_sampler_state(const struct stack_sampler *sampler, struct stack_sampler_state *state);
void stack_sampler_close(struct stack_sampler *sampler); /* NULL is fine */

#endif
