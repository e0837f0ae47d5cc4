/*
 * One run of mmprof sample, shared by its files: sample_stacks.c begins, sample_take.c keeps samples, sample_print.c
 * ends.
 */
#ifndef CMD_SAMPLE_RUN_H
#define CMD_SAMPLE_RUN_H

#include "cmd/display.h"
#include "cmd/target_argument.h"
#include "core/base/arena.h"
#include "core/jvm/process.h"
#include "core/jvm/started.h"
#include "core/pmu/events.h"
#include "core/recorder/launch.h"
#include "core/recorder/sample_log.h"
#include "core/recorder/stack_sampler.h"
#include "report/format/table.h"
#include "report/samples_table.h"
#include "report/view/bytecode_kinds.h"
#include "report/view/virtual_waits.h"
#include "symbolize/java_names.h"
#include "symbolize/vm_parts.h"

#include <signal.h>

struct sample_run;

/*
 * What steers a run of mmprof sample from without: a limit on its cost, for which it samples more seldom, and a signal
 * that lets it rest (PEBSI §5.1.3, §5.1.4).
 */

struct sample_budget {
    double share;            /* limit: what samples cost, by the JVM's CPU time, 0..1; 0: none */
    double stretch, most;    /* periods are now so many times as long as those asked for; and were at most */
    uint64_t own_ns, jvm_ns; /* CPU times when the cost was looked at last; 0: not since the beginning, or a pause */
    uint64_t n_samples;      /* then */
    uint64_t own_sum_ns, kernel_sum_ns, jvm_sum_ns; /* between looks, without pauses */
    uint64_t sample_ns;                             /* that a sample costs the thread that it is of, in the kernel */
    bool is_measured;                               /* this, and not what it is usually */
    bool is_paused;
    uint64_t paused_ns, since_ns; /* in all, but for the pause since since_ns (CLOCK_MONOTONIC) */
    uint32_t n_pauses;
};

/*
 * If there is a limit, before the sampler is opened: measure what a sample costs in the kernel, and begin with no more
 * of the clock's than half of the limit allows for that.
 */
void sample_budget_begin(struct sample_budget *budget, struct stack_sampler_options *how);

/* After a drain: look at the cost from time to time, and take samples more seldom, or as often as asked again. */
void sample_budget_round(struct sample_budget *budget, struct stack_sampler *sampler);

/* Rest, or go on, and say so. */
void sample_budget_pause(struct sample_budget *budget, struct stack_sampler *sampler);

/* What is to be known of both. */
void sample_budget_tell(const struct sample_budget *budget, struct table *table);

/* A way to sample stacks. */
struct sample_engine {
    const char *name;
    int (*start)(struct sample_run *run, struct err *err);
    /* Hand stacks to sample_run_take until the time is over, somebody ends it, or the JVM has ended. */
    int (*take)(struct sample_run *run, struct err *err);
    void (*stop)(struct sample_run *run); /* also where it has not started */
    bool is_polling;                      /* the JVM stops its threads for it */
};

extern const struct sample_engine sample_perf, sample_wall, sample_polling;

struct sample_run {
    const struct sample_options *options;
    const struct sample_engine *engine;
    struct stack_sampler_options how;     /* of perf and wall */
    bool is_refused;                      /* by them: the JVM's layout is not known */
    char agent[PATH_MAX];                 /* of polling */
    char process_name[KERNEL_NAME_BYTES]; /* its first thread's */
    int status;                           /* of a command that it started */
    struct stack_sampler *sampler;
    struct stack_sampler_state state; /* at the end */
    struct sample_profile profile;
    struct method_name *names; /* owned: by the sampler's number */
    uint32_t n_names;
    struct bytecode_kinds kinds;
    struct virtual_waits_reading virtuals; /* what looks at virtual threads found */
    struct sample_trace trace;             /* not written where no -o is given */
    uint64_t n_others;                     /* samples of threads that --thread leaves out, */
    char other[128];                       /* and the name of one of these */
    double widest;                         /* with --until: of the table's intervals, half the widest; NAN: not known */
    int32_t bytecodes[STACK_FRAMES_MAX];   /* of the sample that is being taken */
    struct counter_set events;
    struct jvm_process process;
    uint64_t duration_ns;  /* of the sampling, from outside */
    uint64_t first_cpu_ns; /* of the process, when it was first polled */
    struct launch launch;
    pid_t command;               /* that was started; 0: none */
    struct jvm_started_all jvms; /* of a command that is not java itself */
    int signals, end;
    struct sample_budget budget;
    sigset_t old_signals;
    struct arena arena;
};

/* The CPU time for which there is one sample; 0: the events are of something else. */
uint64_t sample_run_period_ns(const struct sample_run *run);

/*
 * Take a sample for the table, and for the trace; nothing where --thread leaves its thread out, and no more frames than
 * --depth says.  A stack_sample_fn; context: the run.
 */
int sample_run_take(const struct stack_sample *sample, void *context, struct err *err);

/* The same of a visit to a thread; samples of running ones are in the trace only.  A stack_wait_fn. */
int sample_run_visit(const struct stack_wait *wait, void *context, struct err *err);

/* What a look at virtual threads found.  A stack_virtual_fn. */
int sample_run_virtual(const struct stack_virtual *threads, void *context, struct err *err);

/* Is each interval of the table as narrow as --until asks? */
bool sample_run_is_narrow(struct sample_run *run);

/* Count the JVMs that a command starts, which is not java itself, where that is due. */
void sample_run_count_jvms(struct sample_run *run, bool is_due);

/* Print what was sampled as the options say.  Returns 0, or -1 with *err set: there is nothing. */
int sample_print(struct sample_run *run, struct err *err);

/* The options of mmprof sample. */

struct sample_options {
    struct target_argument target;
    struct display display;
    uint64_t pid, frequency, period, stack_bytes, tree_bytes, top;
    double seconds, min_share;            /* 0 s: until the end */
    double budget;                        /* of our CPU time, as a share of the JVM's; 0: none */
    char *const *command;                 /* or NULL */
    const char *events, *output, *folded; /* output, folded: patterns until they are checked, then the names below */
    char output_name[PATH_MAX], folded_name[PATH_MAX];
    const char *mechanism; /* "perf" or "polling"; NULL: perf, or else polling */
    const char *html;      /* NULL: no page */
    const char *thread;    /* a pattern: only threads with such a name; NULL: all */
    uint64_t depth;        /* frames of a stack at most, the innermost ones */
    double until;          /* half of the widest interval of a share, with which it ends; 0: none */
    const char *fields;    /* "field", "" (the same) or "class"; NULL: no table of them */
    double decay_s;        /* half-life of heat; 0: none */
    bool csv, json, tree, call_sites, by_self, by_bytecode, by_class, is_wall, is_polled;
};

/* Parse and check them; *done: help was printed.  Words are borrowed from argv.  Returns 0, or -1 with *err set. */
int sample_options_parse(struct sample_options *o, int argc, char **argv, bool *done, struct err *err);

/* May samples that are taken at safepoints replace those that are asked for? */
bool sample_options_may_poll(const struct sample_options *o);

#endif
