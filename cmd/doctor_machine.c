#include "cmd/doctor.h"

#include "core/jvm/cgroup.h"
#include "core/recorder/recorder.h"

#define KB_PER_THREAD   (9 * 1024) /* a ring of 8 MB and its stack, when it was full once */
#define THREADS_GUESSED 32

enum doctor_level doctor_agent(struct doctor *doctor, struct err *said)
{
    doctor->agent[0] = '\0';
    if (recorder_find_agent(doctor->agent, sizeof doctor->agent, said) < 0) {
        doctor->agent[0] = '\0';
        return DOCTOR_FAIL;
    }
    err_set(said, "%s", doctor->agent);
    return DOCTOR_OK;
}

/* ---- clock ---- */

/* Is a word in a text of words separated by blanks? */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || strchr(" \t\n:", at[-1]) != NULL) && strchr(" \t\n", at[n]) != NULL)
            return true;
    return false;
}

static enum doctor_level unsteady(struct err *said, const char *what)
{
    err_set(said, "%s", what);
    err_next(said, "run the JVM on one CPU's cores ('taskset'), and compare with other clocks before you trust times");
    return DOCTOR_LIMIT;
}

/* Clocks that the kernel derives from the TSC, which it does only with a TSC that it trusts. */
static bool is_tsc_clock(const char *name)
{
    return strcmp(name, "tsc") == 0 || strcmp(name, "kvm-clock") == 0 ||
           strcmp(name, "hyperv_clocksource_tsc_page") == 0 || strcmp(name, "xen") == 0;
}

enum doctor_level doctor_clock(struct doctor *doctor, struct err *said)
{
    char info[16384];
    char source[64];
    if (!doctor->is_x86) {
        err_set(said, "the virtual counter (cntvct), the same on all CPUs");
        return DOCTOR_OK;
    }
    doctor_read(doctor, "/proc/cpuinfo", info, sizeof info);
    if (!has_word(info, "constant_tsc") || !has_word(info, "nonstop_tsc"))
        return unsteady(said, "the CPU's time stamp counter changes its rate or stops (no constant_tsc, nonstop_tsc)");
    if (!doctor_read(doctor, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                     sizeof source)) {
        err_set(said, "the time stamp counter is constant; the kernel's clock source is unknown");
        return DOCTOR_OK;
    }
    source[strcspn(source, "\n")] = '\0';
    if (!is_tsc_clock(source)) {
        char what[256];
        snprintf(what, sizeof what, "the kernel's clock is '%s': it does not trust the time stamp counter", source);
        return unsteady(said, what);
    }
    err_set(said, "the time stamp counter is constant, and the kernel trusts it (clock source '%s')", source);
    return DOCTOR_OK;
}

/* ---- memory ---- */

/* Buffers take an eighth of it at most, and are smaller where that is too little. */
enum doctor_level doctor_memory(struct doctor *doctor, struct err *said)
{
    uint64_t threads = doctor->is_jvm ? doctor->n_threads : THREADS_GUESSED;
    uint64_t wanted_kb = threads * KB_PER_THREAD;
    struct memory_room room = memory_room_read(doctor->root, doctor->is_jvm ? doctor->pid : 0);
    uint64_t there_kb = room.bytes / 1024;
    bool is_group = room.limit_bytes != MEMORY_ROOM_ANY;
    if (room.bytes == MEMORY_ROOM_ANY)
        return DOCTOR_SILENT;
    err_set(said, "%" PRIu64 " MB are free%s; buffers of %" PRIu64 " threads take up to %" PRIu64 " MB",
            there_kb / 1024, is_group ? " below the memory limit of the control group" : "", threads, wanted_kb / 1024);
    if (there_kb >= wanted_kb)
        return DOCTOR_OK;
    err_next(said, "record fewer methods (--include or --live): with smaller buffers, calls may be lost");
    return DOCTOR_LIMIT;
}

/* ---- container ---- */

#define FIRST_PID_NAMESPACE "pid:[4026531836]" /* PROC_PID_INIT_INO: the same number on every kernel */

enum doctor_level doctor_container(struct doctor *doctor, struct err *said)
{
    char path[1024], name[64], status[8192];
    snprintf(path, sizeof path, "%s/proc/self/ns/pid", doctor->root);
    ssize_t n = readlink(path, name, sizeof name - 1);
    if (n <= 0)
        return DOCTOR_SILENT;
    name[n] = '\0';
    doctor_read(doctor, "/proc/self/status", status, sizeof status);
    const char *seccomp = strstr(status, "\nSeccomp:");
    bool filters = seccomp != NULL && strtol(seccomp + strlen("\nSeccomp:"), NULL, 10) == 2;
    const char *filter = filters ? "; a seccomp filter may refuse perf_event_open" : "";
    if (strcmp(name, FIRST_PID_NAMESPACE) == 0) {
        err_set(said, "none: all processes of the machine are visible%s", filter);
        return DOCTOR_OK;
    }
    err_set(said, "mmprof runs in a container: JVMs outside it are not visible%s", filter);
    err_next(said, "to record those, run mmprof on the host, or in their container");
    return DOCTOR_LIMIT;
}
