/*
 * A thread's counters, read in user space: the agent's probes do this, so no malloc, no stdio, no locks, and no system
 * call in a read.
 *
 * The kernel maps one page per event; while the event counts, 'index' on it names the counter register, and the
 * event's value is 'offset' plus that register.  The page changes when the kernel moves the event, so a read is
 * bracketed by the page's sequence number.  The rules are those of linux/perf_event.h and of the kernel's
 * tools/lib/perf.
 */
#ifndef CORE_COUNTERS_READ_H
#define CORE_COUNTERS_READ_H

#include "core/counters/perf_open.h"

#include <stdbool.h>
#include <stddef.h>

#define COUNTERS_RETRIES 16

/* What one page said. */
struct counter_value {
    uint64_t value;
    uint64_t missed_ns; /* time that the event was enabled but did not count; 0 unless events rotate */
};

/* The value of a hardware counter register: tests put their own in its place. */
typedef uint64_t counter_register_fn(uint32_t index, void *context);

/*
 * Read one event from its page.  Returns false, and *out is not to be used, when
 * - the page does not allow reads in user space (cap_user_rdpmc);
 * - index is 0: the event does not count now although its thread runs, so what the page holds is too old;
 * - the page changed in each of COUNTERS_RETRIES tries.
 */
static inline __attribute__((always_inline)) bool counters_page_read(const struct perf_event_mmap_page *page,
                                                                     counter_register_fn *read_register, void *context,
                                                                     struct counter_value *out)
{
    const volatile struct perf_event_mmap_page *p = page;
    for (int i = 0; i < COUNTERS_RETRIES; i++) {
        uint32_t before = p->lock;
        __asm__ volatile("" ::: "memory"); /* the kernel writes it on this CPU: the compiler's order suffices */
        uint64_t capabilities = p->capabilities, enabled_ns = p->time_enabled, running_ns = p->time_running;
        uint64_t offset = (uint64_t)p->offset, count = 0;
        uint32_t index = p->index, width = p->pmc_width;
        bool counts = (capabilities & 4) != 0 && index != 0 && width >= 1 && width <= 64;
        if (counts)
            count = read_register(index - 1, context);
        __asm__ volatile("" ::: "memory");
        if (p->lock != before || (before & 1) != 0)
            continue;
        if (!counts)
            return false;
        /* The register holds 'width' bits of a signed number. */
        count = (uint64_t)((int64_t)(count << (64 - width)) >> (64 - width));
        out->value = offset + count;
        out->missed_ns = enabled_ns - running_ns;
        return true;
    }
    return false;
}

/* One thread's group.  Plain data: the agent keeps it in the thread's own memory. */
struct counters_thread {
    uint32_t n;                                             /* 0: not open */
    const struct perf_event_mmap_page *pages[COUNTERS_MAX]; /* owned */
    uint64_t missed_ns;                                     /* when it was opened */
};

enum counters_step { COUNTERS_OPEN, COUNTERS_MAP, COUNTERS_FIRST_READ };

/* Where an opening failed. */
struct counters_failure {
    int error; /* errno; 0 after COUNTERS_FIRST_READ: no reads in user space here, or the group does not count */
    enum counters_step step;
    uint32_t i; /* the code's index */
};

/*
 * Open the events as one group for the calling thread.  No file descriptor stays open: the mapped page keeps its event
 * alive, and a guest should not use up its host's descriptors.  n is 1..COUNTERS_MAX.
 *
 * Returns 0, or -1 with *failure set and nothing open.  System calls, but no malloc and no locks.
 */
int counters_thread_open(struct counters_thread *thread, const struct counter_code *codes, uint32_t n,
                         struct counters_failure *failure);

/*
 * The counters' values since the opening, in the codes' order; only the thread itself may call this.  Returns whether
 * they are valid: false when an event does not count at present, or once the group had to wait for other users of the
 * counters (then its values are too small).  No system call; safe in a signal handler.
 */
bool counters_thread_read(const struct counters_thread *thread, uint64_t *values);

/* Unmap, which ends the events.  Any thread may do it when the owner reads no more; does nothing when not open. */
void counters_thread_close(struct counters_thread *thread);

#endif
