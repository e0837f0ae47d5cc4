/*
 * Opening the events: one of each kind per thread and CPU, all of a CPU's writing into one ring.
 */
#include "core/perf/perf_rings_internal.h"

#include "core/pmu/perf_open.h"
#include "core/pmu/perf_why.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/*
 * 256 KB hold 6,500 switches.  The kernel lets a user pin 516 KB per CPU (perf_event_mlock_kb); the pages of the
 * agent's counters count against the same sum.
 */
#define RING_BYTES     (256 * 1024)
#define RING_BYTES_MIN (16 * 1024)

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

/* "0-3,8": one ring for each.  Returns 0, or -1. */
static int list_cpus(struct perf_rings *rings)
{
    char line[1024] = "0", *at = line;
    FILE *in = fopen("/sys/devices/system/cpu/online", "re");
    if (in != NULL) {
        if (fgets(line, sizeof line, in) == NULL)
            line[0] = '\0';
        fclose(in);
    }
    rings->rings = calloc(CPU_MAX, sizeof *rings->rings);
    while (rings->rings != NULL && *at >= '0' && *at <= '9') {
        unsigned long first = strtoul(at, &at, 10), last = first;
        if (*at == '-')
            last = strtoul(at + 1, &at, 10);
        for (unsigned long cpu = first; cpu <= last && rings->n_rings < CPU_MAX; cpu++)
            rings->rings[rings->n_rings++] = (struct perf_ring){ .cpu = (uint32_t)cpu, .fd = -1 };
        at += *at == ',';
    }
    return rings->n_rings > 0 ? 0 : -1;
}

/* What both kinds of events have. */
static void fill_common(const struct perf_rings *rings, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = PERF_TYPE_SOFTWARE;
    attr->sample_id_all = 1;
    attr->inherit = 1;
    attr->inherit_thread = !rings->inherit_children;
    attr->exclude_hv = 1;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC_RAW;
    attr->watermark = 1;
    /* A ring of stacks may turn out to be half as large: the kernel lets a user pin less. */
    attr->wakeup_watermark = (uint32_t)(rings->ring_bytes / (rings->options.stack_bytes > 0 ? 4 : 2));
}

static void fill_attr(const struct perf_rings *rings, struct perf_event_attr *attr)
{
    fill_common(rings, attr);
    attr->config = PERF_COUNT_SW_DUMMY;
    if (rings->options.fault_period > 0) {
        attr->config = PERF_COUNT_SW_PAGE_FAULTS;
        attr->sample_period = rings->options.fault_period;
    }
    attr->sample_type = KERNEL_SAMPLE_TYPE;
    attr->context_switch = !rings->options.no_switches;
    attr->task = 1;
    attr->comm = 1;
    attr->exclude_kernel = 1;
}

static const struct counter_code cpu_clock = { .type = PERF_TYPE_SOFTWARE,
                                               .exclude = COUNTER_NO_HYPERVISOR,
                                               .config = PERF_COUNT_SW_CPU_CLOCK };

static const struct counter_code *trigger_code(const struct perf_rings *rings)
{
    return rings->options.trigger.n == 0 ? &cpu_clock : &rings->options.trigger.codes[0];
}

static void fill_code(const struct perf_rings *rings, const struct counter_code *code, struct perf_event_attr *attr)
{
    attr->type = code->type;
    attr->config = code->config;
    attr->config1 = code->config1;
    attr->config2 = code->config2;
    attr->exclude_user = (code->exclude & COUNTER_NO_USER) != 0;
    attr->exclude_kernel = (code->exclude & COUNTER_NO_KERNEL) != 0 || rings->user_ip_samples_only;
    attr->exclude_hv = (code->exclude & COUNTER_NO_HYPERVISOR) != 0;
}

/* An event that the kernel counts in software would take a sample each time, if it were to tell the period. */
static bool has_period(const struct perf_rings *rings)
{
    const struct kernel_trigger *trigger = &rings->options.trigger;
    return trigger->n == 0 || trigger->is_clock || trigger->period == 0 || trigger->codes[0].type != PERF_TYPE_SOFTWARE;
}

static void drop_inheritance(const struct perf_rings *rings, struct perf_event_attr *attr)
{
    if (!rings->ip_samples_not_inherited)
        return;
    attr->inherit = 0;
    attr->inherit_thread = 0;
}

/* Up to an eighth more or less, for each event another one. */
static uint64_t draw(struct perf_rings *rings, uint64_t period)
{
    double random;
    drand48_r(&rings->random, &random);
    return (uint64_t)((double)period * (0.875 + random / 4));
}

/*
 * Where nothing else is told of than IP samples and threads, IP samples' events tell of threads, too: each event more
 * makes each switch of a thread dearer.
 */
static bool ip_samples_tell_all(const struct perf_rings *rings)
{
    const struct perf_rings_options *options = &rings->options;
    return options->stack_bytes > 0 && options->no_switches && options->fault_period == 0 &&
           !rings->ip_samples_not_inherited;
}

/* A clock's period is in ns of the time that the thread has this CPU. */
static void fill_ip_samples_attr(struct perf_rings *rings, struct perf_event_attr *attr)
{
    const struct kernel_trigger *trigger = &rings->options.trigger;
    fill_common(rings, attr);
    fill_code(rings, trigger_code(rings), attr);
    drop_inheritance(rings, attr);
    attr->task = attr->comm = ip_samples_tell_all(rings);
    attr->precise_ip = trigger->precise & 3u;
    attr->freq = trigger->n > 0 && trigger->period == 0 && !trigger->is_clock;
    attr->sample_period = attr->freq             ? rings->options.ip_samples_hz
                          : trigger->period != 0 ? trigger->period
                                                 : 1000000000 / rings->options.ip_samples_hz;
    if (rings->options.stack_bytes > 0 && attr->sample_period > 8)
        attr->sample_period = draw(rings, attr->sample_period);
    attr->sample_type = KERNEL_IP_SAMPLE_TYPE;
    attr->sample_regs_user = KERNEL_IP_SAMPLE_REGISTERS;
    if (rings->options.stack_bytes > 0) {
        attr->sample_type = KERNEL_STACK_TYPE | (has_period(rings) ? (unsigned)PERF_SAMPLE_PERIOD : 0);
        attr->sample_regs_user = KERNEL_STACK_REGISTERS;
        attr->sample_stack_user = rings->options.stack_bytes;
    }
    if (trigger->n > 1) {
        attr->sample_type |= PERF_SAMPLE_READ;
        attr->read_format = KERNEL_READ_FORMAT;
    }
}

/* One that is read with each IP sample. */
static void fill_member_attr(const struct perf_rings *rings, uint32_t i, struct perf_event_attr *attr)
{
    fill_common(rings, attr);
    fill_code(rings, &rings->options.trigger.codes[i], attr);
    drop_inheritance(rings, attr);
    attr->watermark = 0;
    attr->wakeup_watermark = 0;
    attr->read_format = KERNEL_READ_FORMAT;
}

static int open_one(struct perf_rings *rings, int32_t tid, uint32_t cpu)
{
    struct perf_event_attr attr;
    fill_attr(rings, &attr);
    int fd = counters_perf_open(&attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL && attr.inherit_thread) {
        /* Linux before 5.13: child processes inherit the event too; their records are filtered out. */
        rings->inherit_children = true;
        fill_attr(rings, &attr);
        fd = counters_perf_open(&attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}

static int open_ip_samples(struct perf_rings *rings, int32_t tid, uint32_t cpu, uint64_t *period)
{
    bool is_clock = rings->options.trigger.n == 0 || rings->options.trigger.is_clock;
    for (;;) {
        struct perf_event_attr attr;
        fill_ip_samples_attr(rings, &attr);
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

/* The CPU's first event gets a ring, as large as the kernel grants; the others write into it.  Returns 0, or -1. */
static int attach_to_ring(struct perf_rings *rings, struct perf_ring *ring, int fd)
{
    if (ring->page != NULL)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd);
    for (;;) {
        size_t size = (size_t)sysconf(_SC_PAGESIZE) + rings->ring_bytes;
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED) {
            struct epoll_event half_full = { .events = EPOLLIN | EPOLLET };
            ring->page = mapped;
            ring->fd = fd;
            if (rings->half_full >= 0) /* without it, rounds come by time only */
                epoll_ctl(rings->half_full, EPOLL_CTL_ADD, fd, &half_full);
            return 0;
        }
        bool others = false;
        for (size_t i = 0; i < rings->n_rings; i++)
            others |= rings->rings[i].page != NULL;
        if (errno != EPERM || others || rings->ring_bytes <= RING_BYTES_MIN)
            return -1;
        rings->ring_bytes /= 2;
    }
}

static const struct counter_code switches = { .type = PERF_TYPE_SOFTWARE,
                                              .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR,
                                              .config = PERF_COUNT_SW_DUMMY };

static int refuse_map(int error, int32_t tid, struct err *err)
{
    err_set(err, "cannot map the ring of context switches for thread %d: %s", tid, strerror(error));
    if (error == EPERM)
        return err_next(err, "too much memory is pinned by perf rings: run 'sysctl kernel.perf_event_mlock_kb=2048', "
                             "or raise 'ulimit -l'");
    return err_next(err, "see 'dmesg' for the reason");
}

/* The file is ours to close.  Returns 0, or -1 with *err set. */
static int keep_file(struct perf_rings *rings, int fd, uint32_t owner, struct err *err)
{
    struct event_file *files = perf_rings_grow(rings->files, rings->n_files, &rings->files_capacity, sizeof *files);
    if (files == NULL) {
        close(fd);
        return err_set(err, "out of memory for the events of thread %d", rings->threads[owner].tid);
    }
    rings->files = files;
    rings->files[rings->n_files++] = (struct event_file){ fd, owner, 0 };
    return 0;
}

/* Its records go to the ring, and are known by its id.  Returns 0, or -1 with *err set. */
static int take_event(struct perf_rings *rings, struct perf_ring *ring, int fd, uint32_t owner, struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    uint64_t id = 0;
    if (keep_file(rings, fd, owner, err) < 0)
        return -1;
    if (attach_to_ring(rings, ring, fd) < 0)
        return refuse_map(errno, tid, err);
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
        return err_set(err, "cannot identify the event of thread %d: %s", tid, strerror(errno));
    if (hash_store(&rings->by_id, id, (uint32_t)rings->n_files - 1) < 0)
        return err_set(err, "out of memory for the events of thread %d", tid);
    return 0;
}

/* Why there are no IP samples, or no values with them. */
static int refuse_ip_samples(struct perf_rings *rings, int error, int32_t tid, const struct counter_code *code)
{
    if (error == ESRCH || error == ENODEV)
        return 0;
    err_set(&rings->no_ip_samples, "cannot sample where thread %d is", tid);
    perf_why(error, code, tid, &rings->no_ip_samples);
    return 0;
}

static int open_members(struct perf_rings *rings, const struct perf_ring *ring, int leader, uint32_t owner,
                        struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    for (uint32_t i = 1; i < rings->options.trigger.n; i++) {
        struct perf_event_attr attr;
        fill_member_attr(rings, i, &attr);
        int fd = counters_perf_open(&attr, tid, (int)ring->cpu, leader, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
            return refuse_ip_samples(rings, errno, tid, &rings->options.trigger.codes[i]);
        if (keep_file(rings, fd, owner, err) < 0)
            return -1;
    }
    return 0;
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
    if (fd < 0)
        return refuse_ip_samples(rings, errno, tid, trigger_code(rings));
    if (take_event(rings, ring, fd, owner, err) < 0)
        return -1;
    rings->files[rings->n_files - 1].period = period;
    return open_members(rings, ring, fd, owner, err) < 0 ? -1 : 1;
}

/* One thread on one CPU.  Returns 0 (also when the CPU went offline), 1 when the thread has ended, or -1. */
static int open_on_cpu(struct perf_rings *rings, struct perf_ring *ring, uint32_t owner, struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    bool are_first = ip_samples_tell_all(rings);
    int rc = are_first ? open_ip_samples_on_cpu(rings, ring, owner, err) : 0;
    if (rc < 0 || (rc > 0 && ip_samples_tell_all(rings)))
        return rc < 0 ? -1 : 0;
    int fd = open_one(rings, tid, ring->cpu);
    if (fd < 0 && (errno == ESRCH || errno == ENODEV))
        return errno == ESRCH;
    if (fd < 0) {
        int error = errno;
        err_set(err, "cannot record the context switches of thread %d", tid);
        return perf_why(error, &switches, tid, err);
    }
    if (take_event(rings, ring, fd, owner, err) < 0)
        return -1;
    return are_first || open_ip_samples_on_cpu(rings, ring, owner, err) >= 0 ? 0 : -1;
}

static void read_comm(pid_t pid, int32_t tid, char name[KERNEL_NAME_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, tid);
    memset(name, 0, KERNEL_NAME_BYTES);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return;
    size_t n = fread(name, 1, KERNEL_NAME_BYTES - 1, in);
    name[n] = '\0';
    name[strcspn(name, "\n")] = '\0';
    fclose(in);
}

/* Returns 0 (also when it has ended meanwhile), or -1. */
static int cover_thread(struct perf_rings *rings, int32_t tid, struct err *err)
{
    struct perf_thread *threads =
        perf_rings_grow(rings->threads, rings->n_threads, &rings->threads_capacity, sizeof *rings->threads);
    if (threads == NULL || hash_store(&rings->by_tid, (uint32_t)tid, (uint32_t)rings->n_threads) < 0)
        return err_set(err, "out of memory for thread %d", tid);
    rings->threads = threads;
    uint32_t owner = (uint32_t)rings->n_threads++;
    threads[owner] = (struct perf_thread){ .tid = tid, .covered_ns = KERNEL_UNKNOWN };
    for (size_t i = 0; i < rings->n_rings; i++) {
        int rc = open_on_cpu(rings, &rings->rings[i], owner, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    struct kernel_event found = { .kind = KERNEL_THREAD_FOUND, .pid = rings->pid, .tid = tid, .by_tid = tid };
    read_comm(rings->pid, tid, found.name);
    found.time_ns = threads[owner].covered_ns = kernel_now_ns();
    if (kernel_thread_cpu_ns(rings->pid, tid, &found.count) < 0)
        found.count = KERNEL_UNKNOWN;
    rings->state.n_threads_found++;
    return perf_rings_keep(&found, rings) == 0 ? 0 : err_set(err, "out of memory for thread %d", tid);
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

/*
 * A thread born while its parent was being covered may have inherited events of some CPUs only.  So each thread that a
 * scan finds gets events of its own, until a scan finds none; all born later have parents that are covered whole.
 * Records that such a thread then has twice are told apart by the events' ids (is_double).
 */
static int cover_all(struct perf_rings *rings, struct err *err)
{
    int n_new = 1;
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
    struct perf_rings *rings = calloc(1, sizeof *rings);
    *out = NULL;
    if (rings == NULL)
        return err_set(err, "out of memory for the kernel's rings");
    rings->pid = pid;
    rings->options = *options;
    rings->inherit_children = options->with_children;
    rings->ring_bytes = RING_BYTES;
    if (options->stack_bytes > 0)
        rings->ring_bytes = geteuid() == 0 ? STACK_RING_BYTES_ROOT : STACK_RING_BYTES;
    rings->format = (options->stack_bytes > 0 ? (unsigned)KERNEL_WITH_STACK : 0) |
                    (options->trigger.n > 1 ? (unsigned)KERNEL_WITH_VALUES : 0) |
                    (has_period(rings) ? (unsigned)KERNEL_WITH_PERIOD : 0);
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
