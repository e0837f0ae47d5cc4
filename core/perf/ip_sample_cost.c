#include "core/base/ticks.h"
#include "core/perf/perf_rings.h"

#include "core/perf/perf_records.h"
#include "core/pmu/perf_open.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define ROUNDS      3                /* if these agree that it can be true; else more */
#define PERIODS     4                /* of a round */
#define PERIOD_NS   UINT64_C(125000) /* more than one with a stack takes in a virtual machine whose host is busy */
#define NO_STACK_NS UINT64_C(50000)  /* and the period of those without */
#define LEAST_NS    UINT64_C(500)    /* of an interrupt that writes a record */
#define STACK_MAX   32768u           /* more of a stack is not tried: */
#define RING_STACK  (16 * STACK_MAX) /* for ten samples; users may have this much */

/* Returns the thread's time that it took. */
static uint64_t work(uint64_t n)
{
    volatile uint64_t sum = 0;
    uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < n; i++)
        sum = sum + i;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

static uint64_t period_of(uint32_t stack_bytes)
{
    return stack_bytes > 0 ? PERIOD_NS : NO_STACK_NS;
}

static int open_clock(uint32_t stack_bytes)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = period_of(stack_bytes);
    attr.disabled = 1;
    attr.sample_type = KERNEL_IP_SAMPLE_TYPE;
    attr.sample_regs_user = KERNEL_IP_SAMPLE_REGISTERS;
    if (stack_bytes > 0) {
        attr.sample_type = KERNEL_STACK_TYPE;
        attr.sample_regs_user = KERNEL_STACK_REGISTERS;
        attr.sample_stack_user = stack_bytes > STACK_MAX ? STACK_MAX : stack_bytes;
    }
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return counters_perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A clock of this thread, off, and its ring. */
struct clock_ring {
    int fd;
    size_t page_bytes, ring_bytes; /* powers of two */
    void *ring;
};

static bool open_ring(struct clock_ring *clock, uint32_t stack_bytes)
{
    clock->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    clock->ring_bytes = stack_bytes > 0 ? RING_STACK : clock->page_bytes;
    clock->fd = open_clock(stack_bytes);
    if (clock->fd < 0)
        return false;
    clock->ring = mmap(NULL, clock->page_bytes + clock->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, clock->fd, 0);
    if (clock->ring != MAP_FAILED)
        return true;
    close(clock->fd);
    return false;
}

static void close_ring(const struct clock_ring *clock)
{
    munmap(clock->ring, clock->page_bytes + clock->ring_bytes);
    close(clock->fd);
}

/* The IP samples that are new in the ring, which was large enough for all.  A header is never in two pieces. */
static uint64_t count_ip_samples(const struct clock_ring *clock)
{
    struct perf_event_mmap_page *page = clock->ring;
    const uint8_t *bytes = (const uint8_t *)clock->ring + clock->page_bytes;
    uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), n = 0;
    struct perf_event_header header;
    for (uint64_t at = page->data_tail; at + sizeof header <= end; at += header.size) {
        memcpy(&header, bytes + at % clock->ring_bytes, sizeof header);
        if (header.size < sizeof header)
            break;
        n += header.type == PERF_RECORD_SAMPLE;
    }
    __atomic_store_n(&page->data_tail, end, __ATOMIC_RELEASE);
    return n;
}

/* Below so much of a stack that is not empty. */
static __attribute__((noinline)) uint64_t work_deep(uint64_t n)
{
    volatile uint8_t stack[STACK_MAX];
    for (size_t i = 0; i < sizeof stack; i += 1024)
        stack[i] = 1;
    uint64_t ns = work(n);
    return ns + (stack[0] == 0);
}

/* The same work with the clock on. */
static void work_with_samples(uint64_t n, bool is_deep, const struct clock_ring *clock,
                              struct ip_sample_cost_round *round)
{
    ioctl(clock->fd, PERF_EVENT_IOC_ENABLE, 0);
    round->ip_samples_ns = is_deep ? work_deep(n) : work(n);
    ioctl(clock->fd, PERF_EVENT_IOC_DISABLE, 0);
    round->n_ip_samples = count_ip_samples(clock);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t ip_sample_cost_of(const struct ip_sample_cost_round *rounds, size_t n)
{
    uint64_t plain_ns = UINT64_MAX, each[IP_SAMPLE_COST_ROUNDS] = { 0 };
    size_t n_each = 0;
    for (size_t i = 0; i < n; i++)
        plain_ns = rounds[i].plain_ns < plain_ns ? rounds[i].plain_ns : plain_ns;
    for (size_t i = 0; i < n && i < IP_SAMPLE_COST_ROUNDS; i++) {
        uint64_t more_ns = rounds[i].ip_samples_ns > plain_ns ? rounds[i].ip_samples_ns - plain_ns : 0;
        uint64_t ns = rounds[i].n_ip_samples == 0 ? 0 : more_ns / rounds[i].n_ip_samples;
        if (ns >= LEAST_NS && ns < PERIOD_NS)
            each[n_each++] = ns;
    }
    qsort(each, n_each, sizeof *each, compare);
    return n_each < ROUNDS ? 0 : each[n_each / 2];
}

uint64_t kernel_sample_cost_ns(uint32_t stack_bytes, bool *is_measured)
{
    struct ip_sample_cost_round rounds[IP_SAMPLE_COST_ROUNDS] = { 0 };
    struct clock_ring clock;
    uint64_t n = 20000, once_ns = work(n), ns = 0;
    bool is_open = open_ring(&clock, stack_bytes);
    n = once_ns == 0 ? n : n * PERIODS * period_of(stack_bytes) / once_ns;
    for (size_t i = 0; i < IP_SAMPLE_COST_ROUNDS && ns == 0 && is_open; i++) {
        rounds[i].plain_ns = work(n);
        work_with_samples(n, stack_bytes > 0, &clock, &rounds[i]);
        ns = ip_sample_cost_of(rounds, i + 1);
    }
    if (is_open)
        close_ring(&clock);
    *is_measured = ns > 0;
    return ns > 0 ? ns : stack_bytes > 0 ? STACK_SAMPLE_COST_USUAL_NS : IP_SAMPLE_COST_USUAL_NS;
}
