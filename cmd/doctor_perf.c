#include "cmd/doctor.h"

#include "core/pmu/default_sets.h"
#include "core/perf/perf_rings.h"
#include "core/pmu/layout.h"
#include "core/pmu/selftest.h"

#define RING_KB      260 /* of each CPU's context switches, with its first page */
#define THREADS_MANY 100 /* a large program; asked for when there is no process to look at */
#define FILES_OWN    64
#define NAMES_BYTES  768
#define COST_BYTES   96

/* ---- who may ---- */

enum doctor_level doctor_paranoid(struct doctor *doctor, struct err *said)
{
    int64_t paranoid;
    if (!doctor_read_number(doctor, "/proc/sys/kernel/perf_event_paranoid", &paranoid)) {
        err_set(said, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
        err_next(said, "use a kernel that has them; without, times are wall-clock times");
        return DOCTOR_LIMIT;
    }
    int value = (int)paranoid;
    if (doctor->is_privileged) {
        err_set(said, "perf_event_paranoid is %d, but this user may count", value);
        return DOCTOR_OK;
    }
    if (value <= 1) {
        err_set(said, "perf_event_paranoid is %d: user space and kernel may be counted", value);
        return DOCTOR_OK;
    }
    if (value == 2) {
        err_set(
            said,
            "perf_event_paranoid is 2: user space may be counted, which is all that mmprof needs; the kernel may not");
        return DOCTOR_OK;
    }
    err_set(said, "perf_event_paranoid is %d: this user may not open any event", value);
    err_next(said, "run 'sysctl kernel.perf_event_paranoid=2', or mmprof as root (sudo)");
    return DOCTOR_LIMIT;
}

/* ---- hardware counters ---- */

static void add_name(char list[NAMES_BYTES], const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, NAMES_BYTES - used, "%s%s", used == 0 ? "" : ", ", name);
}

/* Which of an event's alternatives is in the set?  NULL: none. */
static const char *chosen_of(const struct counter_set *set, const char *alternatives)
{
    char alternative[128];
    while (default_set_alternative(&alternatives, alternative, sizeof alternative) > 0)
        for (size_t i = 0; i < set->n; i++)
            if (set->specs[i].why[0] == '\0' && strcmp(set->specs[i].name, alternative) == 0)
                return set->specs[i].name;
    return NULL;
}

static void sort_defaults(const struct counter_set *set, char counting[NAMES_BYTES], char others[NAMES_BYTES])
{
    const struct default_set *defaults = default_set_for(events_pmu_name());
    counting[0] = others[0] = '\0';
    for (size_t i = 0; defaults->events[i] != NULL; i++) {
        const char *chosen = chosen_of(set, defaults->events[i]);
        char first[128];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(defaults->events[i], "|"), defaults->events[i]);
        if (chosen != NULL)
            add_name(counting, chosen);
        else
            add_name(others, first);
    }
}

/* The reason without the event's name in front. */
static const char *short_reason(const struct err *reason)
{
    const char *why = strstr(reason->text, "': ");
    return why == NULL ? reason->text : why + 3;
}

/* The first of cycles and instructions that opens: emulated and virtual PMUs may have one of them only. */
static enum selftest_result find_event(struct doctor *doctor, struct counter_spec *spec, struct err *reason)
{
    static const char *const names[] = { "cycles", "instructions" };
    enum selftest_result result = SELFTEST_REFUSED;
    struct err ignored = { "" };
    for (size_t i = 0; i < 2 && !selftest_counts(result); i++)
        if (events_encode(names[i], doctor->arena, spec, i == 0 ? reason : &ignored) == 0)
            result = selftest_event(spec, 0, i == 0 ? reason : &ignored);
    return result;
}

/* The first words of the finding: the PMU and its size. */
static void say_pmu(const struct doctor *doctor, char *text, size_t n)
{
    const char *pmu = events_pmu_description();
    snprintf(text, n, "%s; %" PRIu32 "%s events fit at once", pmu[0] == '\0' ? "a PMU unknown to libpfm4" : pmu,
             doctor->n_counters, doctor->n_counters == COUNTERS_GROUP_MAX ? " or more" : "");
}

/* The default events, and how they share the counters. */
static enum doctor_level say_defaults(struct doctor *doctor, const struct counter_set *set,
                                      const struct counter_layout *layout, struct err *said)
{
    char pmu[256], counting[NAMES_BYTES], others[NAMES_BYTES], groups[64] = "one group";
    struct err reason = { "" };
    say_pmu(doctor, pmu, sizeof pmu);
    sort_defaults(set, counting, others);
    if (layout->n_groups > 1)
        snprintf(groups, sizeof groups, "multiplexed in %" PRIu32 " groups", layout->n_groups);
    doctor->probes_count = selftest_user_reads(layout, &reason);
    err_set(said, "%s; default events that count (%s): %s%s%s%s%s", pmu, counting, groups,
            others[0] == '\0' ? "" : "; not counted: ", others,
            doctor->probes_count ? "" : "; probes cannot read them: ", reason.text);
    if (!doctor->probes_count)
        return DOCTOR_LIMIT;
    if (others[0] == '\0')
        return DOCTOR_OK;
    err_next(said, "'mmprof list' shows the events that count here; name some of them with -e");
    return DOCTOR_LIMIT;
}

enum doctor_level doctor_counters(struct doctor *doctor, struct err *said)
{
    struct counter_spec spec;
    struct counter_set set;
    struct counter_layout layout;
    struct err reason = { "" }, note;
    enum selftest_result result = find_event(doctor, &spec, &reason);
    doctor->n_counters = doctor->n_slots = 0;
    doctor->probes_count = false;
    if (!selftest_counts(result)) {
        err_set(said, "no hardware counters: %s", short_reason(&reason));
        return DOCTOR_LIMIT;
    }
    doctor->n_counters = layout_group_size(&spec.code);
    if (selftest_choose(NULL, 0, doctor->arena, &set, &note, said) < 0 || layout_arrange(&set, &layout, said) < 0)
        return DOCTOR_LIMIT;
    doctor->n_slots = layout.n_slots;
    selftest_read_ns(&layout, &doctor->user_ns, &doctor->syscall_ns);
    return say_defaults(doctor, &set, &layout, said);
}

/* "; a reading takes ..." where that was measured. */
static const char *say_cost(const struct doctor *doctor, char *text, size_t n)
{
    text[0] = '\0';
    if (doctor->n_slots == 0 || doctor->syscall_ns <= 0)
        return text;
    if (doctor->user_ns > 0)
        snprintf(text, n, "; a counter read takes %.0f ns, by system call %.0f", doctor->user_ns, doctor->syscall_ns);
    else
        snprintf(text, n, "; a counter read by system call takes %.0f ns", doctor->syscall_ns);
    return text;
}

static enum doctor_level reads_x86(struct doctor *doctor, struct err *said)
{
    int64_t value;
    char cost[COST_BYTES];
    if (!doctor_read_number(doctor, "/sys/bus/event_source/devices/cpu/rdpmc", &value)) {
        err_set(said, "whether user space may read the counters is unknown on this kernel");
        err_next(said, "run 'mmprof list' to see");
        return DOCTOR_LIMIT;
    }
    if (value != 0) {
        err_set(said, "user space may read its counters (rdpmc is %d)%s", (int)value,
                say_cost(doctor, cost, sizeof cost));
        return DOCTOR_OK;
    }
    err_set(said, "user space may not read the counters (rdpmc is 0), so probes cannot%s",
            say_cost(doctor, cost, sizeof cost));
    err_next(said, "run 'echo 1 > /sys/bus/event_source/devices/cpu/rdpmc'");
    return DOCTOR_LIMIT;
}

static enum doctor_level reads_aarch64(struct doctor *doctor, struct err *said)
{
    int64_t value;
    char cost[COST_BYTES];
    if (!doctor_read_number(doctor, "/proc/sys/kernel/perf_user_access", &value)) {
        err_set(said, "this kernel does not let user space read the counters: Linux can since 5.17");
        err_next(said, "use a later kernel");
        return DOCTOR_LIMIT;
    }
    if (value != 0) {
        err_set(said, "user space may read its counters (perf_user_access is %d)%s", (int)value,
                say_cost(doctor, cost, sizeof cost));
        return DOCTOR_OK;
    }
    err_set(said, "user space may not read the counters (perf_user_access is 0), so probes cannot%s",
            say_cost(doctor, cost, sizeof cost));
    err_next(said, "run 'sysctl kernel.perf_user_access=1'");
    return DOCTOR_LIMIT;
}

enum doctor_level doctor_reads(struct doctor *doctor, struct err *said)
{
    if (doctor->n_counters == 0)
        return DOCTOR_SILENT;
    return doctor->is_x86 ? reads_x86(doctor, said) : reads_aarch64(doctor, said);
}

enum doctor_level doctor_watchdog(struct doctor *doctor, struct err *said)
{
    int64_t value;
    if (doctor->n_counters == 0 || !doctor_read_number(doctor, "/proc/sys/kernel/nmi_watchdog", &value))
        return DOCTOR_SILENT;
    if (value == 0) {
        err_set(said, "the kernel's NMI watchdog uses no counter");
        return DOCTOR_OK;
    }
    err_set(said, "the kernel's NMI watchdog uses one counter of each CPU");
    err_next(said, "run 'sysctl kernel.nmi_watchdog=0' while you measure");
    return DOCTOR_LIMIT;
}

/* ---- context switches ---- */

enum doctor_level doctor_switches(struct doctor *doctor, struct err *said)
{
    struct perf_rings *rings = NULL;
    struct perf_rings_state state;
    struct err why = { "" };
    doctor->has_switches =
        perf_rings_open(&rings, getpid(), &(struct perf_rings_options){ .fault_period = 1 }, &why) == 0;
    if (!doctor->has_switches) {
        err_set(said, "times are wall-clock times: %s", why.text);
        return DOCTOR_LIMIT;
    }
    perf_rings_state(rings, &state);
    perf_rings_close(rings);
    err_set(said, "context switches and page faults are recorded, in a ring of %zu KB for each CPU (%u)",
            state.ring_bytes / 1024, state.n_cpus);
    return DOCTOR_OK;
}

/* The rings, and a page for each counter of each thread, are pinned: perf_event_mlock_kb for each CPU, and the limit.
 */
enum doctor_level doctor_pinned(struct doctor *doctor, struct err *said)
{
    int64_t each_kb;
    if (!doctor_read_number(doctor, "/proc/sys/kernel/perf_event_mlock_kb", &each_kb) || each_kb < 0)
        return DOCTOR_SILENT;
    uint64_t cpus = doctor->n_cpus, free_kb = (uint64_t)each_kb * cpus;
    if (doctor->pinned_limit_kb == UINT64_MAX || doctor->pinned_limit_kb > (UINT64_C(1) << 40)) {
        err_set(said, "perf may pin any amount of memory ('ulimit -l' is unlimited)");
        return DOCTOR_OK;
    }
    uint64_t all_kb = free_kb + doctor->pinned_limit_kb, threads = doctor->is_jvm ? doctor->n_threads : THREADS_MANY;
    uint64_t wanted_kb = RING_KB * cpus + threads * 4 * doctor->n_slots;
    err_set(said,
            "perf may pin %" PRIu64 " KB (perf_event_mlock_kb is %" PRId64 " for each CPU, 'ulimit -l' %" PRIu64
            "); rings and counters of %" PRIu64 " threads take %" PRIu64,
            all_kb, each_kb, doctor->pinned_limit_kb, threads, wanted_kb);
    if (all_kb >= wanted_kb)
        return DOCTOR_OK;
    err_next(said, "run 'sysctl kernel.perf_event_mlock_kb=%" PRIu64 "', or raise 'ulimit -l'",
             wanted_kb / (cpus == 0 ? 1 : cpus) + 1);
    return DOCTOR_LIMIT;
}

enum doctor_level doctor_files(struct doctor *doctor, struct err *said)
{
    uint64_t threads = doctor->is_jvm ? doctor->n_threads : THREADS_MANY;
    uint64_t wanted = threads * (doctor->n_cpus + doctor->n_slots) + FILES_OWN;
    err_set(said, "%" PRIu64 " files may be open; %s%" PRIu64 " threads take %" PRIu64 " (CPUs: %" PRIu32 ")",
            doctor->n_files, doctor->is_jvm ? "this JVM's " : "", threads, wanted, doctor->n_cpus);
    if (doctor->n_files >= wanted)
        return DOCTOR_OK;
    err_next(said, "raise the hard limit ('ulimit -Hn', as root), or times are wall-clock times");
    return DOCTOR_LIMIT;
}
