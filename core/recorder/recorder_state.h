/*
 * One recording's state, shared by recorder.c and recorder_prepare.c; nobody else includes it.
 */
#ifndef CORE_RECORDER_RECORDER_STATE_H
#define CORE_RECORDER_RECORDER_STATE_H

#include "core/recorder/charges.h"
#include "core/recorder/collections.h"
#include "core/recorder/drain.h"
#include "core/recorder/hits.h"
#include "core/recorder/kernel.h"
#include "core/recorder/launch.h"
#include "core/recorder/link_state.h"
#include "core/recorder/misses_log.h"
#include "core/recorder/pauses.h"
#include "core/recorder/readings.h"
#include "core/recorder/recorder.h"
#include "core/recorder/simulation.h"

#include <signal.h>
#include <sys/resource.h>

struct recorder {
    const struct recorder_plan *plan;    /* borrowed */
    const struct counter_layout *layout; /* the plan's, or an empty one */
    struct arena arena;
    struct jvm_process process; /* the target, when attaching */
    struct launch child;        /* when starting a command */
    struct session session;
    struct threads threads;
    struct drain drain;
    struct recorder_link link;
    struct kernel kernel;
    struct charges charges;
    struct hits hits;
    struct pauses pauses;
    struct collections collections;
    struct readings readings;
    struct misses_log misses;
    struct simulation simulation;
    struct trace_writer *writer;
    struct clock_point first, latest;
    pid_t target; /* the JVM; 0 until it is known */
    int signals, pidfd;
    sigset_t old_mask;
    void (*old_pipe)(int), (*old_size)(int);
    bool connected, costs_written, ready, gone, child_reaped, interrupted, is_stopped;
    bool asks_much; /* hits are in many pieces of code that are not known */
    int child_status;
    struct rusage child_usage;
    uint64_t ready_ns, clock_written_ns, flushed_ns, reported_ns, asked_ns;
    uint64_t cpu_start_ns, cpu_ns; /* of the process */
    uint64_t own_cpu_start_ns;
    uint64_t stolen_start_ns; /* of the machine; TRACE_UNKNOWN: not told */
    uint64_t hit_cost_ns;     /* of the program's CPU time; 0: not known */
    double instrument_ms, longest_pause_ms;
    int niceness; /* before it hurried */
    bool hurries;
    char offcpu[512], perf_map_why[512];
    char archive[256]; /* the JVM's option by which it writes a class archive, or "" */
};

/*
 * The clock and a process' CPU time (of pid 0: none) at one moment: again when we lost the CPU in between, which cost
 * 1 % of a recording of 4 s on a busy machine.
 */
uint64_t recorder_own_cpu_ns(void); /* of this process */
struct clock_point recorder_clock_and_cpu(pid_t pid, uint64_t *cpu_ns);

/*
 * From a plan to a JVM with the agent in it (or a command on its way to one), an open trace with its first facts, and
 * a running clock.  Returns 0, or -1 with *err set; what was opened is in *r in both cases.
 */
int recorder_prepare(struct recorder *r, struct err *err);

/* What is said of a JVM (pid 0: of a command) that writes its classes into an archive, by this option.  Returns -1. */
int recorder_refuse_archive(pid_t pid, const char *option, struct err *err);

#endif
