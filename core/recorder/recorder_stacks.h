/*
 * Stack samples in a recording: taken from outside, or by the agent.
 */
#ifndef CORE_RECORDER_RECORDER_STACKS_H
#define CORE_RECORDER_RECORDER_STACKS_H

#include "core/recorder/ip_samples.h"
#include "core/recorder/poll_sampler.h"
#include "core/recorder/recorder_now.h"
#include "core/recorder/sample_log.h"
#include "core/recorder/wait_log.h"

#define STACKS_BYTES 32768u /* copied of a stack with each sample: javac's deepest */

struct recorder_stacks {
    const struct recorder_now *now; /* borrowed, as the next two are */
    struct recorder_link *link;     /* to the agent, which polls */
    struct ip_samples *ip_samples;  /* those that come from stack samples go there */
    struct stack_sampler *sampler;  /* from outside; owned; NULL: there are none */
    struct poll_sampler *polled;    /* by the agent; owned; NULL: not yet, or never */
    struct sample_log log;
    struct wait_log waits;
    uint64_t random;     /* for the time between visits */
    uint64_t visit_ns;   /* when threads that wait are visited next, CLOCK_MONOTONIC; 0: at once */
    uint64_t drained_ns; /* when samples were taken out of the rings last */
    uint64_t sampled_ns; /* CPU time that the samples represent */
    uint64_t cpu_ns;     /* of the process, when the agent began to poll */
    bool is_ours;        /* the recording has failed, not the sampling */
    char why[256];       /* there are no samples from outside, if so */
};

/*
 * Begin to sample, if the plan wants it: the plan's JVM, or the process of a command, which waits before its exec;
 * with_children: and what it starts.
 */
void recorder_open_stacks(struct recorder_stacks *s, pid_t command, bool with_children);

/* How often the kernel's other rings take IP samples: 0 where stack samples, taken as often, are IP samples, too. */
uint32_t recorder_ring_ip_samples_hz(const struct recorder_stacks *s);

/*
 * Write what was sampled since the last call, twice a second, or with all now; and at the end of a file the metadata.
 * Each returns 0, or -1 with *err set.
 */
int recorder_write_stacks(struct recorder_stacks *s, bool all, struct err *err);
int recorder_write_stacks_info(struct recorder_stacks *s, struct err *err);
void recorder_close_stacks(struct recorder_stacks *s);

/*
 * See what threads wait for, if it is time; a failure ends that, and the recording goes on.  Returns how many ms there
 * are until it is time again; INT_MAX: never.
 */
int recorder_visit_waits(struct recorder_stacks *s);

/* CPU time that the JVM lost by the agent taking them. */
uint64_t recorder_polling_ns(const struct recorder_stacks *s);

#endif
