/* The files of events, the rings that they write into, and the events that wait to be handed out. */
#include "core/base/ticks.h"
#include "core/perf/perf_rings_internal.h"

#include "core/base/xalloc.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define RING_BYTES_MIN (16 * 1024)

uint64_t kernel_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC_RAW);
}

int kernel_thread_cpu_ns(pid_t pid, pid_t tid, uint64_t *ns)
{
    char path[64], text[96] = "", *end;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    *ns = strtoull(text, &end, 10);
    return n > 0 && end > text ? 0 : -1;
}

void perf_rings_keep(struct perf_rings *rings, const struct kernel_event *event)
{
    struct kernel_event *kept = xpush(rings->pending, rings->pending_capacity, rings->n_pending);
    *kept = *event;
    kept->order = rings->order++;
}

void perf_rings_close_files(struct perf_rings *rings)
{
    /* A mapping keeps its event alive, so it goes first. */
    for (size_t i = 0; i < rings->n_rings; i++) {
        if (rings->rings[i].page != NULL)
            munmap(rings->rings[i].page, (size_t)sysconf(_SC_PAGESIZE) + rings->ring_bytes);
        rings->rings[i].page = NULL;
    }
    for (size_t i = 0; i < rings->n_files; i++)
        close(rings->files[i].fd);
    rings->n_files = 0;
    hash_clear(&rings->by_id);
}

void perf_rings_close(struct perf_rings *rings)
{
    if (rings == NULL)
        return;
    perf_rings_close_files(rings);
    if (rings->half_full >= 0)
        close(rings->half_full);
    hash_free(&rings->by_id);
    hash_free(&rings->by_tid);
    free(rings->threads);
    free(rings->rings);
    free(rings->files);
    free(rings->pending);
    free(rings);
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

static int refuse_map(int error, int32_t tid, struct err *err)
{
    err_set(err, "cannot map the ring of context switches for thread %d: %s", tid, strerror(error));
    if (error == EPERM)
        return err_next(err, "too much memory is pinned by perf rings: run 'sysctl kernel.perf_event_mlock_kb=2048', "
                             "or raise 'ulimit -l'");
    return err_next(err, "see 'dmesg' for the reason");
}

void perf_rings_keep_file(struct perf_rings *rings, int fd, uint32_t owner)
{
    *xpush(rings->files, rings->files_capacity, rings->n_files) = (struct event_file){ .fd = fd, .owner = owner };
}

int perf_rings_take(struct perf_rings *rings, struct perf_ring *ring, int fd, uint32_t owner, struct err *err)
{
    int32_t tid = owner == NO_OWNER ? 0 : rings->threads[owner].tid;
    uint64_t id = 0;
    perf_rings_keep_file(rings, fd, owner);
    if (attach_to_ring(rings, ring, fd) < 0)
        return refuse_map(errno, tid, err);
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
        return err_set(err, "cannot identify the event of thread %d: %s", tid, strerror(errno));
    xhash_store(&rings->by_id, id, (uint32_t)rings->n_files - 1);
    return 0;
}
