#include "core/counters/read.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)

static inline uint64_t hardware_register(uint32_t index, void *context)
{
    (void)context;
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__)

/* clang-format off */
#define EVENT_COUNTERS(X)                                                                                              \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19)      \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30)
#define EVENT_COUNTER(n)                                                                                               \
    case n:                                                                                                            \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value));                                                  \
        break;
/* clang-format on */

/*
 * Counter 31 is the cycle counter.  The registers are named one by one because selecting one through pmselr_el0 takes
 * two instructions, between which the thread may be switched and the selection lost.
 */
static inline uint64_t hardware_register(uint32_t index, void *context)
{
    (void)context;
    uint64_t value = 0;
    switch (index) {
        EVENT_COUNTERS(EVENT_COUNTER)
    case 31:
        __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
        break;
    default:
        break;
    }
    return value;
}

#else
#error "mmprof runs on x86-64 and aarch64"
#endif

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_and_map(const struct counter_code *code, int leader, int *fd, const struct perf_event_mmap_page **page,
                        struct counters_failure *failure)
{
    struct perf_event_attr attr;
    counters_attr(code, &attr);
    failure->step = COUNTERS_OPEN;
    *fd = counters_perf_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (*fd < 0) {
        failure->error = errno;
        return -1;
    }
    failure->step = COUNTERS_MAP;
    void *mapped = mmap(NULL, page_bytes(), PROT_READ, MAP_SHARED, *fd, 0);
    if (mapped == MAP_FAILED) {
        failure->error = errno;
        return -1;
    }
    *page = mapped;
    return 0;
}

static int first_read(struct counters_thread *thread, struct counters_failure *failure)
{
    failure->step = COUNTERS_FIRST_READ;
    failure->error = 0;
    for (failure->i = 0; failure->i < thread->n; failure->i++) {
        struct counter_value first;
        if (!counters_page_read(thread->pages[failure->i], hardware_register, NULL, &first))
            return -1;
        if (failure->i == 0)
            thread->missed_ns = first.missed_ns;
    }
    return 0;
}

int counters_thread_open(struct counters_thread *thread, const struct counter_code *codes, uint32_t n,
                         struct counters_failure *failure)
{
    struct counters_thread opening = { .n = 0 };
    int fds[COUNTERS_MAX];
    int rc = n >= 1 && n <= COUNTERS_MAX ? 0 : -1;
    thread->n = 0;
    *failure = (struct counters_failure){ .error = EINVAL, .step = COUNTERS_OPEN };
    uint32_t n_fds = 0;
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        failure->i = i;
        rc = open_and_map(&codes[i], i == 0 ? -1 : fds[0], &fds[i], &opening.pages[i], failure);
        n_fds += fds[i] >= 0;
        opening.n += rc == 0;
    }
    if (rc == 0)
        rc = first_read(&opening, failure);
    for (uint32_t i = 0; i < n_fds; i++)
        close(fds[i]);
    if (rc < 0)
        counters_thread_close(&opening);
    else
        *thread = opening;
    return rc;
}

bool counters_thread_read(const struct counters_thread *thread, uint64_t *values)
{
    bool valid = thread->n > 0;
    for (uint32_t i = 0; i < thread->n; i++) {
        struct counter_value read = { 0, 0 };
        valid &= counters_page_read(thread->pages[i], hardware_register, NULL, &read);
        valid &= i > 0 || read.missed_ns == thread->missed_ns;
        values[i] = read.value;
    }
    return valid;
}

void counters_thread_close(struct counters_thread *thread)
{
    /* The leader last: without it the others would become groups of their own. */
    for (uint32_t i = thread->n; i > 0; i--)
        munmap((void *)(uintptr_t)thread->pages[i - 1], page_bytes());
    thread->n = 0;
}
