#include "cmd/doctor.h"

#include "core/jvm/compilers.h"
#include "core/jvm/cgroup.h"
#include "core/jvm/maps.h"
#include "core/jvm/obstacle.h"
#include "core/recorder/recorder.h"

#include <sys/stat.h>

#define WARNS 21 /* of agents that are loaded late, on standard error */

enum doctor_level doctor_jvm(struct doctor *doctor, struct err *said)
{
    if (doctor->pid == 0)
        return DOCTOR_SILENT;
    if (jvm_process_inspect(doctor->pid, &doctor->process, said) < 0)
        return DOCTOR_FAIL;
    doctor->is_jvm = true;
    int n = jvm_process_threads(doctor->pid, NULL, 0);
    doctor->n_threads = n > 0 ? (uint32_t)n : 0;
    jvm_flags_read(doctor->pid, &doctor->flags);
    char owner[JVM_USER_NAME_BYTES];
    jvm_user_name(doctor->process.user.uid, owner);
    err_set(said, "process %d of user '%s', %u threads: %.60s", (int)doctor->pid, owner, doctor->n_threads,
            doctor->process.command);
    return DOCTOR_OK;
}

enum doctor_level doctor_java(struct doctor *doctor, struct err *said)
{
    struct jvm_release release;
    if (!doctor->is_jvm)
        return DOCTOR_SILENT;
    if (jvm_release_read(doctor->pid, &release) < 0) {
        err_set(said, "the version is unknown: there is no file 'release' beside its libjvm.so");
        err_next(said, "check with 'jcmd %d VM.version' that it is HotSpot %d or later", (int)doctor->pid,
                 JVM_RELEASE_MIN);
        return DOCTOR_LIMIT;
    }
    doctor->java = release.major;
    err_set(said, "%s %s%s%s%s", release.is_openj9 ? "OpenJ9" : "HotSpot", release.version,
            release.implementor[0] == '\0' ? "" : ", ", release.implementor,
            release.is_replaced ? "; its libjvm.so was deleted or replaced since (JDK updated?)" : "");
    if (!release.is_openj9 && release.major >= JVM_RELEASE_MIN)
        return DOCTOR_OK;
    err_next(said, "run the program on HotSpot %d or later", JVM_RELEASE_MIN);
    return DOCTOR_FAIL;
}

static bool has_agent(const struct doctor *doctor)
{
    struct jvm_mapped mapped;
    return jvm_mapped_find(doctor->pid, "/libmmprof-agent.so", &mapped) > 0;
}

/*
 * Nothing is sent: the first attach makes the socket, and a signal to a JVM without a handler would end it.  With -Xrs
 * there is no handler, but the socket is there from the start (JDK 17 and 25).
 */
enum doctor_level doctor_attach(struct doctor *doctor, struct err *said)
{
    const struct jvm_process *process = &doctor->process;
    if (!doctor->is_jvm)
        return DOCTOR_SILENT;
    bool has_socket = jvm_listens(process);
    if (doctor->flags.attach_disabled || doctor->flags.late_agents_disabled) {
        err_set(said, "the JVM was started with %s",
                doctor->flags.attach_disabled ? "-XX:+DisableAttachMechanism" : "-XX:-EnableDynamicAgentLoading");
        err_next(said, "start it without that option, or under mmprof: mmprof record -- java ...");
        return DOCTOR_FAIL;
    }
    if (!has_socket && !process->catches_quit) {
        err_set(said, "the JVM does not handle SIGQUIT%s",
                doctor->flags.no_signals ? " (-Xrs), and its socket was removed from /tmp" : "");
        err_next(said, doctor->flags.no_signals ? "start it again, or under mmprof: mmprof record -- java ..."
                                                : "if it is just starting, try again in a second");
        return DOCTOR_FAIL;
    }
    err_set(
        said, "the JVM %s%s", has_socket ? "has an open attach socket" : "handles SIGQUIT, so it can be attached to",
        doctor->java >= WARNS && !doctor->flags.late_agents_enabled && !has_agent(doctor)
            ? "; when the agent is loaded, it prints a warning (three lines on its standard error, once), unless it "
              "is started with -XX:+EnableDynamicAgentLoading"
            : "");
    return DOCTOR_OK;
}

enum doctor_level doctor_flags(struct doctor *doctor, struct err *said)
{
    const struct jvm_flags *flags = &doctor->flags;
    if (!doctor->is_jvm)
        return DOCTOR_SILENT;
    if (flags->interprets) {
        err_set(said, "-Xint: nothing is compiled, so phases are not those of production");
        err_next(said, "start the JVM without -Xint");
    } else if (flags->tiered_stop < 4) {
        err_set(said, "-XX:TieredStopAtLevel=%d: nothing is compiled with full optimisation", flags->tiered_stop);
        err_next(said, "start the JVM without that option");
    } else if (flags->debugger) {
        err_set(said, "a debugger's agent (jdwp) is loaded: breakpoints and suspended threads change times");
        err_next(said, "measure without a debugger attached");
    } else if (flags->agent[0] != '\0') {
        err_set(said, "another agent is loaded (%s): its code is measured, too", flags->agent);
        err_next(said, "measure without it if you can");
    } else {
        err_set(said, "none that distorts measurements");
        return DOCTOR_OK;
    }
    return DOCTOR_LIMIT;
}

/* A JVM that writes its classes into an archive would crash then if they had been changed
 * (core/agent/instrument/class_check.h).
 */
enum doctor_level doctor_archive(struct doctor *doctor, struct err *said)
{
    const struct jvm_flags *flags = &doctor->flags;
    if (!doctor->is_jvm || (flags->archive[0] == '\0' && !flags->may_archive))
        return DOCTOR_SILENT;
    if (flags->archive[0] == '\0')
        err_set(said, "the JVM may write a class archive when it ends (-XX:+AutoCreateSharedArchive): then none of its "
                      "classes gets probes");
    else
        err_set(said, "the JVM writes a class archive (%.200s): none of its classes gets probes", flags->archive);
    err_next(said, "start it without that option, or record samples only: mmprof record --live -p %d",
             (int)doctor->pid);
    return DOCTOR_LIMIT;
}

/* May any user read this file?  A folder must let others pass. */
static bool open_to_all(const char *path)
{
    char part[4096];
    struct stat status;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (stat(part, &status) != 0 || (status.st_mode & S_IXOTH) == 0)
            return false;
    }
    return stat(path, &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

/* The JVM loads the library by its path: it has to see it, or gets a copy, and to be allowed to read it. */
enum doctor_level doctor_library(struct doctor *doctor, struct err *said)
{
    if (!doctor->is_jvm || doctor->agent[0] == '\0')
        return DOCTOR_SILENT;
    if (jvm_is_on_musl(doctor->pid)) {
        err_set(said, "the JVM runs on musl libc, and the agent needs glibc");
        err_next(said, "run the program in an image with glibc (Debian, Ubuntu, RHEL), not in one of Alpine");
        return DOCTOR_FAIL;
    }
    if (!doctor->process.same_mounts) {
        err_set(said, "the JVM has files of its own (a container or a chroot): the library is copied there while "
                      "mmprof attaches");
        return DOCTOR_OK;
    }
    if (doctor->process.user.uid != 0 && doctor->process.user.uid != getuid() && !open_to_all(doctor->agent)) {
        err_set(said, "the JVM's user may not read '%s'", doctor->agent);
        err_next(said, "install mmprof where all users may read it: make install");
        return DOCTOR_FAIL;
    }
    err_set(said, "the JVM sees the agent's library");
    return DOCTOR_OK;
}

/* A JVM that a quota stops waits for a CPU though there is one. */
enum doctor_level doctor_quota(struct doctor *doctor, struct err *said)
{
    const struct cpu_quota none = { .n = CPU_QUOTA_LEVELS };
    struct cpu_quota quota;
    struct cpu_quota_level most;
    if (!doctor->is_jvm || !cpu_quota_find("", doctor->pid, &quota) || !cpu_quota_since(&none, &quota, &most))
        return DOCTOR_SILENT;
    err_set(said, "the container's quota is %.2f CPUs, and stopped it %llu times for %.1f s so far", most.cpus,
            (unsigned long long)most.n_stopped, (double)most.stopped_ns / 1e9);
    if (most.n_stopped == 0)
        return DOCTOR_OK;
    err_next(said, "give the container more CPUs; a recording says how long the quota stops the program");
    return DOCTOR_LIMIT;
}

/* What the first change of a class costs. */
enum doctor_level doctor_code(struct doctor *doctor, struct err *said)
{
    struct jvm_compilers compilers = { .pid = doctor->pid };
    char option[4200];
    if (!doctor->is_jvm || doctor->flags.archive[0] != '\0')
        return DOCTOR_SILENT;
    if (!jvm_forgets_code(doctor->pid)) {
        err_set(said, "when a class is instrumented, the JVM recompiles only code that depends on it");
        return DOCTOR_OK;
    }
    uint64_t cpu_ns = jvm_compilers_cpu_ns(&compilers, 0);
    if (cpu_ns == JVM_CPU_UNKNOWN)
        err_set(said, "when the first class is instrumented, the JVM discards all its compiled code");
    else
        err_set(said,
                "when the first class is instrumented, the JVM discards all its compiled code, %.1f s of JIT "
                "compilation so far: the program is slower until it is compiled again",
                (double)cpu_ns / 1e9);
    recorder_prepare_option(option, sizeof option);
    err_next(said,
             "start the JVM with %s, or run it on JDK %d or later; otherwise 'profile' and 'record' only take samples, "
             "unless that cost is within their budget (--recompile)",
             option, JVM_KEEPS_CODE);
    return DOCTOR_LIMIT;
}
