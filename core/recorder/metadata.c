#include "core/recorder/metadata.h"

#include "core/base/call_argument.h"
#include "core/base/text.h"
#include "core/base/ticks.h"
#include "core/base/words.h"
#include "core/pmu/perf_open.h"
#include "core/recorder/link_state.h"
#include "core/recorder/simulation.h"
#include "core/trace/recording_info.h"

#include <stdarg.h>
#include <sys/utsname.h>

/* ---- the agent's configuration ---- */

static void add_patterns(struct setting_lines *lines, enum setting_kind kind, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        setting_lines_add(lines, &(struct setting){ .kind = kind, .text = patterns[i] });
}

static void add_events(struct setting_lines *lines, const struct counter_layout *layout)
{
    for (uint32_t g = 0; g < layout->n_groups; g++)
        for (uint32_t slot = layout->first[g]; slot < layout->first[g + 1]; slot++) {
            const struct counter_code *code = &layout->codes[slot];
            setting_lines_add(lines, &(struct setting){ .kind = SETTING_EVENT,
                                                        .event = { .group = g,
                                                                   .type = code->type,
                                                                   .exclude = code->exclude,
                                                                   .config = code->config,
                                                                   .config1 = code->config1,
                                                                   .config2 = code->config2 } });
        }
}

bool metadata_wants_code(const struct recorder_plan *plan)
{
    return plan->ip_samples_hz > 0 || plan->is_live || (plan->simulation != NULL && !plan->simulation->counts_only);
}

bool metadata_asks_for_code(const struct recorder_plan *plan)
{
    return (plan->argv != NULL || !plan->wants_lines) && plan->simulation == NULL;
}

bool metadata_begins_later(const struct recorder_plan *plan)
{
    return plan->pid != 0 && !plan->is_live;
}

uint32_t metadata_fault_period(const struct recorder_plan *plan)
{
    for (size_t i = 0; plan->events != NULL && i < plan->events->n; i++)
        if (plan->events->specs[i].kind == COUNTER_PAGE_FAULTS)
            return plan->fault_period;
    return 0;
}

/* A class without a package may be of any. */
static void add_argument(struct setting_lines *lines, const char *text)
{
    struct call_argument argument;
    char any[PATTERN_BYTES + 2];
    if (call_argument_parse(&argument, text) < 0)
        return;
    struct setting setting = { .kind = SETTING_ARGUMENT,
                               .number = argument.number,
                               .name = argument.accessor[0] == '\0' ? "-" : argument.accessor,
                               .text = argument.methods };
    setting_lines_add(lines, &setting);
    if (strcspn(argument.methods, "./*") < strcspn(argument.methods, "#"))
        return;
    snprintf(any, sizeof any, "*/%s", argument.methods);
    setting.text = any;
    setting_lines_add(lines, &setting);
}

char *metadata_config(const struct recorder_plan *plan)
{
    const struct {
        enum setting_kind kind;
        bool is_wanted;
    } flags[] = {
        { SETTING_LIVE, plan->is_live },
        { SETTING_BEGIN_LATER, metadata_begins_later(plan) },
        { SETTING_PERF_MAP, plan->wants_perf_map },
        { SETTING_CODE_MAP, metadata_wants_code(plan) },
        { SETTING_CODE_ASKED, metadata_wants_code(plan) && metadata_asks_for_code(plan) },
        { SETTING_READ_BY_CALL, plan->read == RECORDER_READ_SYSCALL },
    };
    struct setting_lines lines = { .text = NULL };
    setting_lines_add(&lines, &(struct setting){ .kind = SETTING_MIN_BYTECODES, .number = plan->min_bytecodes });
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].is_wanted)
            setting_lines_add(&lines, &(struct setting){ .kind = flags[i].kind });
    add_patterns(&lines, SETTING_INCLUDE, plan->includes, plan->n_includes);
    add_patterns(&lines, SETTING_EXCLUDE, plan->excludes, plan->n_excludes);
    for (size_t i = 0; i < plan->n_arguments; i++)
        add_argument(&lines, plan->arguments[i]);
    setting_lines_add_methods(&lines, SETTING_PHASE, plan->phases, plan->n_phases);
    if (plan->layout != NULL && plan->read != RECORDER_READ_NONE)
        add_events(&lines, plan->layout);
    return lines.text;
}

/* ---- metadata ---- */

static __attribute__((format(printf, 4, 5))) int put(struct trace_writer *writer, struct err *err, enum info_key key,
                                                     const char *format, ...)
{
    char value[JVM_COMMAND_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    return info_write_text(writer, key, value, err);
}

/* The value of a line of /proc/cpuinfo; returns whether it is of that name. */
static bool cpuinfo_value(const char *line, const char *name, char *value, size_t n)
{
    const char *colon = strstr(line, ": ");
    if (strncmp(line, name, strlen(name)) != 0 || colon == NULL)
        return false;
    snprintf(value, n, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    return true;
}

/* x86-64 has names; aarch64 has numbers. */
static void cpu_model(char *model, size_t n)
{
    char implementer[16] = "?", part[16];
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "re");
    snprintf(model, n, "unknown");
    while (info != NULL && fgets(line, sizeof line, info) != NULL) {
        if (cpuinfo_value(line, "model name", model, n))
            break;
        cpuinfo_value(line, "CPU implementer", implementer, sizeof implementer);
        if (cpuinfo_value(line, "CPU part", part, sizeof part)) {
            snprintf(model, n, "part %s of implementer %s", part, implementer);
            break;
        }
    }
    if (info != NULL)
        fclose(info);
}

/* What is counted besides the user's own instructions. */
static const char *kernel_share(const struct counter_layout *layout)
{
    uint32_t n_excluded = 0;
    for (uint32_t slot = 0; slot < layout->n_slots; slot++)
        n_excluded += (layout->codes[slot].exclude & COUNTER_NO_KERNEL) != 0;
    return n_excluded == layout->n_slots ? "excluded" : n_excluded == 0 ? "included" : "in some events";
}

/* "r1234 r1235": those that stayed 0 in the self-test. */
static int write_silent(struct trace_writer *writer, const struct counter_set *events, struct err *err)
{
    char names[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < events->n && used < sizeof names; i++)
        if (events->specs[i].is_silent)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", events->specs[i].name);
    return used == 0 ? 0 : info_write_text(writer, INFO_COUNTERS_SILENT, names, err);
}

static int write_counting(struct trace_writer *writer, const struct recorder_plan *plan, struct err *err)
{
    static const char *const reads[] = { "user", "syscall", "none" };
    if (plan->events != NULL && plan->events->topdown != NULL &&
        info_write_text(writer, INFO_COUNTERS_TOPDOWN, plan->events->topdown, err) < 0)
        return -1;
    if (plan->layout == NULL || plan->layout->n_groups == 0)
        return 0;
    if (info_write_count(writer, INFO_COUNTERS_GROUPS, plan->layout->n_groups, err) < 0 ||
        info_write_text(writer, INFO_COUNTERS_KERNEL, kernel_share(plan->layout), err) < 0 ||
        write_silent(writer, plan->events, err) < 0)
        return -1;
    return put(writer, err, INFO_PROBE_READ, "%s%s%s", reads[plan->read], plan->read_reason == NULL ? "" : ": ",
               plan->read_reason == NULL ? "" : plan->read_reason);
}

int metadata_write_started(struct trace_writer *writer, struct err *err)
{
    char started[64];
    time_t now = time(NULL);
    struct tm local;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&now, &local));
    return info_write_text(writer, INFO_STARTED, started, err);
}

/* Of the machine and the moment. */
static int write_host(struct trace_writer *writer, const char *mode, struct err *err)
{
    struct utsname host;
    char cpu[128];
    uname(&host);
    cpu_model(cpu, sizeof cpu);
    if (info_write_text(writer, INFO_MMPROF_VERSION, MMPROF_VERSION, err) < 0 ||
        info_write_text(writer, INFO_HOST, host.nodename, err) < 0 ||
        put(writer, err, INFO_OS, "%s %s %s", host.sysname, host.release, host.machine) < 0 ||
        put(writer, err, INFO_CPU, "%s, %ld CPUs", cpu, sysconf(_SC_NPROCESSORS_ONLN)) < 0 ||
        metadata_write_started(writer, err) < 0 || info_write_text(writer, INFO_CLOCK, TICKS_CLOCK, err) < 0)
        return -1;
    return info_write_text(writer, INFO_RECORDING_MODE, mode, err);
}

int metadata_write_samples(struct trace_writer *writer, const char *events, uint64_t period_ns, struct err *err)
{
    if (write_host(writer, "samples", err) < 0)
        return -1;
    return metadata_write_sampling(writer, events, period_ns, err);
}

int metadata_write_sampling(struct trace_writer *writer, const char *events, uint64_t period_ns, struct err *err)
{
    if (info_write_text(writer, INFO_SAMPLE_EVENTS, events, err) < 0)
        return -1;
    return info_write_count(writer, INFO_SAMPLE_PERIOD_NS, period_ns, err);
}

int metadata_write_start(struct trace_writer *writer, const struct recorder_plan *plan, const char *offcpu,
                         struct err *err)
{
    const char *mode = plan->is_live ? "live" : plan->n_phases > 0 ? "phases" : "all";
    if (write_host(writer, mode, err) < 0 ||
        put(writer, err, INFO_OFFCPU, "%.*s", (int)strcspn(offcpu, "\n"), offcpu) < 0 ||
        write_counting(writer, plan, err) < 0 ||
        (plan->threads != NULL && info_write_text(writer, INFO_THREADS_ONLY, plan->threads, err) < 0) ||
        (plan->simulation != NULL && plan->simulation->write_model(plan->simulation->context, writer, err) < 0) ||
        (metadata_fault_period(plan) > 1 &&
         info_write_count(writer, INFO_FAULTS_PERIOD, plan->fault_period, err) < 0) ||
        (plan->wants_lines && put(writer, err, INFO_CODE_LINES, "kept since") < 0))
        return -1;
    return plan->phases_file == NULL ? 0 : info_write_text(writer, INFO_PHASES_FILE, plan->phases_file, err);
}

int metadata_write_target(struct trace_writer *writer, pid_t pid, const char *jvm, char *const *argv, struct err *err)
{
    struct jvm_process process;
    struct err ignored;
    char command[JVM_COMMAND_BYTES];
    if (info_write_count(writer, INFO_JVM_PID, (uint64_t)pid, err) < 0 ||
        info_write_text(writer, INFO_JVM_VERSION, jvm, err) < 0)
        return -1;
    if (argv != NULL) {
        command[0] = '\0';
        for (size_t i = 0; argv[i] != NULL; i++) /* as typed, without the option that loads the agent */
            words_append_quoted(command, sizeof command, argv[i]);
        return info_write_text(writer, INFO_JVM_COMMAND, command, err);
    }
    if (info_write_count(writer, INFO_JVM_ATTACHED, 1, err) < 0)
        return -1;
    if (jvm_process_inspect(pid, &process, &ignored) < 0 && process.command[0] == '\0')
        return 0;
    return info_write_text(writer, INFO_JVM_COMMAND, process.command, err);
}

int metadata_write_change(struct trace_writer *writer, const struct recorder_link *link, struct err *err)
{
    if (info_write_count(writer, INFO_INSTRUMENT_BATCHES, link->n_pauses, err) < 0 ||
        info_write_real(writer, INFO_INSTRUMENT_PAUSES_MS, link->pauses_ms, err) < 0)
        return -1;
    return info_write_real(writer, INFO_INSTRUMENT_LONGEST_PAUSE_MS, link->longest_pause_ms, err);
}

int metadata_write_ready(struct trace_writer *writer, double total_ms, double longest_ms, struct err *err)
{
    if (info_write_real(writer, INFO_INSTRUMENT_MS, total_ms, err) < 0)
        return -1;
    return info_write_real(writer, INFO_INSTRUMENT_LONGEST_MS, longest_ms, err);
}

/* The costs of each counter, in their order. */
static int put_each(struct trace_writer *writer, enum info_key key, const _Atomic uint64_t *costs_x16, uint32_t n,
                    struct err *err)
{
    char text[RING_COUNTERS_MAX * 24] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < n && i < RING_COUNTERS_MAX; i++) {
        int wrote = snprintf(text + used, sizeof text - used, "%s%.4f", i == 0 ? "" : " ",
                             (double)atomic_load(&costs_x16[i]) / 16);
        used += wrote < 0 ? 0 : (size_t)wrote;
        if (used >= sizeof text)
            break;
    }
    return info_write_text(writer, key, text, err);
}

/* The name of a slot's event. */
static const char *slot_name(const struct recorder_plan *plan, uint32_t slot)
{
    if (plan->layout == NULL || slot >= plan->layout->n_slots || plan->layout->event[slot] >= plan->events->n)
        return "?";
    return plan->events->specs[plan->layout->event[slot]].name;
}

bool metadata_refusal(const struct recorder_plan *plan, const struct segment *segment, bool for_trace, struct err *why)
{
    uint32_t refused = atomic_load(&segment->counters_refused);
    int error = (int)atomic_load(&segment->counters_errno);
    bool is_forbidden = error == EACCES || error == EPERM;
    const char *name = slot_name(plan, atomic_load(&segment->counters_index));
    if (refused == 0)
        return false;
    if (refused == COUNTERS_FIRST_READ + 1)
        err_set(why, "the JVM may not read '%s' in user space", name);
    else if (refused == COUNTERS_TIME + 1)
        err_set(why, "groups take turns, and the JVM cannot read the kernel's clock in user space");
    else if (is_forbidden)
        err_set(why, "the JVM may not open '%s': %s (perf_event_paranoid is %d)", name, strerror(error),
                perf_paranoid());
    else
        err_set(why, "the JVM cannot open '%s': %s", name, strerror(error));
    if (for_trace)
        return true;
    if (is_forbidden)
        err_next(why, "run 'sysctl kernel.perf_event_paranoid=2'");
    else
        err_next(why, "see with 'mmprof list' what counts for the JVM's user");
    return true;
}

int metadata_write_costs(struct trace_writer *writer, const struct recorder_plan *plan, const struct session *session,
                         struct err *err)
{
    const struct segment *segment = session->segment;
    struct err why;
    if (metadata_refusal(plan, segment, true, &why) &&
        info_write_text(writer, INFO_COUNTERS_REFUSED, why.text, err) < 0)
        return -1;
    if (info_write_real(writer, INFO_PROBE_INSIDE_TICKS, (double)atomic_load(&segment->inside_cost_ticks_x16) / 16,
                        err) < 0 ||
        info_write_real(writer, INFO_PROBE_OUTSIDE_TICKS, (double)atomic_load(&segment->outside_cost_ticks_x16) / 16,
                        err) < 0)
        return -1;
    const uint32_t n = session->n_counters; /* not the segment's: the target may have changed that */
    if (n == 0)
        return 0;
    if (put_each(writer, INFO_PROBE_INSIDE_COUNTERS, segment->inside_cost_counters_x16, n, err) < 0)
        return -1;
    return put_each(writer, INFO_PROBE_OUTSIDE_COUNTERS, segment->outside_cost_counters_x16, n, err);
}

void metadata_reason(const struct segment_reason *reason, char *text, size_t room)
{
    char copy[sizeof reason->text];
    text[0] = '\0';
    if (atomic_load(&reason->is_set) == 0)
        return;
    memcpy(copy, reason->text, sizeof copy); /* the target may write it once more */
    text_utf8_into(text, room, copy, strnlen(copy, sizeof copy));
}

static int write_reason(struct trace_writer *writer, enum info_key key, const struct segment_reason *reason,
                        struct err *err)
{
    char text[sizeof reason->text];
    metadata_reason(reason, text, sizeof text);
    return text[0] == '\0' ? 0 : info_write_text(writer, key, text, err);
}

int metadata_write_quota(struct trace_writer *writer, const struct cpu_quota_level *quota, struct err *err)
{
    if (quota->cpus <= 0)
        return 0;
    return info_write_real(writer, INFO_QUOTA_CPUS, quota->cpus, err) < 0 ||
                   info_write_count(writer, INFO_QUOTA_THROTTLED, quota->n_stopped, err) < 0
               ? -1
               : info_write_count(writer, INFO_QUOTA_THROTTLED_NS, quota->stopped_ns, err);
}

int metadata_write_end(struct trace_writer *writer, const struct segment *segment, const struct metadata_cpu *cpu,
                       struct err *err)
{
    const struct {
        enum info_key key;
        uint64_t value;
    } numbers[] = {
        { INFO_INSTRUMENTED_CLASSES, atomic_load(&segment->counts[SEGMENT_CLASSES]) },
        { INFO_INSTRUMENTED_METHODS, atomic_load(&segment->counts[SEGMENT_METHODS]) },
        { INFO_SKIPPED_TOO_LARGE, atomic_load(&segment->counts[SEGMENT_TOO_LARGE]) },
        { INFO_SKIPPED_LIMITS, atomic_load(&segment->counts[SEGMENT_LIMITS]) },
        { INFO_SKIPPED_UNUSUAL, atomic_load(&segment->counts[SEGMENT_UNUSUAL]) },
        { INFO_FAILED_CLASSES, atomic_load(&segment->counts[SEGMENT_FAILED]) },
        { INFO_LEFT_CLASSES, atomic_load(&segment->counts[SEGMENT_LEFT_NATIVES]) },
        { INFO_LEFT_METASPACE, atomic_load(&segment->counts[SEGMENT_LEFT_METASPACE]) },
        { INFO_LEFT_EVENTS, atomic_load(&segment->counts[SEGMENT_LEFT_EVENTS]) },
        { INFO_LEFT_LATE, atomic_load(&segment->counts[SEGMENT_LEFT_LATE]) },
        { INFO_LEFT_LOADERS, atomic_load(&segment->counts[SEGMENT_LEFT_LOADERS]) },
        { INFO_LEFT_BREAKPOINTS, atomic_load(&segment->counts[SEGMENT_LEFT_BREAKPOINTS]) },
        { INFO_KEPT_BREAKPOINTS, atomic_load(&segment->counts[SEGMENT_KEPT_BREAKPOINTS]) },
        { INFO_KEPT_MEMORY, atomic_load(&segment->counts[SEGMENT_KEPT_MEMORY]) },
        { INFO_UNSURE_CLASSES, atomic_load(&segment->counts[SEGMENT_UNSURE]) },
        { INFO_REFUSED_CLASSES, atomic_load(&segment->counts[SEGMENT_REFUSED]) },
        { INFO_SHARED_NAMES, atomic_load(&segment->counts[SEGMENT_SHARED_NAMES]) },
        { INFO_LOST_NO_RING, atomic_load(&segment->n_lost_no_ring) },
        { INFO_PROCESS_CPU_NS, cpu->process_ns },
        { INFO_MACHINE_STOLEN_NS, cpu->stolen_ns },
        { INFO_RECORDER_CPU_NS, cpu->own_ns },
        { INFO_RECORDER_START_NS, cpu->own_start_ns },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value != TRACE_UNKNOWN && info_write_count(writer, numbers[i].key, numbers[i].value, err) < 0)
            return -1;
    return metadata_write_quota(writer, &cpu->quota, err) < 0 ||
                   write_reason(writer, INFO_UNSURE_FIRST, &segment->unsure, err) < 0
               ? -1
               : write_reason(writer, INFO_REFUSED_FIRST, &segment->refused, err);
}

int metadata_write_removal(struct trace_writer *writer, const struct recorder_link *link, struct err *err)
{
    if (link->n_pauses == 0)
        return 0;
    if (info_write_count(writer, INFO_REMOVAL_BATCHES, link->n_pauses, err) < 0 ||
        info_write_real(writer, INFO_REMOVAL_PAUSES_MS, link->pauses_ms, err) < 0)
        return -1;
    return info_write_real(writer, INFO_REMOVAL_LONGEST_PAUSE_MS, link->longest_pause_ms, err);
}

int metadata_write_readings(struct trace_writer *writer, const struct readings *readings, struct err *err)
{
    if (readings->n_columns == 0)
        return 0;
    if (info_write_count(writer, INFO_READINGS, readings->n_read, err) < 0 ||
        info_write_real(writer, INFO_READINGS_CPU_MS, (double)readings->spent_ns / 1e6, err) < 0)
        return -1;
    if (readings->n_without == 0)
        return 0;
    return put(writer, err, INFO_READINGS_THREADS_WITHOUT, "%" PRIu32 ": %s", readings->n_without, readings->why);
}

int metadata_write_ip_samples(struct trace_writer *writer, const struct ip_samples *ip_samples,
                              const struct perf_rings_state *state, uint32_t hz, uint64_t cost_ns, bool is_measured,
                              uint64_t asked_ns, struct err *err)
{
    const char *why = state->why_no_ip_samples, *no_events = state->why_no_ip_events;
    if (asked_ns > 0 && info_write_real(writer, INFO_CODE_ASKED_MS, (double)asked_ns / 1e6, err) < 0)
        return -1;
    if (cost_ns > 0 && (info_write_count(writer, INFO_IP_SAMPLES_COST_NS, cost_ns, err) < 0 ||
                        (!is_measured && info_write_count(writer, INFO_IP_SAMPLES_COST_IS_USUAL, 1, err) < 0)))
        return -1;
    if (info_write_count(writer, INFO_IP_SAMPLES_HZ, hz, err) < 0 ||
        info_write_count(writer, INFO_IP_SAMPLES, ip_samples->n, err) < 0 ||
        info_write_count(writer, INFO_IP_SAMPLES_UNKNOWN, ip_samples->n_unknown, err) < 0 ||
        info_write_count(writer, INFO_IP_SAMPLES_NO_LINES, ip_samples->n_coarse, err) < 0 ||
        info_write_real(writer, INFO_CODE_CPU_MS, (double)ip_samples->code.spent_ns / 1e6, err) < 0 ||
        info_write_text(writer, INFO_IP_SAMPLES_KERNEL, state->has_kernel_ip_samples ? "included" : "excluded", err) <
            0)
        return -1;
    if (no_events != NULL &&
        put(writer, err, INFO_IP_SAMPLES_EVENTS_FAILED, "%.*s", (int)strcspn(no_events, "\n"), no_events) < 0)
        return -1;
    return why == NULL ? 0 : put(writer, err, INFO_IP_SAMPLES_FAILED, "%.*s", (int)strcspn(why, "\n"), why);
}
