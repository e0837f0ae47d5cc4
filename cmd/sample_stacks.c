/*
 * mmprof sample: which methods a running JVM spends its CPU time in, from stack samples that are taken from outside.
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

#include "cmd/output_file.h"
#include "core/counters/kernel_rings.h"
#include "core/jvm/process.h"
#include "core/recorder/stack_sampler.h"
#include "report/samples_table.h"
#include "symbolize/vm_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define FREQUENCY_MAX 10000u
#define STACK_BYTES   32768u /* javac's deepest stacks */
#define BLOCK_NS      UINT64_C(100000000)
#define ROUND_MS      100

struct sample_options {
    uint64_t pid, frequency, stack_bytes, top;
    double seconds, min_share;
    const char *output;
    bool csv, json, tree, by_self;
};

struct sample_run {
    const struct sample_options *options;
    struct stack_sampler *sampler;
    struct sample_profile profile;
    struct jvm_process process;
    struct arena arena;
};

/* ---- options ---- */

static int check(struct sample_options *o, int argc, int n_parsed, struct err *err)
{
    if (n_parsed < argc || o->pid == 0 || o->pid > INT32_MAX) {
        err_set(err, "no process is given");
        return err_next(err, "name a running JVM with -p PID");
    }
    if (o->frequency == 0 || o->frequency > FREQUENCY_MAX) {
        err_set(err, "%" PRIu64 " samples a second are not possible", o->frequency);
        return err_next(err, "give a frequency of 1 to %u, such as -F 100", FREQUENCY_MAX);
    }
    o->stack_bytes -= o->stack_bytes % 8;
    if (o->stack_bytes < 1024 || o->stack_bytes > KERNEL_STACK_MAX_BYTES) {
        err_set(err, "%" PRIu64 " bytes of each stack cannot be copied", o->stack_bytes);
        return err_next(err, "give 1K to 63K, such as --stack-size 32K");
    }
    if (o->csv && o->json) {
        err_set(err, "--csv and --json are two formats");
        return err_next(err, "give one of them");
    }
    return 0;
}

static int parse(int argc, char **argv, struct sample_options *o, bool *done, struct err *err)
{
    int n_parsed;
    struct options_row rows[] = {
        { 'p', "pid", "PID", OPTION_NUMBER, &o->pid, "sample this running JVM" },
        { 'd', "duration", "SECONDS", OPTION_SECONDS, &o->seconds, "end after so long, or at Ctrl-C (10)" },
        { 'F', "frequency", "HZ", OPTION_NUMBER, &o->frequency, "samples per second of a thread's CPU time (99)" },
        { 0, "stack-size", "SIZE", OPTION_SIZE, &o->stack_bytes, "bytes copied of a stack, up to 63K (32K)" },
        { 0, "top", "N", OPTION_NUMBER, &o->top, "print at most N methods (40; 0: all)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->min_share, "leave out what has less of the time (1%)" },
        { 0, "self", NULL, OPTION_FLAG, &o->by_self, "sort by own time, without that of callees" },
        { 0, "tree", NULL, OPTION_FLAG, &o->tree, "print the calling contexts, callees below their callers" },
        { 'o', "output", "FILE", OPTION_TEXT, &o->output, "also write folded stacks (flame graphs) to FILE" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        { 0 },
    };
    if (command_parse("sample -p PID [OPTIONS]",
                      "Samples the stacks of a running JVM from outside: nothing is loaded into it, nothing in it is\n"
                      "changed or stopped. Prints the methods by their part of the CPU time.",
                      rows, argc, argv, &n_parsed, done, err) < 0)
        return -1;
    return *done ? 0 : check(o, argc, n_parsed, err);
}

/* ---- sampling ---- */

static int on_sample(const struct stack_sample *sample, void *context, struct err *err)
{
    struct sample_run *run = context;
    enum vm_part part = vm_part_of(sample->thread_name);
    if (sample_profile_add(&run->profile, sample->time_ns, part, sample->methods, sample->n) < 0)
        return err_set(err, "no memory for the calling contexts");
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Until the time is over, somebody ends it, or the JVM has ended. */
static int sample(struct sample_run *run, int signals, struct err *err)
{
    uint64_t end_ns = now_ns() + (uint64_t)(run->options->seconds * 1e9);
    struct pollfd wakes[2] = { { .fd = signals, .events = POLLIN },
                               { .fd = stack_sampler_fd(run->sampler), .events = POLLIN } };
    char comm[16];
    for (;;) {
        uint64_t now = now_ns();
        bool is_over =
            now >= end_ns || wakes[0].revents != 0 || jvm_thread_comm(run->process.pid, run->process.pid, comm) < 0;
        if (stack_sampler_drain(run->sampler, on_sample, run, err) < 0)
            return -1;
        if (is_over)
            return 0;
        uint64_t left_ms = (end_ns - now) / 1000000 + 1;
        poll(wakes, 2, left_ms < ROUND_MS ? (int)left_ms : ROUND_MS);
    }
}

static int block_signals(struct err *err)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : err_set(err, "cannot wait for signals: %s", strerror(errno));
}

/* ---- printing ---- */

static void add_notes(const struct sample_run *run, struct table *table)
{
    struct stack_sampler_state state;
    stack_sampler_state(run->sampler, &state);
    uint64_t n_java = state.n_samples - state.n_by_end[STACK_NO_JAVA];
    table_fact_number(table, "java_stacks", (double)n_java, NULL);
    if (n_java > 0)
        table_fact_number(table, "whole_stacks_share", (double)state.n_by_end[STACK_WHOLE] / (double)n_java, NULL);
    for (enum stack_end end = STACK_WHOLE + 1; end < STACK_ENDS; end++)
        if (state.n_by_end[end] > 0 && end != STACK_NO_JAVA)
            table_note(table, arena_printf(table->arena, "of %" PRIu64 " stacks the outer methods are missing: %s",
                                           state.n_by_end[end], stack_end_name(end)));
    if (!state.has_kernel)
        table_note(table, "time in the kernel is not sampled, so shares are of time in user space: run "
                          "'sysctl kernel.perf_event_paranoid=1', or this as root");
    if (state.n_lost > 0)
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " samples were lost, for the rings were full: lower the frequency "
                                       "(-F)",
                                       state.n_lost));
}

static int write_folded(const struct samples_source *source, struct arena *arena, const char *path, struct err *err)
{
    struct output_file file;
    if (output_file_open(&file, path, "-o", err) < 0)
        return -1;
    return output_file_close(&file, samples_write_folded(source, arena, file.out, err), err);
}

static int print(struct sample_run *run, struct err *err)
{
    const struct sample_options *o = run->options;
    uint32_t n;
    const struct sampled_method *methods = stack_sampler_methods(run->sampler, &n);
    struct java_name *names = arena_alloc(&run->arena, (n + 1) * sizeof *names);
    struct table *table = arena_alloc(&run->arena, sizeof *table);
    if (names == NULL || table == NULL)
        return err_set(err, "no memory for the names of %" PRIu32 " methods", n);
    for (uint32_t i = 0; i < n; i++)
        names[i] = (struct java_name){ methods[i].class_name, methods[i].name, methods[i].descriptor };
    const struct samples_source source = { &run->profile, names, n, run->process.command,
                                           UINT64_C(1000000000) / o->frequency };
    const struct samples_options options = { o->min_share, o->top, o->by_self };
    if (run->profile.n_samples == 0) {
        err_set(err, "process %d used no CPU time", (int)run->process.pid);
        return err_next(err, "sample it while it works, or for longer (-d)");
    }
    if (o->output != NULL && write_folded(&source, &run->arena, o->output, err) < 0)
        return -1;
    if (o->tree)
        return samples_print_tree(&source, &options, &run->arena, stdout, err);
    if (samples_table_make(&source, &options, &run->arena, table, err) < 0)
        return -1;
    add_notes(run, table);
    return o->csv    ? table_print_csv(table, stdout, err)
           : o->json ? table_print_json(table, stdout, err)
                     : table_print_text(table, stdout, err);
}

int command_sample(int argc, char **argv, struct err *err)
{
    struct sample_options options = {
        .frequency = 99, .stack_bytes = STACK_BYTES, .top = 40, .seconds = 10, .min_share = 0.01
    };
    struct sample_run run = { .options = &options };
    bool done = false;
    int rc = parse(argc, argv, &options, &done, err), signals = -1;
    if (rc < 0 || done)
        return rc;
    const struct stack_sampler_options how = { (uint32_t)options.frequency, (uint32_t)options.stack_bytes };
    sample_profile_init(&run.profile, BLOCK_NS);
    rc = jvm_process_inspect((pid_t)options.pid, &run.process, err);
    if (rc == 0)
        rc = signals = block_signals(err);
    if (rc >= 0)
        rc = stack_sampler_open(&run.sampler, run.process.pid, &how, err);
    if (rc == 0)
        rc = sample(&run, signals, err);
    if (rc == 0)
        rc = print(&run, err);
    if (signals >= 0)
        close(signals);
    stack_sampler_close(run.sampler);
    sample_profile_free(&run.profile);
    arena_free(&run.arena);
    return rc;
}
