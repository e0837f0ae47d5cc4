#include "core/perf/perf_rings.h"

#include "core/perf/perf_records.h"
#include "core/pmu/perf_open.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS     3 /* if these agree that it can be true; else more */
#define WORK_NS    UINT64_C(500000)
#define PERIOD_NS  UINT64_C(50000)
#define LEAST_NS   UINT64_C(500)    /* of an interrupt that writes a record */
#define STACK_MAX  32768u           /* more of a stack is not tried: */
#define RING_BYTES (16 * STACK_MAX) /* for ten samples; users may have this much */

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

static int open_clock(uint32_t stack_bytes)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = PERIOD_NS;
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

/* The IP samples in a ring that was large enough for all. */
static uint64_t count_ip_samples(const void *ring, size_t page_bytes)
{
    const struct perf_event_mmap_page *page = ring;
    const uint8_t *bytes = (const uint8_t *)ring + page_bytes;
    uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), n = 0;
    struct perf_event_header header;
    for (uint64_t at = 0; at + sizeof header <= end && end <= RING_BYTES; at += header.size) {
        memcpy(&header, bytes + at, sizeof header);
        if (header.size < sizeof header)
            break;
        n += header.type == PERF_RECORD_SAMPLE;
    }
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

/* The same work with the clock on.  Returns false: it cannot be had. */
static bool work_with_samples(uint64_t n, uint32_t stack_bytes, struct ip_sample_cost_round *round)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), n_bytes = page_bytes + RING_BYTES;
    int fd = open_clock(stack_bytes);
    if (fd < 0)
        return false;
    void *ring = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring != MAP_FAILED) {
        round->ip_samples_ns = stack_bytes > 0 ? work_deep(n) : work(n);
        round->n_ip_samples = count_ip_samples(ring, page_bytes);
        munmap(ring, n_bytes);
    }
    close(fd);
    return ring != MAP_FAILED;
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
    uint64_t n = 20000, once_ns = work(n), ns = 0;
    n = once_ns == 0 ? n : n * WORK_NS / once_ns;
    for (size_t i = 0; i < IP_SAMPLE_COST_ROUNDS && ns == 0; i++) {
        rounds[i].plain_ns = work(n);
        if (!work_with_samples(n, stack_bytes, &rounds[i]))
            break;
        ns = ip_sample_cost_of(rounds, i + 1);
    }
    *is_measured = ns > 0;
    return ns > 0 ? ns : stack_bytes > 0 ? STACK_SAMPLE_COST_USUAL_NS : IP_SAMPLE_COST_USUAL_NS;
}
