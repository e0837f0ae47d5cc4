/*
 * The recorder's own state, for its files alone: recorder.c (the course of a recording), recorder_prepare.c,
 * recorder_hear.c, recorder_round.c and recorder_files.c.  Its parts have headers of their own.
 */
#ifndef CORE_RECORDER_RECORDER_STATE_H
#define CORE_RECORDER_RECORDER_STATE_H

#include "core/base/progress.h"
#include "core/recorder/collections.h"
#include "core/recorder/cpu_accounting.h"
#include "core/recorder/drain.h"
#include "core/recorder/kernel.h"
#include "core/recorder/launch.h"
#include "core/recorder/link_state.h"
#include "core/recorder/pressure.h"
#include "core/recorder/readings.h"
#include "core/recorder/recorder_parts.h"
#include "core/recorder/simulation.h"
#include "core/trace/recording_info.h"
#include "core/wire/batch.h"

#include <signal.h>
#include <sys/resource.h>

enum woken_by { WOKEN_BY_TIME, WOKEN_BY_AGENT, WOKEN_BY_OTHERS };

/* Metadata that came before there was a trace. */
struct recorder_note {
    struct recorder_note *next;
    enum info_key key;
    const char *text;
};

/* The first pass over the loaded classes. */
struct recorder_change {
    uint32_t n_wanted, n_changed, n_batches; /* n_wanted 0: the agent has not said it yet */
    uint64_t start_ns;                       /* when it said so */
    struct batch_forecast forecast;          /* after the first batch */
};

/* When what is due at a round was done last; CLOCK_MONOTONIC_RAW. */
struct recorder_rounds {
    uint64_t clock_written_ns, flushed_ns, asked_ns;
    bool costs_written;
    bool asks_much; /* IP samples are in many pieces of code that are not known */
    /* Where what rounds cost was compared with what they may cost last. */
    uint64_t compared_ns, own_cpu_ns, cpu_ns;
    uint64_t start_cpu_ns; /* that this program took until they were compared first; 0: they are not */
};

/* What rounds are planned by, in ns: CPU time but for the first three. */
struct rounds_account {
    double duration_ns, elapsed_ns; /* of the recording; 0: nobody knows its end */
    double passed_ns;               /* of it, since the latest look */
    double part;                    /* of the JVM's CPU time, 0..1 */
    double cpu_ns, passed_cpu_ns;   /* of the JVM */
    double own_ns;                  /* of this program up to that look, its start included */
};

/*
 * What they may have taken since the latest look.  With a known end the start counts: what is left of the part of all
 * the recording's CPU time is for all the time that was left, a third of the part at least.
 */
double recorder_rounds_may_ns(const struct rounds_account *account);

/* Signals, and this process' priority: as they were before. */
struct recorder_signals {
    int fd;
    bool interrupted;
    sigset_t old_mask;
    void (*old_pipe)(int), (*old_size)(int);
    int niceness; /* before it hurried */
    bool hurries;
};

/* What came of a command that is not java itself. */
struct recorder_jvms {
    struct jvm_started_all all;
    uint64_t counted_ns; /* when they were looked for last */
    bool told_orphans;   /* that the command has ended, and what it left is waited for */
    char program[256];   /* of its JVM: the command line */
};

/* What recording takes, and what the machine took meanwhile. */
struct recorder_costs {
    uint64_t own_cpu_start_ns;
    uint64_t stolen_start_ns; /* of the machine; TRACE_UNKNOWN: not told */
    uint64_t ip_sample_ns;    /* of the program's CPU time; 0: there are no IP samples */
    bool knows_ip_sample;     /* it is measured; else what it usually is */
    double instrument_ms, longest_pause_ms;
};

struct recorder {
    struct recorder_now now; /* what its parts may see */
    struct arena arena;
    struct progress progress;

    /* The target, and the way to it. */
    struct jvm_process process; /* when attaching */
    struct launch child;        /* when starting a command */
    struct launch_emulator emulator;
    struct session session;
    struct recorder_attaching attaching;
    struct recorder_link link;
    struct recorder_change change;
    struct recorder_room room;
    int pidfd;
    bool connected, ready, gone;
    uint64_t ready_ns;
    struct recorder_note *notes; /* latest first */
    char archive[256];           /* the JVM's option by which it writes a class archive, or "" */

    /* What goes into the trace. */
    const struct counter_layout *layout; /* the plan's, or an empty one */
    struct threads threads;
    struct drain drain;
    struct kernel kernel;
    struct recorder_stacks stacks;
    struct recorder_allocations allocations;
    struct cpu_accounting cpu_accounting;
    struct ip_samples ip_samples;
    struct pauses pauses;
    struct collections collections;
    struct readings readings;
    struct recorder_rotation files;
    struct pressure pressure;
    struct recorder_rounds rounds;

    struct recorder_signals signals;
    struct recorder_jvms jvms;
    struct recorder_costs costs;
    bool is_stopped;
    bool is_cut; /* a signal came while classes were being changed */
    char offcpu[512], perf_map_why[512];
};

/*
 * The clock and a process' CPU time (of pid 0: none) at one moment: again when we lost the CPU in between, which cost
 * 1 % of a recording of 4 s on a busy machine.
 */
uint64_t recorder_own_cpu_ns(void); /* of this process */
struct clock_point recorder_clock_and_cpu(pid_t pid, uint64_t *cpu_ns);

/* ---- recorder_prepare.c ---- */

/*
 * From a plan to a JVM with the agent in it (or a command on its way to one), an open trace with its first metadata,
 * and a running clock.  Returns 0, or -1 with *err set; what was opened is in *r in both cases.
 */
int recorder_prepare(struct recorder *r, struct err *err);

struct recorder_status recorder_status_of(const struct recorder *r);

/* The target's groups: find them when it is known, and read them again, if it is time. */
void recorder_find_groups(struct recorder *r);
void recorder_look_at_groups(struct recorder *r, bool always);

/* Of the target since the recording began; TRACE_UNKNOWN: not known. */
uint64_t recorder_process_cpu_ns(const struct recorder *r);

/* ---- recorder_files.c ---- */

/* What a file is told at its end.  Returns 0, or -1 with *err set. */
int recorder_end_file(struct recorder *r, struct recorder_status *status, bool is_last, struct err *err);

/* After a round: the next file begins, if it is time.  Returns 0, or -1 with *err set. */
int recorder_look_at_file(struct recorder *r, struct err *err);

/* ---- recorder_round.c ---- */

/* In the order that the trace promises.  *n_words: how much there was.  Returns 0, or -1 with *err set. */
int recorder_write_round(struct recorder *r, uint64_t *n_words, struct err *err);

/* The threads and their names, where the kernel's rings do not tell them. */
void recorder_name_threads(struct recorder *r);

/* IP samples and misses that have waited, or all. */
int recorder_write_ip_samples(struct recorder *r, bool is_last, struct err *err);

/* ---- recorder_hear.c ---- */

/* What is known of the target, and what the agent told before there was a trace. */
int recorder_write_target(struct recorder *r, struct err *err);

/*
 * Packets from the agent.  The end of the connection means that the target is ending.  *has_news: some ask for a round
 * now; that compiled code was told does not.
 */
int recorder_hear(struct recorder *r, bool *stopped, bool *has_news, struct err *err);

/* Has the target ended? */
void recorder_reap(struct recorder *r);

/* Wait for a packet, a signal, the kernel's rings or the target's end, for so long at most. */
enum woken_by recorder_wait_for(struct recorder *r, int timeout_ms);

#endif
