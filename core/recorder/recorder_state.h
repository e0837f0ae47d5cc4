/*
 * One recording's state, shared by recorder.c and recorder_prepare.c; nobody else includes it.
 */
#ifndef CORE_RECORDER_RECORDER_STATE_H
#define CORE_RECORDER_RECORDER_STATE_H

#include "core/jvm/cpu_quota.h"
#include "core/wire/batch.h"
#include "core/base/progress.h"
#include "core/recorder/cpu_accounting.h"
#include "core/recorder/collections.h"
#include "core/recorder/drain.h"
#include "core/recorder/ip_samples.h"
#include "core/recorder/kernel.h"
#include "core/recorder/launch.h"
#include "core/recorder/link_state.h"
#include "core/recorder/poll_sampler.h"
#include "core/recorder/pauses.h"
#include "core/recorder/readings.h"
#include "core/recorder/sample_log.h"
#include "core/recorder/recorder.h"
#include "core/recorder/simulation.h"
#include "core/recorder/wait_log.h"
#include "core/trace/recording_info.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>

#define STACKS_BYTES 32768u /* copied of a stack with each sample: javac's deepest */

/* Stack samples: recorder_stacks.c. */
struct recorder_stacks {
    struct stack_sampler *sampler; /* from outside; owned; NULL: there are none */
    struct poll_sampler *polled;   /* by the agent; owned; NULL: not yet, or never */
    struct sample_log log;
    struct wait_log waits;
    uint64_t random;     /* for the time between visits */
    uint64_t visit_ns;   /* when threads that wait are visited next, CLOCK_MONOTONIC; 0: at once */
    uint64_t drained_ns; /* when samples were taken out of the rings last */
    uint64_t sampled_ns; /* CPU time that the samples stand for */
    uint64_t cpu_ns;     /* of the process, when the agent began to poll */
    bool is_ours;        /* it is the recording that has failed, not the sampling */
    char why[256];       /* there are none from outside, if so */
};

/* Allocations that the agent samples: recorder_allocations.c. */
struct recorder_allocations {
    struct poll_sampler *sampler; /* owned; NULL: not yet, or never */
    uint64_t drained_ns;
    bool is_ours;  /* as of stacks */
    char why[256]; /* there are none, if so */
};

#define RECORDER_PART ".part" /* behind the name of a file that is being written */

struct recorder_file_names {
    char whole[PATH_MAX], part[PATH_MAX];
};

/* Several files: recorder_files.c. */
struct recorder_rotation {
    struct recorder_file_names names; /* part "": none is open */
    struct clock_point start;         /* of this file, also if it is the only one */
    uint64_t n;                       /* from 1 on */
    bool is_turning;                  /* it is the file's last round: all that waits is taken */
    bool has_failed;                  /* it cannot be written, and that was told */
};

/* Memory: recorder_room.c. */
struct recorder_room {
    uint64_t look_ns;      /* when to look again */
    uint64_t change_bytes; /* that changed classes may take in the target; UINT64_MAX: any */
    uint64_t own_bytes;    /* that we may allocate */
    bool is_less;          /* than metaspace has */
    char why[160];         /* whose memory is near a limit; "": nobody's */
};

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

/* A JVM of a command that runs without the agent: recorder_attach.c. */
struct recorder_late {
    pid_t pid;
    uint64_t seen_ns; /* first, CLOCK_MONOTONIC */
    bool is_tried;
};

/* The CPU quota of the target's groups: recorder_status.c. */
struct recorder_quota {
    struct cpu_quota start, latest;
    uint64_t read_ns;
    bool is_there; /* some group has one */
};

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
    struct recorder_stacks stacks;
    struct recorder_allocations allocations;
    struct cpu_accounting cpu_accounting;
    struct ip_samples ip_samples;
    struct pauses pauses;
    struct collections collections;
    struct readings readings;
    struct launch_emulator emulator; /* with a simulation */
    struct trace_writer *writer;
    struct recorder_rotation files;
    struct clock_point first, latest;
    pid_t target; /* the JVM; 0 until it is known */
    int signals, pidfd;
    sigset_t old_mask;
    void (*old_pipe)(int), (*old_size)(int);
    bool connected, costs_written, ready, gone, interrupted, is_stopped;
    bool is_cut;    /* a signal came while classes were being changed */
    bool asks_much; /* IP samples are in many pieces of code that are not known */
    struct recorder_late late;
    bool follows_jvms;           /* the command is not java itself: a JVM comes of it, or several */
    bool told_orphans;           /* that the command has ended, and what it left is waited for */
    uint64_t counted_ns;         /* when the command's JVMs were looked for last */
    char program[256];           /* of its JVM: the command line */
    struct jvm_started_all jvms; /* of a command that is not java itself */
    uint64_t ready_ns, clock_written_ns, flushed_ns, asked_ns;
    uint64_t cpu_start_ns, cpu_ns; /* of the process */
    uint64_t own_cpu_start_ns;
    struct recorder_quota quota;
    uint64_t stolen_start_ns;   /* of the machine; TRACE_UNKNOWN: not told */
    uint64_t ip_sample_cost_ns; /* of the program's CPU time; 0: there are no IP samples */
    bool knows_ip_sample_cost;  /* it is measured; else what it usually is */
    double instrument_ms, longest_pause_ms;
    int niceness; /* before it hurried */
    bool hurries;
    char offcpu[512], perf_map_why[512];
    struct recorder_note *notes; /* latest first */
    struct recorder_change change;
    struct recorder_room room;
    struct progress progress;
    char archive[256]; /* the JVM's option by which it writes a class archive, or "" */
};

/* ---- recorder_status.c ---- */

/*
 * The clock and a process' CPU time (of pid 0: none) at one moment: again when we lost the CPU in between, which cost
 * 1 % of a recording of 4 s on a busy machine.
 */
uint64_t recorder_own_cpu_ns(void); /* of this process */
struct clock_point recorder_clock_and_cpu(pid_t pid, uint64_t *cpu_ns);

/*
 * From a plan to a JVM with the agent in it (or a command on its way to one), an open trace with its first metadata,
 * and a running clock.  Returns 0, or -1 with *err set; what was opened is in *r in both cases.
 */
int recorder_prepare(struct recorder *r, struct err *err);

struct recorder_status recorder_status_of(const struct recorder *r);

/* The target's groups: find them when it is known, and read them again, once a second or at the end. */
void recorder_find_quota(struct recorder *r);
void recorder_read_quota(struct recorder *r, bool is_last);

/* Of the target since the recording began; TRACE_UNKNOWN: not known. */
uint64_t recorder_process_cpu_ns(const struct recorder *r);

/* ---- recorder_open.c ---- */

/* Open the trace, or the first file of it; name a file, and say which it is.  Each returns 0, or -1 with *err set. */
int recorder_open_file(struct recorder *r, struct err *err);
int recorder_name_file(struct recorder *r, struct recorder_file_names *names, struct err *err);
int recorder_write_file_info(struct recorder *r, struct err *err);

/* ---- recorder_files.c ---- */

/* What a file is told at its end.  Returns 0, or -1 with *err set. */
int recorder_end_file(struct recorder *r, struct recorder_status *status, bool is_last, struct err *err);

/* The file is closed; why: it is not whole, or NULL. */
void recorder_close_file(struct recorder *r, const struct err *why);

/* After a round: the next file begins, if it is time.  Returns 0, or -1 with *err set. */
int recorder_look_at_file(struct recorder *r, struct err *err);

/* INT_MAX: never. */
int recorder_file_left_ms(const struct recorder *r);

/* ---- recorder_room.c ---- */

/* Before anything is made: what rings may take.  Returns 0, or -1 with *err set: the target is too near a limit. */
int recorder_room_open(struct recorder *r, struct ring_memory_plan *plan, struct err *err);

/* At the end, which is to find memory: where there was none, *err gets a next step. */
void recorder_room_explain(const struct recorder *r, struct err *err);

/* Is the target, or are we, so near a limit that the recording has to end?  Then r->room.why says it. */
bool recorder_room_is_low(struct recorder *r);

/* ---- recorder_round.c ---- */

/* In the order that the trace promises.  *n_words: how much there was.  Returns 0, or -1 with *err set. */
int recorder_write_round(struct recorder *r, uint64_t *n_words, struct err *err);

/* IP samples and misses that have waited, or all. */
int recorder_write_ip_samples(struct recorder *r, bool is_last, struct err *err);

/* ---- recorder_hear.c ---- */

/* The threads and their names, where the kernel's rings do not tell them. */
int recorder_name_threads(struct recorder *r, struct err *err);

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

/* ---- recorder_stacks.c ---- */

/* Begin to sample, if the plan wants it; a command's process waits before its exec. */
void recorder_open_stacks(struct recorder *r);

/* What is left to the kernel's other rings of the plan's ip_samples_hz: where both are asked for alike, stacks tell it.
 */
uint32_t recorder_ring_ip_samples_hz(const struct recorder *r);

/* What was sampled since; and at the end, what the trace is told of all.  Each returns 0, or -1 with *err set. */
int recorder_write_stacks(struct recorder *r, struct err *err);
int recorder_write_stacks_info(struct recorder *r, struct err *err);
void recorder_close_stacks(struct recorder *r);

/*
 * See what threads wait for, if it is time; a failure ends that, and the recording goes on.  Returns how many ms there
 * are until it is time again; INT_MAX: never.
 */
int recorder_visit_waits(struct recorder *r);

/* CPU time that the JVM lost by the agent taking them. */
uint64_t recorder_polling_ns(const struct recorder *r);

/* ---- recorder_allocations.c ---- */

/* As those of stacks: begin, or what was sampled since; what a file is told of; and what is left when the agent has
 * ended, and that. */
int recorder_write_allocations(struct recorder *r, struct err *err);
int recorder_tell_allocations(struct recorder *r, struct err *err);
int recorder_end_allocations(struct recorder *r, struct err *err);
void recorder_close_allocations(struct recorder *r);

/* CPU time that the JVM lost by them. */
uint64_t recorder_allocations_ns(const struct recorder *r);

/* ---- recorder_includes.c ---- */

/* Has a pattern of the plan matched nothing so far, or all of them?  Then *err says which is first, and what to do. */
bool recorder_includes_nothing(const struct recorder *r, bool *all, struct err *err);

/* ---- recorder_attach.c ---- */

/* Load the agent into the plan's JVM.  Returns 0, or -1 with *err set. */
int recorder_attach(struct recorder *r, struct err *err);

/* What is said of a JVM (pid 0: of a command) that writes its classes into an archive, by this option.  Returns -1. */
int recorder_refuse_archive(pid_t pid, const char *option, struct err *err);

/* No JVM of the command has connected yet: attach to one that runs without the agent. */
void recorder_attach_late(struct recorder *r);

/* ---- recorder_change.c ---- */

/* WIRE_CHANGING, WIRE_PAUSE: of the first pass. */
void recorder_hear_change(struct recorder *r, const struct wire_message *told);

/*
 * With the agent in a running JVM: wait until the loaded classes have their probes, which record nothing yet.  It says
 * what it will take when the first batch is done, and ends after plan->prepare_limit_s with what there is by then.
 * Returns 0, or -1 with *err set: also after a signal.
 */
int recorder_change_classes(struct recorder *r, struct err *err);

#endif
