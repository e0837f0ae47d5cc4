/*
 * One recording: from attaching to (or starting) a JVM to a closed trace file.
 *
 * In order: look at the target, open the trace, open the kernel's rings, open the session, load the agent, drain in
 * rounds until the time is up, a signal comes or the target ends, write the last round, tell the agent to stop and
 * wait until the target is as it was.
 */
#ifndef CORE_RECORDER_RECORDER_H
#define CORE_RECORDER_RECORDER_H

#include "core/base/err.h"
#include "core/pmu/events.h"
#include "core/recorder/ip_samples.h"
#include "core/recorder/link.h"
#include "core/jvm/started.h"
#include "core/trace/trace.h"

/* How a thread's probes read its counters. */
enum recorder_read {
    RECORDER_READ_USER,    /* in user space */
    RECORDER_READ_SYSCALL, /* by system call */
    RECORDER_READ_NONE     /* not at all: only the recorder reads, from outside */
};

/*
 * A recording in several files.  A new one begins when so much time has passed, at whole multiples of it by the clock,
 * and when the one before is as large as plan->max_bytes.  One that cannot be written is lost; the next is tried.
 */
struct recorder_files {
    double every_s;
    void *context; /* borrowed; the first argument of each */
    /* The name of the next one, of a JVM: n bytes.  Returns 0, or -1 with *err set. */
    int (*next)(void *context, pid_t pid, char *path, size_t n, struct err *err);
    /* It cannot be written, from now on; and it is closed, under another name: why it is not whole, or NULL. */
    void (*fails)(void *context, const struct err *why);
    void (*ended)(void *context, const char *part, const char *path, const struct err *why);
};

struct recorder_simulation;

#define RECORDER_STACK_BYTES 32768u /* copied of a stack with each sample: javac's deepest */

struct recorder_plan {
    pid_t pid;              /* attach to this one, or 0 */
    uint64_t start_ticks;   /* when that started, if it is known: jvm_process_check_start */
    char *const *argv;      /* or start this command (NULL-terminated) */
    const char *name;       /* of several JVMs of that the one whose command line has this; NULL: the first */
    double duration_s;      /* of the trace; of a live one of a running JVM, with the attaching; 0: until the end */
    double prepare_limit_s; /* of instrumenting a running JVM's classes before the trace begins; 0: none */
    uint64_t max_bytes;     /* of the trace: it ends then; 0: no matter how many */
    const char *output;     /* path of the trace; with files, of their directory */
    const struct recorder_files *files; /* borrowed; NULL: one file, the output */
    const char *agent;                  /* path of the agent's library */
    const char *phases_file;            /* for the trace's metadata; NULL: the first pass */
    const struct recorder_phase *phases;
    size_t n_phases;
    const struct counter_set *events;    /* NULL: none */
    const struct counter_layout *layout; /* how those share the counters that are counted by hardware; NULL: none is */
    enum recorder_read read;
    const char *read_reason;                      /* why, if the user did not say so himself; or NULL */
    const struct recorder_simulation *simulation; /* run the command in it (simulation.h), borrowed; NULL: no */
    double alone_cpu_s;                           /* what the command takes without it; 0: not known */
    uint32_t min_bytecodes;
    const char *const *includes, *const *excludes;
    size_t n_includes, n_excludes;
    const char *const *arguments; /* by which calls are told apart: core/base/call_argument.h */
    size_t n_arguments;
    const char *threads; /* only threads with names that match, with '*' and '?'; NULL: all; borrowed */
    uint64_t ring_bytes;
    uint32_t fault_period; /* of so many page faults one is recorded, if they are among the events */
    uint32_t waits_hz;     /* visits a second at most to see what threads wait for, with stacks_hz; 0: none */
    double waits_part;     /* of the JVM's CPU time, 0..1, that they may take here */
    double rounds_part;    /* likewise all of its rounds, without its start; 0: any */
    uint32_t stacks_hz;    /* stack samples per second of a thread's CPU time; 0: none */
    uint64_t sample_ns;    /* what one costs the JVM; 0: it is measured */
    bool knows_sample;     /* it was; else it is what it usually is */
    bool samples_allocations, tracks_objects; /* the latter: those of the samples, as long as they live */
    double allocations_part;                  /* of the JVM's CPU time, 0..1, that they may take */
    bool polls_stacks;      /* not from outside: the agent takes them; it does, too, where they cannot be taken so */
    double polling_part;    /* of the JVM's CPU time, 0..1, that the agent may take for it */
    uint32_t ip_samples_hz; /* how often to look where a thread is, per second on a CPU; 0: not at all */
    const struct counter_code *ip_events; /* n_ip_events that take IP samples of their own, as often; borrowed */
    uint32_t n_ip_events;
    const char *ip_events_names;            /* "cycles instructions"; NULL: there are none; borrowed */
    const struct recorder_symbols *symbols; /* names functions of files; borrowed, or NULL: nobody does */
    /* Of this process' CPU time, what comes later is the recording's; 0: what comes from now on. */
    uint64_t own_start_ns;
    FILE *progress;                           /* where to report, or NULL */
    bool wants_perf_map;                      /* names for perf are written, in the JVM's /tmp */
    bool wants_lines;                         /* of all compiled code: its compilers are to keep them */
    bool hands_to_compilers;                  /* the started JVM is to take recorder_compile */
    bool is_live;                             /* nothing gets probes before the observer asks for it */
    const struct recorder_observer *observer; /* borrowed, or NULL */
};

enum recorder_end {
    RECORDER_ENDED_BY_TIME,
    RECORDER_ENDED_BY_SIGNAL,
    RECORDER_ENDED_WITH_TARGET,
    RECORDER_ENDED_BY_SIZE,
    RECORDER_ENDED_BY_MEMORY
};

struct recorder_summary {
    enum recorder_end end;
    pid_t pid;                   /* of the JVM */
    pid_t command;               /* the started command goes on, for recorder_wait; 0: it does not */
    bool follows_jvms;           /* it is not java itself, */
    struct jvm_started_all jvms; /* and these came of it */
    char program[256];           /* of the JVM: its command line */
    int command_status;          /* of one that has ended: exit status, or 128 + signal when killed; else 0 */
    double seconds, cpu_s;       /* cpu_s: of the whole process; 0: not known */
    uint64_t n_instructions;     /* simulated; 0: there is no simulation */
    uint64_t n_records, n_bytes, n_lost, n_kernel_lost;
    uint32_t n_values; /* by which calls are told apart */
    uint32_t n_classes, n_methods, n_skipped, n_failed_classes, n_left_classes, n_no_room_classes, n_event_classes,
        n_late_classes, n_loader_classes, n_breakpoint_classes, n_kept_classes, n_kept_for_memory, n_unsure_classes,
        n_refused_classes;
    char unsure[256], refused[256];         /* the first of these classes, and why; or "" */
    double instrument_ms, longest_pause_ms; /* of the classes that were loaded already; attached: the longest stop */
    uint64_t n_readings, readings_ns;       /* of counters from outside, and the CPU time that they took */
    uint32_t n_without_readings;            /* threads; readings_why says why the first of them */
    char readings_why[256];
    char perf_map_why[512];  /* why there is no file of names for perf, or an incomplete one, or "" */
    char offcpu[512];        /* "perf", or "none: reason" */
    bool is_group_full;      /* n_no_room_classes are for the limit of the JVM's memory group, not for metaspace */
    char no_memory[160];     /* whose memory is near its limit, or "" */
    char no_ip_samples[512]; /* why it was not looked where threads are, though it should, or "" */
    struct err unmatched;    /* a pattern of --include that matched nothing, or no text */
    char warning[512];       /* what went wrong after the recording itself, or "" */
};

/*
 * Record.  Returns 0 with *summary filled, or -1 with *err set; what was recorded up to then is in the trace, and the
 * target goes on.  A command may go on both ways.
 */
int recorder_run(const struct recorder_plan *plan, struct recorder_summary *summary, struct err *err);

/*
 * Wait until the command ends, if it goes on, for timeout_ms at most (less than 0: for ever); Ctrl-C is the command's.
 * Returns whether it has, with summary->command_status, and command 0.
 */
bool recorder_wait(struct recorder_summary *summary, int timeout_ms);

/* The agent's library beside this program or below its prefix (PREFIX/lib/mmprof).  Returns 0, or -1 with *err set. */
int recorder_find_agent(char *path, size_t n, struct err *err);

/* The laboratory's, which also counts objects and calls, and knows of emulators; likewise. */
int recorder_find_lab_agent(char *path, size_t n, struct err *err);

/* The java option that loads it and lets a JVM before JDK 23 keep its code: "-agentpath:/usr/.../NAME=prepare". */
void recorder_prepare_option(char *text, size_t n);

#endif
