/* What 'record' and 'profile' share: a recording's options, and running it. */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "cmd/target_argument.h"
#include "core/pmu/selftest.h"
#include "core/recorder/recorder.h"
#include "phases/live/live_session.h"

struct recording {
    struct target_argument target;
    uint64_t pid, min_bytecodes, ring_bytes;
    double duration_s, prepare_limit_s, recompile_s; /* recompile_s: CPU time of code to discard; 0: the default */
    uint64_t max_bytes;                   /* of the trace; RECORDING_SIZE_UNSET: a share of what the disk has free */
    const struct recorder_files *files;   /* of which output is the directory; NULL: one file */
    const char *output, *phases, *events; /* phases, events: NULL when not given */
    const char *read, *groups, *simulate; /* simulate: a model; NULL: no */
    const char *window, *sets;            /* of a simulation; NULL: none */
    double alone_cpu_s;                   /* of it: CPU time that the command takes without; 0: not known */
    const char *threads;                  /* only these, by a pattern of their names; NULL: all */
    struct options_list includes, excludes, by; /* by: arguments that tell calls apart */
    bool quiet, wants_perf_map, wants_lines, counts_only, no_allocations, live_objects;
    const char *ip_events;     /* that take IP samples, too; NULL: none */
    const char *mechanism;     /* of stack samples: "perf" or "polling" */
    uint64_t ip_samples_hz;    /* RECORDING_IP_SAMPLES_UNSET: as many as this kind of recording takes */
    bool is_reported;          /* a report follows, and says what a live recording found and cost */
    struct live_session *live; /* NULL: not live; borrowed */
    char *const *command;      /* NULL when attaching */
    uint32_t n_separate;       /* set by recording_run: the traces that it wrote, one for each group; 0: one for all */
};

/* An IP sample takes some 20 us of a virtual machine's CPU time: 100 a second are a fifth of a budget of 1 %. */
#define RECORDING_IP_SAMPLES_HZ     100
#define RECORDING_STACKS_HZ         99 /* of a live recording; where threads are is known by these, too */
#define RECORDING_IP_SAMPLES_HZ_MAX 10000

/* Visits to threads that wait, of a live recording: so many a second, and so much of the budget, at most. */
#define RECORDING_WAITS_HZ   20
#define RECORDING_WAITS_PART 0.3

/* A running JVM whose code took longer to compile is asked for before all of it is discarded. */
#define RECORDING_DISCARD_S 5.0

#define RECORDING_IP_SAMPLES_UNSET UINT64_MAX

/* Of so many page faults one is recorded where nobody asked for them: odd, as what touches pages often is not. */
#define RECORDING_FAULT_PERIOD 7

#define RECORDING_SIZE_UNSET      UINT64_MAX
#define RECORDING_PREPARE_LIMIT_S 60.0

#define RECORDING_DEFAULTS                                                                           \
    {                                                                                                \
        .min_bytecodes = 50, .ring_bytes = UINT64_C(8) << 20, .output = "trace.dat", .read = "auto", \
        .groups = "rotate", .mechanism = "perf", .ip_samples_hz = RECORDING_IP_SAMPLES_UNSET,        \
        .max_bytes = RECORDING_SIZE_UNSET, .prepare_limit_s = RECORDING_PREPARE_LIMIT_S              \
    }

/* Rows of the options that both commands have, a table for each group of the help. */
struct recording_rows {
    struct options_row target[7], methods[8], counters[5], samples[9], simulation[6], output[5];
};

/* Fill the tables with rows that set what is in recording, which is borrowed. */
void recording_rows(struct recording *recording, struct recording_rows *to);

/* Set pid or command to the target that was parsed; what: for a message, "record".  Returns 0, or -1 with *err set. */
int recording_target(struct recording *recording, const char *what, struct err *err);

/* Only the program mmprof-lab can record it: it has --simulate. */
bool recording_is_elsewhere(const struct recording *recording);

/*
 * Record, with progress and a summary on stderr; with --groups separate, one group of events after the other.  Returns
 * 0, and a command may go on then; or -1 with *err set, and it has ended.
 */
int recording_run(struct recording *recording, struct recorder_summary *summary, struct err *err);

/*
 * Wait until a command that goes on ends, and tell so: nothing is recorded any more, for it was enough (NULL) or for
 * this reason.  Returns its status; 0: there is none.
 */
int recording_wait(const struct recording *recording, struct recorder_summary *summary, const struct err *why);

/* The trace of a group by its number (from 1), or with 0 the one of all. */
void recording_trace_name(const char *output, uint32_t number, char *name, size_t n);

/* What a recording counts: the events, how they share the counters, and how these are read. */

struct recording_counters {
    struct counter_set events;
    struct counter_layout layout;
    enum recorder_read read;
    char read_reason[512]; /* why it is not as usual, or "" */
    char notes[2048];      /* lines to tell when the recording has ended: what is not as the user may expect */
};

/*
 * Choose them.  The first pass counts nothing unless told to: time selects the phases.  A live one counts from the
 * start: few methods are enabled.
 *
 * list       -e, or NULL: the default set if it counts, else nothing.
 * how        --read: auto, user, syscall, none.
 * tells      print what counting will cost, on stderr.
 *
 * Returns 0, or -1 with *err set.
 */
int recording_choose(const char *list, bool counts, const char *how, pid_t pid, bool tells, struct arena *arena,
                     struct recording_counters *counters, struct err *err);

/* What reading them at a call's entry and exit costs, measured in this process, in ns; 0: not read, or not known. */
double recording_read_cost(const struct recording_counters *counters);

/* The g-th group alone, and with the first one what is not counted by hardware. */
void recording_one_group(const struct recording_counters *all, uint32_t g, struct recording_counters *one);

/* What a recording says on stderr when it has ended. */

/* What was recorded, and what could not be.  attached: the JVM ran before. */
void recording_tell_summary(const struct recorder_summary *summary, const struct recorder_plan *plan, bool attached);

/* What the recording in this trace cost the program; nothing where that is not known. */
void recording_tell_cost(const char *path);

/* What a live recording did, and could not. */
void recording_tell_live(const struct live_session *session);

/* At once: no class is changed, since the JVM would discard all its compiled code. */
void recording_tell_spared(const struct live_session *session);

/* What a live recording could not measure, why, and what to do. */
void recording_tell_limits(const struct live_session *session);

#endif
