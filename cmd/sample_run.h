/*
 * One run of mmprof sample, shared by its files: sample_stacks.c begins, sample_take.c keeps samples, sample_print.c
 * ends.
 */
#ifndef CMD_SAMPLE_RUN_H
#define CMD_SAMPLE_RUN_H

#include "cmd/sample_budget.h"
#include "cmd/sample_options.h"
#include "core/base/arena.h"
#include "core/pmu/events.h"
#include "core/jvm/process.h"
#include "core/jvm/started.h"
#include "core/recorder/launch.h"
#include "core/recorder/sample_trace.h"
#include "core/recorder/stack_sampler.h"
#include "report/samples_table.h"
#include "report/view/bytecode_kinds.h"
#include "symbolize/java_names.h"
#include "symbolize/vm_parts.h"

#include <signal.h>

struct sample_run;

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
    struct sample_trace trace;           /* not written where no -o is given */
    int32_t bytecodes[STACK_FRAMES_MAX]; /* of the sample that is being taken */
    struct counter_set events;
    struct jvm_process process;
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

/* Take a sample for the table, and for the trace.  A stack_sample_fn; context: the run. */
int sample_run_take(const struct stack_sample *sample, void *context, struct err *err);

/* For the table alone.  Returns 0, or -1 with *err set: no memory. */
int sample_run_add(struct sample_run *run, const struct stack_sample *sample, struct err *err);

/* Count the JVMs that a command starts, which is not java itself, where that is due. */
void sample_run_count_jvms(struct sample_run *run, bool is_due);

/* Print what was sampled as the options say.  Returns 0, or -1 with *err set: there is nothing, or no memory. */
int sample_print(struct sample_run *run, struct err *err);

#endif
