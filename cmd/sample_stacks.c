/*
 * mmprof sample: which methods a JVM spends its CPU time in, from stack samples that are taken from outside.
 *
 *     program  java -jar shop.jar
 *     samples  5921, one for each 10.1 ms of a thread's CPU time: 59.8 s
 *
 *     Method                Time (%)     Self (%)  Samples
 *     ----------------------------------------------------
 *     Shop.main         61.20 ±2.10  0.00 ±0.00    3,660
 *     PriceTable.find   42.71 ±1.93  42.71 ±1.93    2,554
 *     ----------------------------------------------------
 *     garbage collector  9.80 ±1.10   9.80 ±1.10      586
 */
#include "cmd/commands.h"

#include "cmd/sample_run.h"
#include "core/perf/perf_rings.h"
#include "core/trace/recording_info.h"

#define BLOCK_NS  UINT64_C(100000000)
#define ENDING_MS 200
#define COUNT_MS  500

/* ---- events ---- */

static int open_trace(struct sample_run *run, struct err *err)
{
    char events[1024] = "cpu-clock";
    for (size_t i = 0, used = 0; i < run->events.n && used < sizeof events; i++)
        used +=
            (size_t)snprintf(events + used, sizeof events - used, "%s%s", i > 0 ? " " : "", run->events.specs[i].name);
    return sample_trace_open(&run->trace, run->options->output, events, sample_run_period_ns(run), err);
}

/* ---- sampling ---- */

/* Sampling is over, or has failed for a reason.  Returns the command's status. */
static int wait_for_command(struct sample_run *run, const struct err *why)
{
    int status = 0;
    launch_look(&run->launch);
    if (run->launch.is_over)
        status = launch_status(run->launch.wait_status);
    else if (!launch_wait(run->command, ENDING_MS, &status)) {
        fprintf(stderr, "mmprof: %.*s; the command goes on as process %d: waiting for its end\n",
                why == NULL ? INT32_MAX : (int)strcspn(why->text, "\n"), why == NULL ? "sampling has ended" : why->text,
                (int)run->command);
        while (!launch_wait(run->command, COUNT_MS, &status))
            sample_run_count_jvms(run, true);
    }
    if (status != 0)
        fprintf(stderr, "mmprof: the command ended with status %d\n", status);
    target_argument_tell_others(run->jvms.n, run->process.pid, run->process.command, "sampled");
    return status;
}

/* What the sampler says of itself, for the trace. */
static int write_totals(struct sample_run *run, struct err *err)
{
    const struct stack_sampler_state *state = &run->state;
    if (run->engine->is_polling && sample_trace_words(&run->trace, INFO_SAMPLE_MECHANISM, run->engine->name, err) < 0)
        return -1;
    return sample_trace_metadata(&run->trace, INFO_SAMPLE_LOST, state->n_lost, err) < 0 ||
                   sample_trace_metadata(&run->trace, INFO_SAMPLE_CPU_NS,
                                         run->options->thread == NULL ? state->cpu_ns : 0, err) < 0 ||
                   sample_trace_metadata(&run->trace, INFO_SAMPLE_KERNEL, state->has_kernel, err) < 0 ||
                   sample_trace_metadata(&run->trace, INFO_SAMPLE_OUTSIDE, run->trace.log.n_outside, err) < 0 ||
                   sample_trace_end_virtual(&run->trace, &state->virtuals, err) < 0
               ? -1
               : 0;
}

/* Of a command that is not java itself, the JVM is not known yet. */
static bool may_sample_instead(const struct sample_run *run)
{
    return sample_options_may_poll(run->options) &&
           (run->options->command == NULL || launch_is_java(run->options->command[0], NULL));
}

static int run_engine(struct sample_run *run, struct err *err)
{
    return run->engine->start(run, err) < 0 ? -1 : run->engine->take(run, err);
}

/* Where perf finds that the JVM's layout is not known, the agent takes the stacks. */
static int run_engines(struct sample_run *run, struct err *err)
{
    int rc = run_engine(run, err);
    if (rc == 0 || !run->is_refused || !may_sample_instead(run))
        return rc;
    fprintf(stderr, "mmprof sample: %.*s; stacks are sampled at safepoints instead (--mechanism polling)\n",
            (int)strcspn(err->text, "\n"), err->text);
    run->engine->stop(run);
    run->engine = &sample_polling;
    return run_engine(run, err);
}

static enum bytecode_kinds_by table_of(const struct sample_options *options)
{
    return options->fields == NULL ? BYTECODES_BY_KIND : options->by_class ? BYTECODES_BY_CLASS : BYTECODES_BY_FIELD;
}

/* What is sampled, and where that goes. */
static int prepare(struct sample_run *run, struct err *err)
{
    const struct sample_options *o = run->options;
    struct stack_sampler_options *how = &run->how;
    run->engine = o->is_polled ? &sample_polling : o->is_wall ? &sample_wall : &sample_perf;
    how->tells_loaders = true;
    how->is_refused = &run->is_refused;
    how->hz = (uint32_t)o->frequency;
    how->is_wall = o->is_wall;
    how->stack_bytes = (uint32_t)o->stack_bytes;
    run->budget.share = o->budget;
    if (o->tree_bytes < CONTEXT_TREE_MIN_BYTES) {
        err_set(err, "a calling context tree of %" PRIu64 " bytes is too small", o->tree_bytes);
        return err_next(err, "give 64K or more, such as 64M");
    }
    sample_profile_open(&run->profile, BLOCK_NS, o->tree_bytes);
    bytecode_kinds_open(&run->kinds, table_of(o), BLOCK_NS, &run->arena);
    run->profile.is_of_blocks = run->kinds.profile.is_of_blocks = o->is_polled || o->is_wall;
    run->profile.half_life_ns = run->kinds.profile.half_life_ns = (uint64_t)(o->decay_s * 1e9);
    if (o->events != NULL && trigger_choose(o->events, o->period, &run->arena, &run->events, &how->trigger, err) < 0)
        return -1;
    sample_budget_begin(&run->budget, how);
    return o->output == NULL ? 0 : open_trace(run, err);
}

static void free_run(struct sample_run *run)
{
    launch_end(&run->launch);
    if (run->end >= 0)
        close(run->end);
    sample_profile_free(&run->profile);
    bytecode_kinds_free(&run->kinds);
    free(run->names);
    virtual_waits_free(&run->virtuals);
    arena_free(&run->arena);
}

int command_sample(int argc, char **argv, struct err *err)
{
    struct sample_options options;
    struct sample_run run = { .options = &options, .launch = LAUNCH_NONE, .signals = -1, .end = -1 };
    struct err ignored;
    bool done = false;
    int rc = sample_options_parse(&options, argc, argv, &done, err);
    if (rc < 0 || done)
        return rc;
    rc = prepare(&run, err);
    if (rc == 0)
        rc = run_engines(&run, err);
    if (rc == 0)
        rc = write_totals(&run, err);
    if (sample_trace_close(&run.trace, rc == 0 ? err : &ignored) < 0)
        rc = -1;
    if (rc == 0)
        rc = sample_print(&run, err);
    fflush(stdout);
    run.engine->stop(&run);
    if (run.command != 0)
        run.status = wait_for_command(&run, rc < 0 ? err : NULL);
    free_run(&run);
    return rc < 0 ? -1 : run.status;
}
