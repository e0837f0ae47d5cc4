/* Can stacks be sampled from outside?  mmprof reads the JVM's memory for that, as a debugger does. */
#include "cmd/doctor.h"

#include "core/hotspot/known_methods.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#include "core/perf/perf_rings.h"

#define NEXT      "\n  next: "
#define OTHERWISE "stacks are sampled in the JVM, at safepoints"

static enum doctor_level limit(struct err *said, const char *next)
{
    err_next(said, "%s", next);
    return DOCTOR_LIMIT;
}

/* Has a user events, and those of whole CPUs?  They are tried on this process. */
static enum doctor_level say_sampled(struct err *said, const char *known)
{
    const struct perf_rings_options options = {
        .ip_samples_hz = 1, .no_switches = true, .prefers_cpus = true, .stack_bytes = 8
    };
    struct perf_rings_state state = { .has_cpus = false };
    struct perf_rings *rings = NULL;
    struct err ignored;
    bool is_open = perf_rings_open(&rings, getpid(), &options, &ignored) == 0;
    if (is_open)
        perf_rings_state(rings, &state);
    perf_rings_close(rings);
    err_set(said, "can be sampled from outside the JVM%s; %s", known,
            state.has_cpus ? "CPUs are sampled, so short threads have samples, too"
            : is_open      ? "threads are sampled: a thread that uses less CPU time than one period gets no sample "
                             "(root samples CPUs)"
                           : "perf events cannot be opened here, so only by polling");
    return is_open ? DOCTOR_OK : limit(said, "use 'mmprof sample --mechanism polling'");
}

/* Yama's 0 leaves it to the users, 1 and 2 to those who may trace (CAP_SYS_PTRACE), 3 allows nobody. */
static enum doctor_level say_machine(const struct doctor *doctor, struct err *said)
{
    int64_t scope;
    if (!doctor_read_number(doctor, "/proc/sys/kernel/yama/ptrace_scope", &scope) || scope <= 0 ||
        (doctor->may_trace && scope < 3))
        return say_sampled(said, "");
    err_set(said, "kernel.yama.ptrace_scope is %d: this user may not read another process' memory; " OTHERWISE,
            (int)scope);
    return limit(said, scope < 3 ? "run mmprof as root, or 'sysctl kernel.yama.ptrace_scope=0'"
                                 : "boot with another value: this one cannot be changed while the machine runs");
}

enum doctor_level doctor_stacks(struct doctor *doctor, struct err *said)
{
    if (!doctor->is_jvm)
        return say_machine(doctor, said);
    struct err why = { "" };
    struct vm *vm = vm_open(doctor->pid, &why);
    bool is_open = vm != NULL;
    struct stack_walker *walker = is_open ? stack_walker_open(vm, frame_rules_here(), &why) : NULL;
    if (walker != NULL && vm_check_stacks(walker, &why) < 0) {
        stack_walker_close(walker);
        walker = NULL;
    }
    const char *unnamed = walker == NULL ? NULL : vm_methods_why_not(vm);
    stack_walker_close(walker);
    vm_close(vm);
    if (walker != NULL && unnamed == NULL)
        return say_sampled(said, ", whose layout is known");
    /* The finding is one line, and the next step that of what failed. */
    char *next = strstr(why.text, NEXT);
    if (next != NULL)
        *next = '\0';
    err_set(said, "%s; " OTHERWISE, unnamed != NULL ? unnamed : why.text);
    return limit(said, is_open || next == NULL ? "tell the authors which JVM this is ('java -version')"
                                               : next + strlen(NEXT));
}
