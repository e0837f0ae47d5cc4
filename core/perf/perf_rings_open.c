/* Opening the events: one of each kind per thread and CPU, all of a CPU's writing into one ring. */
#include "core/perf/perf_rings_internal.h"

#include "core/base/xalloc.h"
#include "core/pmu/perf_open.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

/*
 * 256 KB hold 6,500 switches.  The kernel lets a user pin 516 KB per CPU (perf_event_mlock_kb); the pages of the
 * agent's counters count against the same sum.
 */
#define RING_BYTES (256 * 1024)

/*
 * Samples with stacks need more; the reader is woken at 128 KB, too.  The limit of what a user may pin is for the rings
 * of all CPUs together; root has none.
 */
#define STACK_RING_BYTES      (512 * 1024)
#define STACK_RING_BYTES_ROOT (4 * 1024 * 1024)
#define SCANS_MAX             16
#define CPU_MAX               4096

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void add_cpus(struct perf_rings *rings, unsigned long first, unsigned long last)
{
    for (unsigned long cpu = first; cpu <= last && rings->n_rings < CPU_MAX; cpu++) {
        rings->rings = xreallocarray(rings->rings, rings->n_rings + 1, sizeof *rings->rings);
        rings->rings[rings->n_rings++] = (struct perf_ring){ .cpu = (uint32_t)cpu, .fd = -1 };
    }
}

/* Where /sys is not mounted, as in a chroot: a line "cpu3 ..." for each CPU that is online. */
static void list_cpus_of_stat(struct perf_rings *rings)
{
    char line[4096];
    unsigned long cpu;
    FILE *in = fopen("/proc/stat", "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (line[3] != ' ' && sscanf(line, "cpu%lu ", &cpu) == 1)
            add_cpus(rings, cpu, cpu);
    if (in != NULL)
        fclose(in);
}

/* "0-3,8": one ring for each.  Returns 0, or -1. */
static int list_cpus(struct perf_rings *rings)
{
    char line[1024] = "", *at = line;
    FILE *in = fopen("/sys/devices/system/cpu/online", "re");
    if (in != NULL) {
        if (fgets(line, sizeof line, in) == NULL)
            line[0] = '\0';
        fclose(in);
    }
    while (*at >= '0' && *at <= '9') {
        unsigned long first = strtoul(at, &at, 10), last = first;
        if (*at == '-')
            last = strtoul(at + 1, &at, 10);
        add_cpus(rings, first, last);
        at += *at == ',';
    }
    if (rings->n_rings == 0)
        list_cpus_of_stat(rings);
    return rings->n_rings > 0 ? 0 : -1;
}

static int open_one(struct perf_rings *rings, int32_t tid, uint32_t cpu)
{
    struct perf_event_attr attr;
    perf_attr_switches(rings, &attr);
    int fd = counters_perf_open(&attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL && attr.inherit_thread) {
        /* Linux before 5.13: child processes inherit the event too; their records are filtered out. */
        rings->inherit_children = true;
        perf_attr_switches(rings, &attr);
        fd = counters_perf_open(&attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}

static int open_ip_samples(struct perf_rings *rings, int32_t tid, uint32_t cpu, uint64_t *period)
{
    bool is_clock = rings->options.trigger.n == 0 || rings->options.trigger.is_clock;
    for (;;) {
        struct perf_event_attr attr;
        perf_attr_ip_samples(rings, &attr);
        int fd = counters_perf_open(&attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
        *period = attr.sample_period;
        if (fd < 0 && errno == EINVAL && rings->options.trigger.n > 1 && !rings->ip_samples_not_inherited)
            rings->ip_samples_not_inherited = true; /* Linux before 6.12 */
        else if (fd < 0 && errno == EINVAL && !rings->inherit_children)
            rings->inherit_children = true; /* as in open_one */
        else if (fd < 0 && (errno == EACCES || errno == EPERM) && is_clock && !rings->user_ip_samples_only)
            rings->user_ip_samples_only = true;
        else
            return fd;
    }
}

static const struct counter_code switches = { .type = PERF_TYPE_SOFTWARE,
                                              .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR,
                                              .config = PERF_COUNT_SW_DUMMY };

/* Why there are no IP samples, or no values with them. */
static void refuse_ip_samples(struct perf_rings *rings, int error, int32_t tid, const struct counter_code *code)
{
    if (error == ESRCH || error == ENODEV)
        return;
    err_set(&rings->no_ip_samples, "cannot sample where thread %d is", tid);
    perf_why(error, code, tid, &rings->no_ip_samples);
}

static void open_members(struct perf_rings *rings, const struct perf_ring *ring, int leader, uint32_t owner)
{
    int32_t tid = rings->threads[owner].tid;
    for (uint32_t i = 1; i < rings->options.trigger.n; i++) {
        struct perf_event_attr attr;
        perf_attr_member(rings, i, &attr);
        int fd = counters_perf_open(&attr, tid, (int)ring->cpu, leader, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0) {
            refuse_ip_samples(rings, errno, tid, &rings->options.trigger.codes[i]);
            return;
        }
        perf_rings_keep_file(rings, fd, owner);
    }
}

/*
 * Without IP samples the recording goes on: no more threads are tried then.  Returns 1, 0 when there are none, or -1
 * with *err set.
 */
static int open_ip_samples_on_cpu(struct perf_rings *rings, struct perf_ring *ring, uint32_t owner, struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    bool is_wanted = rings->options.ip_samples_hz > 0 || rings->options.trigger.n > 0;
    if (!is_wanted || rings->no_ip_samples.text[0] != '\0')
        return 0;
    uint64_t period;
    int fd = open_ip_samples(rings, tid, ring->cpu, &period);
    if (fd < 0) {
        refuse_ip_samples(rings, errno, tid, perf_attr_trigger(rings));
        return 0;
    }
    if (perf_rings_take(rings, ring, fd, owner, err) < 0)
        return -1;
    rings->files[rings->n_files - 1].period = period;
    open_members(rings, ring, fd, owner);
    return 1;
}

/* Without one of them the recording goes on without any.  Returns 0, or -1 with *err set. */
static int open_ip_events_on_cpu(struct perf_rings *rings, struct perf_ring *ring, uint32_t owner, struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    for (uint32_t i = 0; i < rings->options.n_ip_events && rings->no_ip_events.text[0] == '\0'; i++) {
        struct perf_event_attr attr;
        perf_attr_ip_event(rings, i, &attr);
        int fd = counters_perf_open(&attr, tid, (int)ring->cpu, -1, PERF_FLAG_FD_CLOEXEC), error = errno;
        if (fd < 0 && error != ESRCH && error != ENODEV) {
            err_set(&rings->no_ip_events, "cannot sample the events of thread %d", tid);
            perf_why(error, &rings->options.ip_events[i], tid, &rings->no_ip_events);
        }
        if (fd >= 0 && perf_rings_take(rings, ring, fd, owner, err) < 0)
            return -1;
        if (fd >= 0)
            rings->files[rings->n_files - 1].ip_event = i + 1;
    }
    return 0;
}

/* One thread on one CPU.  Returns 0 (also when the CPU went offline), 1 when the thread has ended, or -1. */
static int open_on_cpu(struct perf_rings *rings, struct perf_ring *ring, uint32_t owner, struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    bool are_first = perf_attr_tells_all(rings);
    int rc = are_first ? open_ip_samples_on_cpu(rings, ring, owner, err) : 0;
    if (rc < 0 || (rc > 0 && perf_attr_tells_all(rings)))
        return rc < 0 ? -1 : 0;
    int fd = open_one(rings, tid, ring->cpu);
    if (fd < 0 && (errno == ESRCH || errno == ENODEV))
        return errno == ESRCH;
    if (fd < 0) {
        int error = errno;
        err_set(err, "cannot record the context switches of thread %d", tid);
        return perf_why(error, &switches, tid, err);
    }
    if (perf_rings_take(rings, ring, fd, owner, err) < 0)
        return -1;
    return (are_first || open_ip_samples_on_cpu(rings, ring, owner, err) >= 0) &&
                   open_ip_events_on_cpu(rings, ring, owner, err) == 0
               ? 0
               : -1;
}

static void read_comm(pid_t pid, int32_t tid, char name[KERNEL_NAME_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, tid);
    memset(name, 0, KERNEL_NAME_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, name, KERNEL_NAME_BYTES - 1) > 0)
        name[strcspn(name, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Returns 0 (also when it has ended meanwhile), or -1. */
static int cover_thread(struct perf_rings *rings, int32_t tid, struct err *err)
{
    uint32_t owner = (uint32_t)rings->n_threads;
    xhash_store(&rings->by_tid, (uint32_t)tid, owner);
    *xpush(rings->threads, rings->threads_capacity, rings->n_threads) =
        (struct perf_thread){ .tid = tid, .covered_ns = KERNEL_UNKNOWN };
    for (size_t i = 0; i < rings->n_rings && !rings->has_cpus; i++) {
        int rc = open_on_cpu(rings, &rings->rings[i], owner, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    struct kernel_event found = { .kind = KERNEL_THREAD_FOUND, .pid = rings->pid, .tid = tid, .by_tid = tid };
    read_comm(rings->pid, tid, found.name);
    found.time_ns = rings->threads[owner].covered_ns = kernel_now_ns();
    if (rings->options.stack_bytes > 0 || kernel_thread_cpu_ns(rings->pid, tid, &found.count) < 0)
        found.count = KERNEL_UNKNOWN; /* who samples stacks does not ask */
    rings->state.n_threads_found++;
    perf_rings_keep(rings, &found);
    return 0;
}

int perf_rings_scan(struct perf_rings *rings, struct err *err)
{
    char path[32];
    int n_new = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)rings->pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return err_set(err, "there is no process %d", (int)rings->pid),
               err_next(err, "find the JVM's process ID with 'ps' or 'jps'");
    const struct dirent *entry;
    /* cppcheck-suppress readdirCalled */
    while (n_new >= 0 && (entry = readdir(dir)) != NULL) {
        int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || hash_find(&rings->by_tid, (uint32_t)tid) != NULL)
            continue;
        n_new = cover_thread(rings, tid, err) < 0 ? -1 : n_new + 1;
    }
    closedir(dir);
    return n_new;
}

static int open_for_cpu(struct perf_rings *rings, struct perf_ring *ring, uint32_t half, int filter)
{
    struct perf_event_attr attr;
    struct err ignored;
    perf_attr_cpu_samples(rings, half, &attr);
    int fd = counters_perf_open(&attr, -1, (int)ring->cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 || perf_rings_take(rings, ring, fd, NO_OWNER, &ignored) < 0)
        return -1;
    rings->files[rings->n_files - 1].period = attr.sample_period;
    return ioctl(fd, PERF_EVENT_IOC_SET_BPF, filter) < 0 ? -1 : ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/*
 * Two events for each CPU in place of one for each thread and CPU: their periods go on from thread to thread, so that
 * threads which use less than a period have samples for their time, too.  Each has twice the period, drawn by itself:
 * how the two differ says how far both are off.  Returns false, with nothing open, where the kernel or the user's
 * rights do not allow it.
 */
static bool cover_cpus(struct perf_rings *rings)
{
    int filter = process_filter_load(rings->pid);
    rings->has_cpus = filter >= 0;
    for (size_t i = 0; rings->has_cpus && i < 2 * rings->n_rings; i++)
        rings->has_cpus = open_for_cpu(rings, &rings->rings[i / 2], i % 2, filter) == 0;
    if (filter >= 0)
        close(filter);
    if (!rings->has_cpus)
        perf_rings_close_files(rings);
    return rings->has_cpus;
}

/*
 * A thread born while its parent was being covered may have inherited events of some CPUs only.  So each thread that a
 * scan finds gets events of its own, until a scan finds none; all born later have parents that are covered whole.
 * Records that such a thread then has twice are told apart by the events' ids (is_double).
 */
static int cover_all(struct perf_rings *rings, struct err *err)
{
    int n_new = 1;
    if (rings->options.prefers_cpus && perf_attr_tells_all(rings))
        cover_cpus(rings);
    for (int i = 0; n_new > 0 && i < SCANS_MAX; i++)
        n_new = perf_rings_scan(rings, err);
    if (n_new < 0)
        return -1;
    if (rings->state.n_threads_found > 0)
        return 0;
    err_set(err, "process %d ended before its threads could be recorded", (int)rings->pid);
    return err_next(err, "find the JVM's process ID with 'ps' or 'jps'");
}

int perf_rings_open(struct perf_rings **out, pid_t pid, const struct perf_rings_options *options, struct err *err)
{
    struct perf_rings *rings = xcalloc(1, sizeof *rings);
    *out = NULL;
    rings->pid = pid;
    rings->options = *options;
    rings->inherit_children = options->with_children;
    rings->ring_bytes = RING_BYTES;
    if (options->stack_bytes > 0)
        rings->ring_bytes = geteuid() == 0 ? STACK_RING_BYTES_ROOT : STACK_RING_BYTES;
    rings->format = (options->stack_bytes > 0 ? (unsigned)KERNEL_WITH_STACK : 0) |
                    (options->trigger.n > 1 ? (unsigned)KERNEL_WITH_VALUES : 0) |
                    ((options->stack_bytes > 0 ? perf_attr_has_period(rings) : options->n_ip_events > 0)
                         ? (unsigned)KERNEL_WITH_PERIOD
                         : 0);
    rings->half_full = epoll_create1(EPOLL_CLOEXEC);
    srand48_r((long)kernel_now_ns(), &rings->random);
    raise_file_limit();
    int rc = list_cpus(rings) == 0 ? 0 : err_set(err, "cannot find out which CPUs are online");
    if (rc == 0)
        rc = cover_all(rings, err);
    if (rc < 0) {
        perf_rings_close(rings);
        return -1;
    }
    *out = rings;
    return 0;
}
