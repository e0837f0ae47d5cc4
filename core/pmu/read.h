/*
 * A thread's counters, read in user space: the agent's probes do this, so no malloc, no stdio, no locks, and no system
 * call in a read.
 *
 * The kernel maps one page per event; while the event counts, 'index' on it names the counter register, and the
 * event's value is 'offset' plus that register.  While its group waits for its turn, index is 0 and offset is the
 * value.  The page changes when the kernel moves the event, so a read is bracketed by the page's sequence number.  The
 * rules are those of linux/perf_event.h and of the kernel's tools/lib/perf.
 */
#ifndef CORE_PMU_READ_H
#define CORE_PMU_READ_H

#include "core/pmu/perf_open.h"

#define COUNTERS_RETRIES 16

/* In perf_event_mmap_page.capabilities. */
#define COUNTERS_MAY_READ   (UINT64_C(1) << 2) /* cap_user_rdpmc */
#define COUNTERS_HAS_TIME   (UINT64_C(1) << 3) /* cap_user_time */
#define COUNTERS_SHORT_TIME (UINT64_C(1) << 5) /* cap_user_time_short */

/* What one page said. */
struct counter_value {
    uint64_t value;
    uint64_t enabled_ns, running_ns; /* when the page was written, or with counters_page_time as of then */
    bool counts;                     /* it is on a counter now; else its values are those when it left it */
    bool tells_time;                 /* it is, and the times are as of now */
};

/* The value of a hardware counter register: tests put their own in its place. */
typedef uint64_t counter_register_fn(uint32_t index, void *context);

/*
 * How long after the page was written 'ticks' are, in ns: 0 when they are from before.  The kernel writes it whenever
 * the event gets or leaves a counter, so meanwhile the event counts without a break.
 */
static inline uint64_t counters_page_delta_ns(uint64_t ticks, uint64_t offset, uint32_t multiplier, uint16_t shift)
{
    uint64_t quotient = ticks >> shift, rest = ticks & ((UINT64_C(1) << shift) - 1);
    uint64_t delta = offset + quotient * multiplier + ((rest * multiplier) >> shift);
    return (int64_t)delta > 0 ? delta : 0;
}

/* Continue a page's times to the moment 'ticks'.  Inside the sequence lock. */
static inline __attribute__((always_inline)) void counters_page_continue(const volatile struct perf_event_mmap_page *p,
                                                                         uint64_t ticks, struct counter_value *out)
{
    uint64_t capabilities = p->capabilities;
    uint16_t shift = p->time_shift;
    if ((capabilities & COUNTERS_HAS_TIME) == 0 || !out->counts || shift > 63)
        return;
    out->tells_time = true;
    if ((capabilities & COUNTERS_SHORT_TIME) != 0)
        ticks = p->time_cycles + ((ticks - p->time_cycles) & p->time_mask);
    uint64_t delta = counters_page_delta_ns(ticks, p->time_offset, p->time_mult, shift);
    out->enabled_ns += delta;
    out->running_ns += delta;
}

/*
 * Read one event from its page; with_times: its times as of 'ticks' (a constant; else ticks is not used, and the times
 * are those when the page was written).  Returns false, and *out is not to be used, when
 * - the page does not allow reads in user space (cap_user_rdpmc);
 * - the page changed in each of COUNTERS_RETRIES tries.
 */
static inline __attribute__((always_inline)) bool counters_page_read(const struct perf_event_mmap_page *page,
                                                                     bool with_times, uint64_t ticks,
                                                                     counter_register_fn *read_register, void *context,
                                                                     struct counter_value *out)
{
    const volatile struct perf_event_mmap_page *p = page;
    for (int i = 0; i < COUNTERS_RETRIES; i++) {
        uint32_t before = p->lock;
        __asm__ volatile("" ::: "memory"); /* the kernel writes it on this CPU: the compiler's order suffices */
        uint64_t count = 0;
        uint32_t index = p->index, width = p->pmc_width;
        bool readable = (p->capabilities & COUNTERS_MAY_READ) != 0 && (index == 0 || (width >= 1 && width <= 64));
        out->value = (uint64_t)p->offset;
        out->enabled_ns = p->time_enabled;
        out->running_ns = p->time_running;
        out->counts = index != 0;
        out->tells_time = false;
        if (readable && index != 0)
            count = read_register(index - 1, context);
        if (with_times)
            counters_page_continue(p, ticks, out);
        __asm__ volatile("" ::: "memory");
        if (p->lock != before || (before & 1) != 0)
            continue;
        /* The register holds 'width' bits of a signed number. */
        if (readable && index != 0)
            out->value += (uint64_t)((int64_t)(count << (64 - width)) >> (64 - width));
        return readable;
    }
    return false;
}

/* One thread's groups.  Plain data: the agent keeps it in the thread's own memory, so it is small. */
struct counters_thread {
    char *pages; /* one for each slot, side by side; owned; NULL: not open */
    uint32_t page_bytes;
    uint8_t n_groups, first[COUNTERS_GROUPS_MAX + 1]; /* as in counter_layout */
    int32_t begun_ns[COUNTERS_GROUPS_MAX];            /* how long after the first group a group was opened */
    uint64_t missed_ns;       /* one group: the time that it was enabled and did not count, when it was opened */
    uint64_t last_enabled_ns; /* several: of the last read */
};

enum counters_step { COUNTERS_OPEN, COUNTERS_MAP, COUNTERS_FIRST_READ, COUNTERS_TIME };

/* Where an opening failed. */
struct counters_failure {
    /* errno; 0 after COUNTERS_FIRST_READ: no reads in user space here, or the group does not count; and after
     * COUNTERS_TIME: groups that take turns need times, and the kernel's clock cannot be read in user space here */
    int error;
    enum counters_step step;
    uint32_t i; /* the slot */
};

/*
 * Open the layout's groups for the calling thread.
 *
 * leader_fds  out: the leaders' descriptors, one for each group, which the caller passes on and closes; NULL: no
 *             descriptor stays open.  The mapped pages keep the events alive, and a guest should not use up its host's
 *             descriptors.
 *
 * Returns 0, or -1 with *failure set and nothing open.  System calls, but no malloc and no locks.
 */
int counters_thread_open(struct counters_thread *thread, const struct counter_layout *layout, int *leader_fds,
                         struct counters_failure *failure);

/*
 * The counters' values: as many as counter_layout_columns says.  ticks: now, as ticks_now gives it; only the thread
 * itself may call this.  Returns whether they are valid.  They are not
 * - with one group, when an event does not count at present, or once the group had to wait for other users of the
 *   counters: its values are too small;
 * - with several, when none of them counts at present, because then nothing tells the time.
 * No system call; safe in a signal handler that does not interrupt a read.
 */
bool counters_thread_read(struct counters_thread *thread, uint64_t ticks, uint64_t *columns);

/* The same, with the registers read by a function: for tests with made-up pages. */
bool counters_thread_read_from(struct counters_thread *thread, uint64_t ticks, uint64_t *columns,
                               counter_register_fn *read_register, void *context);

/* Unmap, which ends the events.  Any thread may do it when the owner reads no more; does nothing when not open. */
void counters_thread_close(struct counters_thread *thread);

#endif
