/*
 * mmprof doctor: what works here, and what to do about what does not.
 *
 *     ok    agent      /usr/local/lib/mmprof/libmmprof-agent.so
 *     limit counters   no hardware counters: this machine has no hardware counters (virtual machine without a PMU)
 *       next: use bare metal, or let the hypervisor pass the PMU on (KVM: -cpu host,pmu=on); ...
 *     ...
 *     mmprof can record here; times are CPU times; no hardware counters
 */
#include "cmd/doctor.h"

#include "cmd/target_argument.h"
#include "core/base/text.h"

#include <sys/resource.h>

/* Later ones use what earlier ones found: the process's threads, whether there are counters. */
static const struct {
    const char *name;
    doctor_check *check;
} checks[] = {
    { "agent", doctor_agent },       { "jvm", doctor_jvm },
    { "java", doctor_java },         { "attach", doctor_attach },
    { "library", doctor_library },   { "flags", doctor_flags },
    { "archive", doctor_archive },   { "code", doctor_code },
    { "quota", doctor_quota },       { "perf", doctor_paranoid },
    { "stacks", doctor_stacks },     { "counters", doctor_counters },
    { "reads", doctor_reads },       { "watchdog", doctor_watchdog },
    { "switches", doctor_switches }, { "pinned", doctor_pinned },
    { "files", doctor_files },       { "clock", doctor_clock },
    { "memory", doctor_memory },     { "container", doctor_container },
    { "simulate", doctor_simulate },
};

/* ---- the machine ---- */

#define PTRACE_NUMBER  19
#define ADMIN_NUMBER   21
#define PERFMON_NUMBER 38

/* The set of this process, a bit for each of capabilities(7)'s numbers. */
static uint64_t capabilities(const struct doctor *doctor)
{
    char status[8192];
    doctor_read(doctor, "/proc/self/status", status, sizeof status);
    const char *line = strstr(status, "\nCapEff:");
    return line == NULL ? 0 : strtoull(line + strlen("\nCapEff:"), NULL, 16);
}

void doctor_init(struct doctor *doctor, struct arena *arena, pid_t pid)
{
    struct rlimit files = { 0, 0 }, pinned = { 0, 0 };
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    memset(doctor, 0, sizeof *doctor);
    doctor->root = "";
#if defined(__x86_64__)
    doctor->is_x86 = true;
#endif
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_MEMLOCK, &pinned);
    uint64_t capable = capabilities(doctor);
    doctor->is_privileged = (capable >> PERFMON_NUMBER & 1) != 0 || (capable >> ADMIN_NUMBER & 1) != 0;
    doctor->may_trace = (capable >> PTRACE_NUMBER & 1) != 0;
    doctor->n_cpus = n_cpus > 0 ? (uint32_t)n_cpus : 1;
    doctor->n_files = files.rlim_max;
    doctor->pinned_limit_kb = pinned.rlim_cur == RLIM_INFINITY ? UINT64_MAX : pinned.rlim_cur / 1024;
    doctor->arena = arena;
    doctor->pid = pid;
}

/* ---- the command ---- */

static void summarize(const struct doctor *doctor, const char *failed)
{
    char subject[32] = "here";
    if (doctor->pid != 0)
        snprintf(subject, sizeof subject, "process %d", (int)doctor->pid);
    if (failed[0] != '\0') {
        printf("mmprof cannot record %s: see %s\n", subject, failed);
        return;
    }
    printf("mmprof can record %s; times are %s times; ", subject, doctor->has_switches ? "CPU" : "wall-clock");
    if (!doctor->probes_count)
        printf("%s\n", doctor->n_counters == 0 ? "no hardware counters" : "probes cannot read the hardware counters");
    else
        printf("%" PRIu32 " hardware counters\n", doctor->n_counters);
}

static int examine(struct doctor *doctor)
{
    static const char *const words[] = { [DOCTOR_OK] = "ok", [DOCTOR_LIMIT] = "limit", [DOCTOR_FAIL] = "FAIL" };
    char failed[256] = "";
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct err said = { "" };
        enum doctor_level level = checks[i].check(doctor, &said);
        if (level == DOCTOR_SILENT)
            continue;
        printf("%-5s %-10s ", words[level], checks[i].name);
        text_print_lines(stdout, said.text);
        putchar('\n');
        fflush(stdout);
        size_t used = strlen(failed);
        if (level == DOCTOR_FAIL)
            snprintf(failed + used, sizeof failed - used, "%s'%s'", used == 0 ? "" : ", ", checks[i].name);
    }
    summarize(doctor, failed);
    return failed[0] == '\0' ? 0 : 1;
}

int command_doctor(int argc, char **argv, struct err *err)
{
    struct target_argument target = { .name = NULL };
    bool done;
    const struct options_row rows[] = {
        { 'p', "pid", "JVM", OPTION_TEXT, &target.name, "also check this JVM: a PID, or a name as for record" },
        { 0, NULL, NULL, OPTION_FLAG, NULL, NULL },
    };
    if (target_argument_parse(
            "doctor [JVM]",
            "Checks what works on this machine and with a JVM, and suggests fixes. Changes nothing, and\n"
            "sends nothing to the JVM.",
            rows, argc, argv, &target, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (target.command != NULL) {
        err_set(err, "'%s': only a running JVM can be checked", target.command[0]);
        return err_next(err, "name one as 'mmprof ps' does, or leave it out to check the machine");
    }
    if (target.name != NULL && target_argument_find(&target, "check", err) < 0)
        return -1;
    struct arena arena = { 0 };
    struct doctor doctor;
    doctor_init(&doctor, &arena, target.pid);
    int status = examine(&doctor);
    arena_free(&arena);
    return status;
}
