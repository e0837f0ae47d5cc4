#include "core/counters/hit_cost.h"

#include "core/counters/kernel_records.h"
#include "core/counters/perf_open.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS     3
#define WORK_NS    UINT64_C(1000000)
#define PERIOD_NS  UINT64_C(50000)
#define RING_PAGES 4

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Returns the thread's time that it took. */
static uint64_t work(uint64_t n)
{
    volatile uint64_t sum = 0;
    uint64_t start_ns = thread_ns();
    for (uint64_t i = 0; i < n; i++)
        sum = sum + i;
    return thread_ns() - start_ns;
}

static int open_clock(void)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = PERIOD_NS;
    attr.sample_type = KERNEL_HIT_TYPE;
    attr.sample_regs_user = KERNEL_HIT_REGISTERS;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return counters_perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The same work with the clock on; 0: it cannot be had. */
static uint64_t work_with_hits(uint64_t n)
{
    size_t n_bytes = (size_t)sysconf(_SC_PAGESIZE) * (1 + RING_PAGES);
    int fd = open_clock();
    if (fd < 0)
        return 0;
    void *ring = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t ns = ring == MAP_FAILED ? 0 : work(n);
    if (ring != MAP_FAILED)
        munmap(ring, n_bytes);
    close(fd);
    return ns;
}

uint64_t kernel_hit_cost_ns(void)
{
    uint64_t n = 100000, without_ns = UINT64_MAX, with_ns = UINT64_MAX;
    uint64_t once_ns = work(n);
    n = once_ns == 0 ? n : n * WORK_NS / once_ns;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t plain_ns = work(n), hits_ns = work_with_hits(n);
        if (hits_ns == 0)
            return 0;
        without_ns = plain_ns < without_ns ? plain_ns : without_ns;
        with_ns = hits_ns < with_ns ? hits_ns : with_ns;
    }
    uint64_t n_hits = with_ns / PERIOD_NS;
    return n_hits == 0 || with_ns <= without_ns ? 0 : (with_ns - without_ns) / n_hits;
}
