#include "core/pmu/read.h"

#include <sys/mman.h>

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

static const struct perf_event_mmap_page *page_of(const struct counters_thread *thread, uint32_t slot)
{
    return (const struct perf_event_mmap_page *)(const void *)(thread->pages + (size_t)slot * thread->page_bytes);
}

static uint32_t n_slots(const struct counters_thread *thread)
{
    return thread->first[thread->n_groups];
}

/* ---- opening ---- */

static int fail(struct counters_failure *failure, enum counters_step step, uint32_t slot, int error)
{
    *failure = (struct counters_failure){ .error = error, .step = step, .i = slot };
    return -1;
}

/* The pages' place: side by side, so that one address finds them all. */
static int reserve(struct counters_thread *thread, const struct counter_layout *layout,
                   struct counters_failure *failure)
{
    if (layout->n_groups == 0 || !counter_layout_valid(layout))
        return fail(failure, COUNTERS_OPEN, 0, EINVAL);
    thread->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    thread->n_groups = (uint8_t)layout->n_groups;
    for (uint32_t g = 0; g <= layout->n_groups; g++)
        thread->first[g] = (uint8_t)layout->first[g];
    size_t n_bytes = (size_t)layout->n_slots * thread->page_bytes;
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return fail(failure, COUNTERS_MAP, 0, errno);
    thread->pages = at;
    return 0;
}

/* Returns the descriptor, or -1. */
static int open_slot(const struct counters_thread *thread, const struct counter_layout *layout, uint32_t slot,
                     int leader, struct counters_failure *failure)
{
    struct perf_event_attr attr;
    counters_attr(&layout->codes[slot], &attr);
    int fd = counters_perf_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return fail(failure, COUNTERS_OPEN, slot, errno);
    char *at = thread->pages + (size_t)slot * thread->page_bytes;
    /* cppcheck-suppress leakReturnValNotUsed; it stays where it was reserved */
    if (mmap(at, thread->page_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        fail(failure, COUNTERS_MAP, slot, errno);
        close(fd);
        return -1;
    }
    return fd;
}

static int open_group(const struct counters_thread *thread, const struct counter_layout *layout, uint32_t g,
                      int *leader, struct counters_failure *failure)
{
    uint32_t slot = layout->first[g];
    *leader = open_slot(thread, layout, slot, -1, failure);
    if (*leader < 0)
        return -1;
    while (++slot < layout->first[g + 1]) {
        int fd = open_slot(thread, layout, slot, *leader, failure);
        if (fd < 0)
            return -1;
        close(fd);
    }
    return 0;
}

/* One group: it must count now, and all of the time. */
static int check_one(struct counters_thread *thread, struct counters_failure *failure)
{
    struct counter_value value = { .counts = false };
    for (uint32_t i = 0; i < n_slots(thread); i++) {
        if (!counters_page_read(page_of(thread, i), false, 0, hardware_register, NULL, &value) || !value.counts)
            return fail(failure, COUNTERS_FIRST_READ, i, 0);
        if (i == 0)
            thread->missed_ns = value.enabled_ns - value.running_ns;
    }
    return 0;
}

#define BEGUN_TRIES 3

/*
 * How long after the first group was another one opened?  Both say how long they were enabled, but not at one moment:
 * the first one is read before and after.
 */
static int32_t measure_begun(const int *leaders, uint32_t g, const struct counters_thread *thread)
{
    const uint8_t *first = thread->first;
    struct counters_reading before, between, after;
    uint64_t best = UINT64_MAX, begun = 0;
    for (int i = 0; i < BEGUN_TRIES; i++) {
        if (!counters_read_group(leaders[0], first[1], &before) ||
            !counters_read_group(leaders[g], (uint32_t)(first[g + 1] - first[g]), &between) ||
            !counters_read_group(leaders[0], first[1], &after))
            return 0;
        uint64_t width = after.enabled_ns - before.enabled_ns;
        if (width >= best)
            continue;
        best = width;
        begun = before.enabled_ns + width / 2 - between.enabled_ns;
    }
    return (int64_t)begun > INT32_MAX || (int64_t)begun < 0 ? 0 : (int32_t)begun;
}

/* Several groups: they must be readable, and tell the time, whenever they will count. */
static int check_several(struct counters_thread *thread, const int *leaders, struct counters_failure *failure)
{
    for (uint32_t i = 0; i < n_slots(thread); i++) {
        uint64_t capabilities = ((const volatile struct perf_event_mmap_page *)page_of(thread, i))->capabilities;
        if ((capabilities & COUNTERS_MAY_READ) == 0)
            return fail(failure, COUNTERS_FIRST_READ, i, 0);
        if ((capabilities & COUNTERS_HAS_TIME) == 0)
            return fail(failure, COUNTERS_TIME, i, 0);
    }
    for (uint32_t g = 1; g < thread->n_groups; g++)
        thread->begun_ns[g] = measure_begun(leaders, g, thread);
    return 0;
}

int counters_thread_open(struct counters_thread *thread, const struct counter_layout *layout, int *leader_fds,
                         struct counters_failure *failure)
{
    struct counters_thread opening = { .pages = NULL };
    int leaders[COUNTERS_GROUPS_MAX], rc = reserve(&opening, layout, failure);
    uint32_t n_leaders = 0;
    thread->pages = NULL;
    for (uint32_t g = 0; rc == 0 && g < layout->n_groups; g++) {
        rc = open_group(&opening, layout, g, &leaders[g], failure);
        n_leaders += leaders[g] >= 0;
    }
    if (rc == 0)
        rc = layout->n_groups == 1 ? check_one(&opening, failure) : check_several(&opening, leaders, failure);
    for (uint32_t g = 0; g < n_leaders; g++)
        if (rc == 0 && leader_fds != NULL)
            leader_fds[g] = leaders[g];
        else
            close(leaders[g]);
    if (rc < 0)
        counters_thread_close(&opening);
    else
        *thread = opening;
    return rc;
}

/* ---- reading ---- */

/* Where registers are read: inlined into the one function that a probe calls. */
struct source {
    counter_register_fn *read_register;
    void *context;
};

#define INLINE static inline __attribute__((always_inline))

INLINE bool read_one(const struct counters_thread *thread, struct source from, uint64_t *columns)
{
    bool valid = true;
    for (uint32_t i = 0; i < n_slots(thread); i++) {
        struct counter_value value = { .counts = false };
        valid &= counters_page_read(page_of(thread, i), false, 0, from.read_register, from.context, &value);
        valid &= value.counts && (i > 0 || value.enabled_ns - value.running_ns == thread->missed_ns);
        columns[i] = value.value;
    }
    return valid;
}

/* A group's values; what its leader's page says goes to *leader, too.  Returns whether they could be read. */
INLINE bool read_group(const struct counters_thread *thread, uint32_t g, struct source from, uint64_t ticks,
                       uint64_t *columns, struct counter_value *leader)
{
    uint32_t slot = thread->first[g];
    bool valid = counters_page_read(page_of(thread, slot), true, ticks, from.read_register, from.context, leader);
    columns[slot] = leader->value;
    while (++slot < thread->first[g + 1]) {
        struct counter_value value = { .counts = false };
        valid &= counters_page_read(page_of(thread, slot), false, 0, from.read_register, from.context, &value);
        columns[slot] = value.value;
    }
    return valid;
}

INLINE bool read_several(struct counters_thread *thread, struct source from, uint64_t ticks, uint64_t *columns)
{
    uint64_t *running_ns = columns + n_slots(thread), enabled_ns = 0;
    bool valid = true, timed = false;
    for (uint32_t g = 0; g < thread->n_groups; g++) {
        struct counter_value leader = { .counts = false };
        valid &= read_group(thread, g, from, ticks, columns, &leader) && leader.counts == leader.tells_time;
        running_ns[g] = leader.running_ns;
        if (leader.tells_time)
            enabled_ns = leader.enabled_ns + (uint64_t)(int64_t)thread->begun_ns[g];
        timed |= leader.tells_time;
    }
    if (!timed || !valid)
        return false;
    /* When another group tells the time, it may be some 100 ns behind. */
    if (enabled_ns > thread->last_enabled_ns)
        thread->last_enabled_ns = enabled_ns;
    running_ns[thread->n_groups] = thread->last_enabled_ns;
    return true;
}

INLINE bool read_from(struct counters_thread *thread, struct source from, uint64_t ticks, uint64_t *columns)
{
    if (thread->pages == NULL)
        return false;
    return thread->n_groups == 1 ? read_one(thread, from, columns) : read_several(thread, from, ticks, columns);
}

bool counters_thread_read(struct counters_thread *thread, uint64_t ticks, uint64_t *columns)
{
    return read_from(thread, (struct source){ hardware_register, NULL }, ticks, columns);
}

bool counters_thread_read_from(struct counters_thread *thread, uint64_t ticks, uint64_t *columns,
                               counter_register_fn *read_register, void *context)
{
    return read_from(thread, (struct source){ read_register, context }, ticks, columns);
}

void counters_thread_close(struct counters_thread *thread)
{
    if (thread->pages != NULL)
        munmap(thread->pages, (size_t)n_slots(thread) * thread->page_bytes);
    thread->pages = NULL;
}
