#include "cmd/recording.h"

#include "cmd/parts.h"
#include "core/base/call_argument.h"
#include "core/perf/perf_rings.h"
#include "core/recorder/clock.h"
#include "phases/live/live_policy.h"
#include "phases/select/phases_file.h"
#include "symbolize/native_symbols.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define ENDING_MS      200 /* a command whose JVM has ended, and nothing else to do, has ended by then */
#define WAIT_FOREVER   (-1)
#define FREE_DISK_PART 5

int recording_target(struct recording *recording, const char *what, struct err *err)
{
    if (target_argument_find(&recording->target, what, err) < 0)
        return -1;
    recording->pid = (uint64_t)recording->target.pid;
    recording->command = recording->target.command;
    return 0;
}

static int check_threads(const char *pattern, struct err *err)
{
    if (pattern == NULL || (pattern[0] != '\0' && strlen(pattern) < SEGMENT_THREADS_BYTES))
        return 0;
    err_set(err, "--thread '%.40s' is no pattern of a thread's name", pattern);
    return err_next(err, "give 1 to %u characters; '*' matches any, as in 'worker-*'", SEGMENT_THREADS_BYTES - 1);
}

static int check_patterns(const struct options_list *list, const char *option, struct err *err)
{
    struct pattern pattern;
    for (size_t i = 0; i < list->n; i++)
        if (strchr(list->items[i], '\n') != NULL || pattern_parse(&pattern, list->items[i]) < 0) {
            err_set(err, "bad value '%s' of option --%s", list->items[i], option);
            return err_next(err, "give a class and perhaps a method: 'java/util/HashMap.get*'");
        }
    return 0;
}

static int check_arguments(const struct options_list *list, struct err *err)
{
    struct call_argument argument;
    for (size_t i = 0; i < list->n; i++)
        if (call_argument_parse(&argument, list->items[i]) < 0) {
            err_set(err, "bad value '%s' of option --argument", list->items[i]);
            return err_next(err, "give a method, the number of its argument, and perhaps a method of that: "
                                 "'com.shop.Orders.find(1)', '*Servlet.service(1).getRequestURI()'");
        }
    return 0;
}

/* Names of the functions of a program's files, for the recorder; context is the arena in which they live. */
static const char *name_functions(void *context, const struct jvm_file *file, const char *build_id,
                                  const uint64_t *offsets, size_t n, ip_samples_found_fn *found, void *found_context)
{
    struct native_symbols symbols;
    struct err ignored;
    if (native_symbols_find(context, file, build_id, NATIVE_SYMBOLS_DEBUG, offsets, n, &symbols, &ignored) < 0)
        return NULL;
    for (size_t i = 0; i < symbols.n; i++)
        if (found(found_context, symbols.all[i].offset, symbols.all[i].n_bytes, symbols.all[i].name) < 0)
            break;
    return symbols.from;
}

static int read_phases(const char *path, struct arena *arena, struct recorder_plan *plan, struct err *err)
{
    struct phases_file file;
    if (phases_file_read(path, arena, &file, err) < 0)
        return -1;
    struct recorder_phase *phases = arena_alloc(arena, file.n_rows * sizeof *phases);
    for (size_t i = 0; i < file.n_rows; i++) {
        phases[i].class_name = file.rows[i].names.class_name;
        phases[i].name = file.rows[i].names.method;
        phases[i].descriptor = file.rows[i].names.descriptor;
    }
    if (file.n_rows == 0) {
        err_set(err, "'%s' names no phases", path);
        return err_next(err, "select some with lower thresholds: mmprof phases --weight 1%% --grain 0.01%% trace.dat");
    }
    plan->phases = phases;
    plan->n_phases = file.n_rows;
    plan->phases_file = path;
    return 0;
}

/* "DIR/trace.dat" becomes "DIR/trace.2.dat". */
void recording_trace_name(const char *output, uint32_t number, char *name, size_t n)
{
    size_t stem = strlen(output);
    if (number == 0) {
        snprintf(name, n, "%s", output);
        return;
    }
    if (stem > 4 && strcmp(output + stem - 4, ".dat") == 0)
        stem -= 4;
    snprintf(name, n, "%.*s.%" PRIu32 ".dat", (int)stem, output, number);
}

/* The other four fifths are for who else writes there, and for what is made of the trace. */
static uint64_t max_bytes(const struct recording *recording, const char *output)
{
    char directory[PATH_MAX];
    struct stat status;
    struct statvfs disk;
    if (recording->max_bytes != RECORDING_SIZE_UNSET)
        return recording->max_bytes;
    if (stat(output, &status) == 0 && !S_ISREG(status.st_mode) && recording->files == NULL)
        return 0;
    snprintf(directory, sizeof directory, "%s", output);
    char *slash = recording->files == NULL ? strrchr(directory, '/') : directory + strlen(directory);
    if (slash != NULL && recording->files == NULL)
        slash[slash == directory] = '\0';
    return statvfs(slash == NULL ? "." : directory, &disk) < 0 ? 0 : disk.f_bavail / FREE_DISK_PART * disk.f_frsize;
}

/* One session: all groups, or the one with this number (from 1). */
static int run_session(const struct recording *recording, struct recorder_plan *plan,
                       const struct recording_counters *counters, uint32_t number, struct recorder_summary *summary,
                       struct err *err)
{
    char output[PATH_MAX];
    recording_trace_name(recording->output, number, output, sizeof output);
    plan->output = output;
    plan->files = recording->files;
    plan->max_bytes = max_bytes(recording, output);
    plan->events = &counters->events;
    plan->layout = &counters->layout;
    plan->read = counters->read;
    plan->read_reason = counters->read_reason[0] == '\0' ? NULL : counters->read_reason;
    if (recorder_run(plan, summary, err) < 0)
        return -1;
    if (!recording->quiet)
        recording_tell_summary(summary, plan, recording->pid != 0);
    if (!recording->quiet)
        fputs(counters->notes, stderr);
    if (recording->by.n > 0 && summary->n_values == 0 && !recording->quiet)
        fprintf(stderr,
                "mmprof: no call of '%s' was recorded with its argument's value\n"
                "  next: check the names of class and method and the argument's number, or record for longer\n",
                recording->by.items[0]);
    if (summary->no_memory[0] != '\0')
        fprintf(stderr,
                "mmprof: %s: the recording ended early, before the kernel kills a process\n"
                "  next: give the group more memory, or record less with --include or a smaller --buffer\n",
                summary->no_memory);
    if (summary->no_ip_samples[0] != '\0' && !recording->quiet)
        fprintf(stderr, "mmprof: %s\n", summary->no_ip_samples);
    if (summary->perf_map_why[0] != '\0')
        fprintf(stderr,
                "mmprof: the map of compiled code for perf is missing or incomplete: %s\n"
                "  next: check that file and the free space of the JVM's /tmp, and record again\n",
                summary->perf_map_why);
    return 0;
}

/* What the recording has not: other JVMs of the command, or the rest of the one that goes on. */
static void tell_jvms(const struct recording *recording, const struct recorder_summary *summary)
{
    if (summary->pid != 0 && recording->pid == 0 && summary->end != RECORDER_ENDED_WITH_TARGET &&
        kill(summary->pid, 0) == 0)
        fprintf(stderr, "mmprof: JVM %d, which the command started, goes on\n", (int)summary->pid);
    target_argument_tell_others(summary->jvms.n, summary->pid, summary->program, "recorded");
}

int recording_wait(const struct recording *recording, struct recorder_summary *summary, const struct err *why)
{
    const char *text = why == NULL ? "the trace is whole" : why->text; /* its next step comes at the end */
    if (!recorder_wait(summary, ENDING_MS) && (why != NULL || !recording->quiet))
        fprintf(stderr, "mmprof: %.*s; the command goes on as process %d: waiting for its end\n",
                (int)strcspn(text, "\n"), text, (int)summary->command);
    recorder_wait(summary, WAIT_FOREVER);
    if (summary->command_status != 0 && !recording->quiet)
        fprintf(stderr, "mmprof: the command ended with status %d\n", summary->command_status);
    if (!recording->quiet)
        tell_jvms(recording, summary);
    summary->jvms.n = 0; /* it is told once */
    return summary->command_status;
}

/* Each group has all counters to itself, in a session of its own.  A command's status is the first that is not 0. */
static int run_groups(struct recording *recording, struct recorder_plan *plan,
                      const struct recording_counters *counters, struct recorder_summary *summary, struct err *err)
{
    struct recording_counters one;
    int status = 0;
    for (uint32_t g = 0; g < counters->layout.n_groups; g++) {
        recording_one_group(counters, g, &one);
        if (!recording->quiet)
            fprintf(stderr, "mmprof: group %" PRIu32 " of %" PRIu32 "\n", g + 1, counters->layout.n_groups);
        if (run_session(recording, plan, &one, g + 1, summary, err) < 0)
            return -1;
        recording->n_separate = g + 1;
        recording_wait(recording, summary, NULL);
        status = status != 0 ? status : summary->command_status;
        if (recording->pid != 0 && summary->end != RECORDER_ENDED_BY_TIME && g + 1 < counters->layout.n_groups) {
            if (!recording->quiet)
                fprintf(stderr, "mmprof: the other groups were not recorded\n");
            break;
        }
    }
    summary->command_status = status;
    return 0;
}

static int is_separate(const struct recording *recording, bool *separate, struct err *err)
{
    *separate = strcmp(recording->groups, "separate") == 0;
    if (!*separate && strcmp(recording->groups, "rotate") != 0) {
        err_set(err, "bad value '%s' of option --groups", recording->groups);
        return err_next(err, "give rotate or separate");
    }
    if (*separate && recording->live != NULL) {
        err_set(err, "--groups separate needs several recordings, and a live recording is only one");
        return err_next(err, "leave one of them out");
    }
    if (*separate && recording->pid != 0 && recording->duration_s <= 0) {
        err_set(err, "separate groups are recorded one after the other");
        return err_next(err, "say with -d how many seconds each of them takes");
    }
    return 0;
}

static int check_ip_samples(const struct recording *recording, struct err *err)
{
    if (recording->wants_lines && recording->ip_samples_hz == 0) {
        err_set(err, "--lines requires --frequency, which is off (0)");
        return err_next(err, "remove one of them");
    }
    if (recording->ip_events != NULL && (recording->ip_samples_hz == 0 || recording->simulate != NULL)) {
        err_set(err, "--ip-events requires %s",
                recording->simulate != NULL ? "the processor's own counters, and --simulate simulates one"
                                            : "--frequency, which is off (0)");
        return err_next(err, "remove one of them");
    }
    if (recording->ip_samples_hz == RECORDING_IP_SAMPLES_UNSET ||
        recording->ip_samples_hz <= RECORDING_IP_SAMPLES_HZ_MAX)
        return 0;
    err_set(err, "--frequency is at most %d Hz: each sample costs the program some microseconds",
            RECORDING_IP_SAMPLES_HZ_MAX);
    return err_next(err, "give at most %d, or 0 for no samples", RECORDING_IP_SAMPLES_HZ_MAX);
}

static int check_mechanism(const struct recording *recording, struct err *err)
{
    if (strcmp(recording->mechanism, "perf") == 0 || strcmp(recording->mechanism, "polling") == 0)
        return 0;
    err_set(err, "stacks are not sampled by '%s'", recording->mechanism);
    return err_next(err, "give --mechanism perf (from outside), or polling (in the JVM, at safepoints)");
}

static int check_live_objects(const struct recording *recording, struct err *err)
{
    if (!recording->live_objects || (recording->live != NULL && !recording->no_allocations))
        return 0;
    err_set(err, "--live-objects tracks sampled allocations, and %s",
            recording->no_allocations ? "--no-allocations takes no samples" : "only a live recording has these");
    return err_next(err,
                    recording->no_allocations ? "remove one of them" : "run 'mmprof record --live --live-objects'");
}

static uint32_t ip_samples_hz(const struct recording *recording)
{
    if (recording->ip_samples_hz != RECORDING_IP_SAMPLES_UNSET)
        return (uint32_t)recording->ip_samples_hz;
    return recording->live != NULL ? RECORDING_STACKS_HZ : RECORDING_IP_SAMPLES_HZ;
}

static int check_without_simulate(const struct recording *recording, struct err *err)
{
    const char *option = recording->window != NULL ? "window"
                         : recording->sets != NULL ? "sets"
                         : recording->counts_only  ? "counts-only"
                                                   : NULL;
    if (option == NULL)
        return 0;
    err_set(err, "--%s requires --simulate", option);
    return err_next(err, "add --simulate");
}

/* What a simulation is not for. */
static int check_simulate(const struct recording *recording, struct err *err)
{
    if (recording->simulate == NULL)
        return check_without_simulate(recording, err);
    if (recording->pid != 0) {
        err_set(err, "--simulate runs a program from its start in an emulator, and JVM %" PRIu64 " runs already",
                recording->pid);
        return err_next(err, "start it with 'mmprof record --simulate -- java ...'");
    }
    if (recording->live != NULL) {
        err_set(err, "--live selects phases by time, which an emulator distorts");
        return err_next(err, "remove --simulate, then record the selected phases with --simulate --phases; or run "
                             "'mmprof profile --simulate', which does both");
    }
    if (strcmp(recording->read, "auto") != 0 || strcmp(recording->groups, "rotate") != 0) {
        err_set(err, "--read and --groups are about a processor's counters, which a simulation does not use");
        return err_next(err, "remove them: all simulated events are counted at once");
    }
    return 0;
}

/* What takes IP samples besides the clock.  codes: room for COUNTERS_GROUP_MAX. */
static int choose_ip_events(const struct recording *recording, struct recorder_plan *plan, struct arena *arena,
                            struct counter_code *codes, struct err *err)
{
    struct counter_set set;
    const char *names = "";
    if (recording->ip_events == NULL)
        return 0;
    if (trigger_choose_each(recording->ip_events, arena, &set, codes, err) < 0)
        return -1;
    for (size_t i = 0; i < set.n; i++)
        names = arena_printf(arena, "%s%s%s", names, i > 0 ? " " : "", set.specs[i].name);
    plan->ip_events = codes;
    plan->n_ip_events = (uint32_t)set.n;
    plan->ip_events_names = names;
    return 0;
}

/* What is counted, and by what. */
static int choose_counters(const struct recording *recording, struct recorder_plan *plan, struct arena *arena,
                           struct recording_counters *counters, struct err *err)
{
    if (recording->simulate == NULL)
        return recording_choose(recording->events, recording->phases != NULL || recording->live != NULL,
                                recording->read, (pid_t)recording->pid, !recording->quiet, arena, counters, err);
    plan->samples_allocations = false;
    plan->ip_samples_hz = plan->stacks_hz = plan->waits_hz =
        0; /* the kernel sees where the emulator is, not where the program is */
    memset(counters, 0, sizeof *counters);
    counters->read = RECORDER_READ_USER;
    return parts.simulate(recording, plan, arena, counters, err);
}

static void tell_discarded(uint64_t compilers_ns)
{
    fprintf(stderr,
            "mmprof: this JVM now discards all its compiled code, %.1f s of JIT compilation: the program is slower "
            "until it is compiled again\n",
            (double)compilers_ns / 1e9);
}

static void prepare_live(struct recording *recording, const struct recording_counters *counters)
{
    struct live_session *live = recording->live;
    live->options.is_new = recording->command != NULL;
    live->options.duration_s = recording->duration_s;
    live->options.is_reported = recording->is_reported;
    /* Methods of --argument get probes before anything is decided: then there is nothing left to keep. */
    live->options.discards_code =
        recording->pid != 0 && recording->by.n == 0 && jvm_forgets_code((pid_t)recording->pid);
    live->discards = recording->quiet ? NULL : tell_discarded;
    live->spares = recording->quiet ? NULL : recording_tell_spared;
    live_session_events(live, &counters->events, &counters->layout);
}

/* Where classes are changed at once: a service would be slow for as long as its code takes to compile. */
static int check_discard(const struct recording *recording, struct err *err)
{
    pid_t pid = (pid_t)recording->pid;
    struct jvm_compilers compilers = { .pid = pid };
    double most_s = recording->recompile_s > 0 ? recording->recompile_s : RECORDING_DISCARD_S;
    char option[4200];
    if (pid == 0 || (recording->live != NULL && recording->by.n == 0) || !jvm_forgets_code(pid))
        return 0;
    uint64_t cpu_ns = jvm_compilers_cpu_ns(&compilers, 0);
    if (cpu_ns == JVM_CPU_UNKNOWN)
        return 0;
    if ((double)cpu_ns / 1e9 <= most_s) {
        if (!recording->quiet)
            tell_discarded(cpu_ns);
        return 0;
    }
    recorder_prepare_option(option, sizeof option);
    err_set(err,
            "JVM %d would discard all its compiled code, %.1f s of JIT compilation: the program would be slower "
            "until it is compiled again",
            (int)pid, (double)cpu_ns / 1e9);
    return err_next(err, "if it may, add --recompile %.0f; %s; or start the JVM with %s, or run it on JDK %d or later",
                    ceil((double)cpu_ns / 1e9) + 1,
                    recording->by.n > 0 ? "remove --argument" : "record with --live, which has samples then", option,
                    JVM_KEEPS_CODE);
}

/* Samples from outside are as rare as the budget affords: what one costs is measured before the first. */
static void choose_rate(const struct recording *recording, struct recorder_plan *plan)
{
    if (recording->live == NULL || plan->stacks_hz == 0 || plan->polls_stacks)
        return;
    plan->sample_ns = kernel_sample_cost_ns(RECORDER_STACK_BYTES, &plan->knows_sample);
    plan->stacks_hz = live_samples_hz(&recording->live->options, (double)plan->sample_ns, plan->stacks_hz);
    if (recording->ip_samples_hz == RECORDING_IP_SAMPLES_UNSET)
        plan->ip_samples_hz = plan->stacks_hz;
}

/* The first one has this process' start, too: its loader, and what was looked at before. */
static uint64_t own_start_ns(void)
{
    static bool is_later;
    uint64_t start_ns = is_later ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) : 1;
    is_later = true;
    return start_ns;
}

/* A part of the budget, as one of the JVM's CPU time; not live, there is no budget. */
static double budget_part(const struct recording *recording, double part)
{
    return recording->live != NULL ? part * recording->live->options.budget : 0;
}

static int find_agent(const struct recording *recording, char *agent, size_t n, struct err *err)
{
    return recording->simulate == NULL ? recorder_find_agent(agent, n, err) : recorder_find_lab_agent(agent, n, err);
}

bool recording_is_elsewhere(const struct recording *recording)
{
    return recording->simulate != NULL && parts.simulate == NULL;
}

int recording_run(struct recording *recording, struct recorder_summary *summary, struct err *err)
{
    struct arena arena = { NULL, 0 };
    const struct recorder_symbols symbols = { &arena, name_functions };
    struct recording_counters counters;
    struct counter_code ip_events[COUNTERS_GROUP_MAX];
    char agent[PATH_MAX];
    bool separate;
    int rc = -1;
    struct recorder_plan plan = { .pid = (pid_t)recording->pid,
                                  .start_ticks = recording->target.start_ticks,
                                  .argv = recording->command,
                                  .name = recording->command == NULL ? NULL : recording->target.among,
                                  .duration_s = recording->duration_s,
                                  .prepare_limit_s = recording->prepare_limit_s,
                                  .alone_cpu_s = recording->alone_cpu_s,
                                  .agent = agent,
                                  .min_bytecodes = (uint32_t)recording->min_bytecodes,
                                  .includes = recording->includes.items,
                                  .n_includes = recording->includes.n,
                                  .excludes = recording->excludes.items,
                                  .n_excludes = recording->excludes.n,
                                  .arguments = recording->by.items,
                                  .n_arguments = recording->by.n,
                                  .threads = recording->threads,
                                  .ring_bytes = recording->ring_bytes,
                                  .wants_perf_map = recording->wants_perf_map,
                                  .wants_lines = recording->wants_lines,
                                  .ip_samples_hz = ip_samples_hz(recording),
                                  .stacks_hz = recording->live != NULL ? RECORDING_STACKS_HZ : 0,
                                  .waits_hz = recording->live != NULL ? RECORDING_WAITS_HZ : 0,
                                  .waits_part = budget_part(recording, RECORDING_WAITS_PART),
                                  .rounds_part = budget_part(recording, LIVE_OWN_SHARE),
                                  .polls_stacks = strcmp(recording->mechanism, "polling") == 0,
                                  .polling_part = budget_part(recording, LIVE_POLLING_SHARE),
                                  .allocations_part = budget_part(
                                      recording, recording->live_objects ? LIVE_OBJECTS_SHARE : LIVE_ALLOCATIONS_SHARE),
                                  .samples_allocations = recording->live != NULL && !recording->no_allocations,
                                  .tracks_objects = recording->live != NULL && !recording->no_allocations,
                                  .fault_period = recording->events != NULL ? 1 : RECORDING_FAULT_PERIOD,
                                  .symbols = &symbols,
                                  .own_start_ns = own_start_ns(),
                                  .is_live = recording->live != NULL,
                                  .observer = recording->live == NULL ? NULL : &recording->live->observer,
                                  .progress = recording->quiet ? NULL : stderr };
    recording->n_separate = 0;
    memset(summary, 0, sizeof *summary);
    if (check_threads(recording->threads, err) < 0 || check_patterns(&recording->includes, "include", err) < 0 ||
        check_patterns(&recording->excludes, "exclude", err) < 0 || check_arguments(&recording->by, err) < 0 ||
        check_ip_samples(recording, err) < 0 || check_mechanism(recording, err) < 0 ||
        check_live_objects(recording, err) < 0 || is_separate(recording, &separate, err) < 0 ||
        find_agent(recording, agent, sizeof agent, err) < 0 ||
        (recording->phases != NULL && read_phases(recording->phases, &arena, &plan, err) < 0) ||
        check_simulate(recording, err) < 0 || choose_counters(recording, &plan, &arena, &counters, err) < 0 ||
        choose_ip_events(recording, &plan, &arena, ip_events, err) < 0 || check_discard(recording, err) < 0)
        goto out;
    if (recording->live != NULL)
        prepare_live(recording, &counters);
    choose_rate(recording, &plan);
    rc = separate && counters.layout.n_groups > 1 ? run_groups(recording, &plan, &counters, summary, err)
                                                  : run_session(recording, &plan, &counters, 0, summary, err);
    if (rc < 0)
        recording_wait(recording, summary, err);
    if (rc == 0 && !recording->quiet && recording->live != NULL && !recording->is_reported) {
        if (recording->files == NULL) /* else each file has its own */
            recording_tell_cost(recording->output);
        recording_tell_live(recording->live);
    }
out:
    arena_free(&arena);
    return rc;
}
