#include "core/counters/kernel_rings.h"

#include "core/base/arena.h"
#include "core/base/map.h"
#include "core/counters/perf_open.h"
#include "core/counters/perf_why.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
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
#define SCANS_MAX      16
#define CPU_MAX        4096

struct ring {
    uint32_t cpu;
    int fd;                            /* the event that owns the ring; one of files */
    struct perf_event_mmap_page *page; /* owned; NULL before the CPU's first event */
};

struct thread {
    int32_t tid;
    bool ended;          /* and no other has got its number since */
    uint64_t covered_ns; /* since then all its CPUs are recorded by its own events; KERNEL_UNKNOWN: by inherited ones */
};

struct kernel_rings {
    pid_t pid;
    bool page_faults, inherit_children;
    struct arena arena; /* the maps' keys */
    struct map owners;  /* event id -> index of the thread it was opened for */
    struct map by_tid;  /* tid -> index of the latest thread that had it */
    struct thread *threads;
    size_t n_threads, threads_capacity;
    struct ring *rings;
    size_t n_rings;
    int *files;
    size_t n_files, files_capacity;
    size_t ring_bytes;
    int half_full;                /* an epoll descriptor over all rings, or -1 */
    struct kernel_event *pending; /* read but not handed out */
    size_t n_pending, pending_capacity;
    uint64_t order, final_ns;
    struct kernel_rings_state state;
    uint8_t copy[KERNEL_RECORD_MAX_BYTES];
};

uint64_t kernel_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int kernel_thread_cpu_ns(pid_t pid, pid_t tid, uint64_t *ns)
{
    char path[64];
    unsigned long long value = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return -1;
    int n = fscanf(in, "%llu", &value);
    fclose(in);
    *ns = value;
    return n == 1 ? 0 : -1;
}

/* Make room for one more element.  Returns the array, or NULL when there is no memory (the old one stays). */
static void *grow(void *array, size_t n, size_t *capacity, size_t element_bytes)
{
    if (n < *capacity)
        return array;
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *larger = realloc(array, wanted * element_bytes);
    if (larger != NULL)
        *capacity = wanted;
    return larger;
}

/* ---- opening ---- */

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* "0-3,8": one ring for each.  Returns 0, or -1. */
static int list_cpus(struct kernel_rings *rings)
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
            rings->rings[rings->n_rings++] = (struct ring){ .cpu = (uint32_t)cpu, .fd = -1 };
        at += *at == ',';
    }
    return rings->n_rings > 0 ? 0 : -1;
}

static void fill_attr(const struct kernel_rings *rings, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = PERF_COUNT_SW_DUMMY;
    if (rings->page_faults) {
        attr->config = PERF_COUNT_SW_PAGE_FAULTS;
        attr->sample_period = 1;
    }
    attr->sample_type = KERNEL_SAMPLE_TYPE;
    attr->sample_id_all = 1;
    attr->context_switch = 1;
    attr->task = 1;
    attr->comm = 1;
    attr->inherit = 1;
    attr->inherit_thread = !rings->inherit_children;
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC_RAW;
    attr->watermark = 1;
    attr->wakeup_watermark = (uint32_t)(RING_BYTES / 2);
}

static int open_one(struct kernel_rings *rings, int32_t tid, uint32_t cpu)
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

/* The CPU's first event gets a ring, as large as the kernel grants; the others write into it.  Returns 0, or -1. */
static int attach_to_ring(struct kernel_rings *rings, struct ring *ring, int fd)
{
    if (ring->page != NULL)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd);
    for (;;) {
        size_t size = (size_t)sysconf(_SC_PAGESIZE) + rings->ring_bytes;
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED) {
            struct epoll_event half_full = { .events = EPOLLIN };
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
    return err_next(err, "look for the reason in 'dmesg'");
}

/* One thread on one CPU.  Returns 0 (also when the CPU went offline), 1 when the thread has ended, or -1. */
static int open_on_cpu(struct kernel_rings *rings, struct ring *ring, uint32_t owner, struct err *err)
{
    int32_t tid = rings->threads[owner].tid;
    uint64_t id = 0;
    int *files = grow(rings->files, rings->n_files, &rings->files_capacity, sizeof *files);
    if (files == NULL)
        return err_set(err, "no memory for the events of thread %d", tid);
    rings->files = files;
    int fd = open_one(rings, tid, ring->cpu);
    if (fd < 0 && (errno == ESRCH || errno == ENODEV))
        return errno == ESRCH;
    if (fd < 0) {
        int error = errno;
        err_set(err, "cannot record the context switches of thread %d", tid);
        return perf_why(error, &switches, tid, err);
    }
    rings->files[rings->n_files++] = fd;
    if (attach_to_ring(rings, ring, fd) < 0)
        return refuse_map(errno, tid, err);
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
        return err_set(err, "cannot identify the event of thread %d: %s", tid, strerror(errno));
    if (map_put(&rings->owners, &id, sizeof id, owner) < 0)
        return err_set(err, "no memory for the events of thread %d", tid);
    return 0;
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

static int keep(const struct kernel_event *event, void *context)
{
    struct kernel_rings *rings = context;
    struct kernel_event *pending =
        grow(rings->pending, rings->n_pending, &rings->pending_capacity, sizeof *rings->pending);
    if (pending == NULL)
        return -1;
    rings->pending = pending;
    pending[rings->n_pending] = *event;
    pending[rings->n_pending++].order = rings->order++;
    return 0;
}

/* Returns 0 (also when it has ended meanwhile), or -1. */
static int cover_thread(struct kernel_rings *rings, int32_t tid, struct err *err)
{
    struct thread *threads = grow(rings->threads, rings->n_threads, &rings->threads_capacity, sizeof *rings->threads);
    if (threads == NULL || map_put(&rings->by_tid, &tid, sizeof tid, (uint32_t)rings->n_threads) < 0)
        return err_set(err, "no memory for thread %d", tid);
    rings->threads = threads;
    uint32_t owner = (uint32_t)rings->n_threads++;
    threads[owner] = (struct thread){ .tid = tid, .covered_ns = KERNEL_UNKNOWN };
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
    return keep(&found, rings) == 0 ? 0 : err_set(err, "no memory for thread %d", tid);
}

/* Cover the threads that are not yet.  Returns how many there were, or -1. */
static int scan_threads(struct kernel_rings *rings, struct err *err)
{
    char path[32];
    int n_new = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)rings->pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return err_set(err, "no process has the number %d", (int)rings->pid),
               err_next(err, "look for the JVM's with 'ps' or 'jps'");
    const struct dirent *entry;
    /* cppcheck-suppress readdirCalled */
    while (n_new >= 0 && (entry = readdir(dir)) != NULL) {
        int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || map_get(&rings->by_tid, &tid, sizeof tid) != NULL)
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
static int cover_all(struct kernel_rings *rings, struct err *err)
{
    int n_new = 1;
    for (int i = 0; n_new > 0 && i < SCANS_MAX; i++)
        n_new = scan_threads(rings, err);
    if (n_new < 0)
        return -1;
    if (rings->state.n_threads_found > 0)
        return 0;
    err_set(err, "process %d ended before its threads could be recorded", (int)rings->pid);
    return err_next(err, "look for the JVM's with 'ps' or 'jps'");
}

int kernel_rings_open(struct kernel_rings **out, pid_t pid, bool page_faults, struct err *err)
{
    struct kernel_rings *rings = calloc(1, sizeof *rings);
    *out = NULL;
    if (rings == NULL)
        return err_set(err, "no memory for the kernel's rings");
    rings->pid = pid;
    rings->page_faults = page_faults;
    rings->ring_bytes = RING_BYTES;
    rings->half_full = epoll_create1(EPOLL_CLOEXEC);
    rings->owners.arena = rings->by_tid.arena = &rings->arena;
    raise_file_limit();
    int rc = list_cpus(rings) == 0 ? 0 : err_set(err, "cannot find out which CPUs are online");
    if (rc == 0)
        rc = cover_all(rings, err);
    if (rc < 0) {
        kernel_rings_close(rings);
        return -1;
    }
    *out = rings;
    return 0;
}

void kernel_rings_close(struct kernel_rings *rings)
{
    if (rings == NULL)
        return;
    /* A mapping keeps its event alive, so it goes first. */
    for (size_t i = 0; i < rings->n_rings; i++)
        if (rings->rings[i].page != NULL)
            munmap(rings->rings[i].page, (size_t)sysconf(_SC_PAGESIZE) + rings->ring_bytes);
    for (size_t i = 0; i < rings->n_files; i++)
        close(rings->files[i]);
    if (rings->half_full >= 0)
        close(rings->half_full);
    map_free(&rings->owners);
    map_free(&rings->by_tid);
    arena_free(&rings->arena);
    free(rings->threads);
    free(rings->rings);
    free(rings->files);
    free(rings->pending);
    free(rings);
}

/* ---- reading ---- */

static int read_ring(struct kernel_rings *rings, const struct ring *ring)
{
    struct perf_event_mmap_page *page = ring->page;
    if (page == NULL)
        return 0;
    _Atomic uint64_t *head_at = (_Atomic uint64_t *)&page->data_head, *tail_at = (_Atomic uint64_t *)&page->data_tail;
    uint64_t head = atomic_load_explicit(head_at, memory_order_acquire), tail = page->data_tail;
    const uint8_t *data = (const uint8_t *)page + sysconf(_SC_PAGESIZE);
    int rc = kernel_records_walk(data, rings->ring_bytes, &tail, head, rings->copy, &rings->state.n_bad, keep, rings);
    atomic_store_explicit(tail_at, tail, memory_order_release);
    return rc;
}

static int by_time(const void *a, const void *b)
{
    const struct kernel_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static struct thread *thread_of(const struct kernel_rings *rings, int32_t tid)
{
    const uint32_t *index = map_get(&rings->by_tid, &tid, sizeof tid);
    return index == NULL ? NULL : &rings->threads[*index];
}

/*
 * A thread with events of its own may also have inherited some: its own count once they are complete, until then the
 * inherited ones.
 */
static bool is_double(const struct kernel_rings *rings, const struct kernel_event *event)
{
    const struct thread *thread = thread_of(rings, event->by_tid);
    const uint32_t *owner = map_get(&rings->owners, &event->event_id, sizeof event->event_id);
    if (thread == NULL || owner == NULL)
        return false;
    if (thread->ended)
        return true;
    bool own = thread == &rings->threads[*owner], covered = event->time_ns >= thread->covered_ns;
    return own != covered;
}

static bool is_wanted(struct kernel_rings *rings, const struct kernel_event *event)
{
    if (event->kind == KERNEL_LOST) {
        rings->state.n_lost += event->count;
        return true;
    }
    if (event->kind == KERNEL_THREAD_FOUND)
        return true;
    if (event->pid != rings->pid || is_double(rings, event))
        return false;
    struct thread *thread = thread_of(rings, event->tid);
    if (thread != NULL && event->kind == KERNEL_THREAD_END)
        thread->ended = true;
    if (thread != NULL && event->kind == KERNEL_THREAD_START && thread->ended)
        *thread = (struct thread){ .tid = event->tid, .covered_ns = KERNEL_UNKNOWN };
    return true;
}

static int hand_out(struct kernel_rings *rings, uint64_t until_ns, kernel_event_fn *fn, void *context)
{
    size_t n = 0;
    int rc = 0;
    while (rc == 0 && n < rings->n_pending && rings->pending[n].time_ns <= until_ns) {
        struct kernel_event *event = &rings->pending[n++];
        if (!is_wanted(rings, event))
            continue;
        if (event->time_ns < rings->final_ns) {
            event->time_ns = rings->final_ns;
            rings->state.n_late++;
        }
        rc = fn(event, context);
    }
    rings->n_pending -= n;
    if (n > 0)
        memmove(rings->pending, rings->pending + n, rings->n_pending * sizeof *rings->pending);
    return rc;
}

int kernel_rings_drain(struct kernel_rings *rings, uint64_t until_ns, kernel_event_fn *fn, void *context,
                       struct err *err)
{
    uint64_t now_ns = kernel_now_ns();
    for (size_t i = 0; i < rings->n_rings; i++)
        if (read_ring(rings, &rings->rings[i]) < 0)
            return err_set(err, "no memory for the kernel's events");
    if (until_ns != KERNEL_UNKNOWN && until_ns > now_ns)
        until_ns = now_ns;
    if (rings->n_pending > 0)
        qsort(rings->pending, rings->n_pending, sizeof *rings->pending, by_time);
    int rc = hand_out(rings, until_ns, fn, context);
    rings->final_ns = until_ns != KERNEL_UNKNOWN ? until_ns : now_ns;
    return rc;
}

int kernel_rings_fd(const struct kernel_rings *rings)
{
    return rings->half_full;
}

void kernel_rings_state(const struct kernel_rings *rings, struct kernel_rings_state *state)
{
    *state = rings->state;
    state->n_cpus = (uint32_t)rings->n_rings;
    state->n_files = (uint32_t)rings->n_files;
    state->ring_bytes = rings->ring_bytes;
}
