#include "core/pmu/perf_open.h"

#include <sys/resource.h>

#define PARANOID_UNKNOWN (-100)

int perf_paranoid(void)
{
    int value = PARANOID_UNKNOWN;
    FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (in != NULL) {
        if (fscanf(in, "%d", &value) != 1)
            value = PARANOID_UNKNOWN;
        fclose(in);
    }
    return value;
}

static bool opens(const struct counter_code *code, pid_t pid)
{
    struct perf_event_attr attr;
    counters_attr(code, &attr);
    int fd = counters_perf_open(&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int append(struct err *err, const char *reason)
{
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "%s%s", used > 0 ? ": " : "", reason);
    return -1;
}

static int why_absent(const struct counter_code *code, struct err *err)
{
    static const struct counter_code cycles = { .type = PERF_TYPE_HARDWARE,
                                                .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR,
                                                .config = PERF_COUNT_HW_CPU_CYCLES };
    if (code->type != PERF_TYPE_SOFTWARE && !opens(&cycles, 0)) {
        append(err, "this machine has no hardware counters (virtual machine without a PMU)");
        return err_next(err, "use bare metal, or let the hypervisor pass the PMU on (KVM: -cpu host,pmu=on); "
                             "task-clock, page-faults and context-switches work here");
    }
    append(err, "this CPU or kernel does not have it");
    return err_next(err, "run 'mmprof list' for the events that count here");
}

static int why_forbidden(int error, const struct counter_code *code, pid_t pid, struct err *err)
{
    char reason[256];
    int paranoid = perf_paranoid(), needed = (code->exclude & COUNTER_NO_KERNEL) != 0 ? 2 : 1;
    if (paranoid > needed) {
        snprintf(reason, sizeof reason, "%s (perf_event_paranoid is %d)", strerror(error), paranoid);
        append(err, reason);
        return err_next(err, "run 'sysctl kernel.perf_event_paranoid=%d', or mmprof as root (sudo)", needed);
    }
    if (pid != 0 && opens(code, 0)) {
        snprintf(reason, sizeof reason, "%s (it works for mmprof's own process, so this one belongs to another user)",
                 strerror(error));
        append(err, reason);
        return err_next(err, "run mmprof as that user, or as root");
    }
    snprintf(reason, sizeof reason, "%s (perf_event_paranoid is %d, so it is a seccomp filter or a container's policy)",
             strerror(error), paranoid);
    append(err, reason);
    return err_next(err, "let the container call perf_event_open (docker: --cap-add PERFMON, or a seccomp profile "
                         "that allows it)");
}

static int why_files(struct err *err)
{
    struct rlimit limit = { 0, 0 };
    char reason[128];
    getrlimit(RLIMIT_NOFILE, &limit);
    snprintf(reason, sizeof reason, "%s (the limit is %llu)", strerror(EMFILE), (unsigned long long)limit.rlim_cur);
    append(err, reason);
    return err_next(err, "raise the limit with 'ulimit -n' (as root: 'ulimit -Hn' too)");
}

int perf_why(int error, const struct counter_code *code, pid_t pid, struct err *err)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return why_absent(code, err);
    case EACCES:
    case EPERM:
        return why_forbidden(error, code, pid, err);
    case EMFILE:
        return why_files(err);
    case ENOSPC:
    case EBUSY:
        append(err, "all counters that could count it are taken");
        return err_next(err, "stop other profilers (perf, the NMI watchdog: 'sysctl kernel.nmi_watchdog=0'), "
                             "or name fewer events");
    case EINVAL:
        append(err, "Invalid argument (this PMU cannot count it with these modifiers)");
        return err_next(err, "leave its modifiers out, or run 'mmprof list' for the events that count here");
    case ENOSYS:
        append(err, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
        return err_next(err, "use a kernel that has them");
    case ESRCH:
        append(err, "it has ended");
        return err_next(err, "find its process ID with 'ps'");
    default:
        append(err, strerror(error));
        return err_next(err, "see 'dmesg' for the reason");
    }
}
