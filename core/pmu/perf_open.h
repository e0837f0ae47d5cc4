/* The one door to perf_event_open(2), for the CLI and the agent alike: libc only, no malloc, no stdio. */
#ifndef CORE_PMU_PERF_OPEN_H
#define CORE_PMU_PERF_OPEN_H

#include "core/base/err.h"
#include "core/base/std.h"

#include <linux/perf_event.h>

#define COUNTERS_EVENTS_MAX  32                   /* events of one session, whatever they are counted by */
#define COUNTERS_GROUP_MAX   8                    /* hardware events that count together */
#define COUNTERS_SIMULATED   UINT32_C(0x73696d00) /* instead of a type of perf's: see simulated.h */
#define COUNTERS_GROUPS_MAX  16
#define COUNTERS_SLOTS_MAX   64 /* over all groups */
#define COUNTERS_COLUMNS_MAX (COUNTERS_SLOTS_MAX + COUNTERS_GROUPS_MAX + 1)

enum counter_exclude { COUNTER_NO_USER = 1, COUNTER_NO_KERNEL = 2, COUNTER_NO_HYPERVISOR = 4 };

/* An event as the kernel understands it; plain data, so that the CLI can hand it to the agent. */
struct counter_code {
    uint32_t type;    /* perf_event_attr.type */
    uint32_t exclude; /* enum counter_exclude, or-ed */
    uint64_t config, config1, config2;
};

/*
 * How a session's hardware events share the counters: in groups that take turns, each counted as a whole or not at all.
 * Group g has the slots first[g] .. first[g + 1] - 1; an event that is in several groups has a slot in each.  Plain
 * data.
 *
 * Simulated events are one group of any size, or with sampling windows two (simulated.h); then there are no others.
 */
struct counter_layout {
    uint32_t n_groups, n_slots;
    uint32_t first[COUNTERS_GROUPS_MAX + 1];
    struct counter_code codes[COUNTERS_SLOTS_MAX];
    uint8_t event[COUNTERS_SLOTS_MAX]; /* which of the session's events: an index into counter_set.specs */
};

/*
 * Append a group of n events (1..COUNTERS_GROUP_MAX, simulated ones COUNTERS_EVENTS_MAX); events[i] is the index of
 * codes[i].  Returns 0, or -1: no room.
 */
int counter_layout_add(struct counter_layout *layout, const struct counter_code *codes, const uint8_t *events,
                       uint32_t n);

/* Are its events simulated? */
static inline bool counter_layout_is_simulated(const struct counter_layout *layout)
{
    return layout->n_slots > 0 && layout->codes[0].type == COUNTERS_SIMULATED;
}

/* Are the numbers in it within bounds?  For a layout that came from elsewhere. */
bool counter_layout_valid(const struct counter_layout *layout);

/*
 * The values that one reading of a thread has.  One group: each slot's value.  Several groups: each slot's value, each
 * group's time on the counters in ns, and the time in ns in which the thread's groups could have been on the counters.
 * All of them since they were opened.
 */
uint32_t counter_layout_columns(const struct counter_layout *layout);

typedef int counters_perf_open_fn(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* Returns a file descriptor, or -1 with errno set. */
int counters_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* Put fn in the place of the system call (for tests); NULL restores the system call.  Not while threads open. */
void counters_perf_open_replace(counters_perf_open_fn *fn);

/*
 * The attributes with which an event counts one thread: enabled at once, not inherited, readable in user space (on
 * aarch64 that has to be asked for), read(2) gives the whole group (struct counters_reading).
 */
void counters_attr(const struct counter_code *code, struct perf_event_attr *attr);

/* What read(2) of a group's leader gives; of a single event, too. */
struct counters_reading {
    uint64_t n, enabled_ns, running_ns;
    uint64_t values[COUNTERS_GROUP_MAX]; /* in the order of opening */
};

/* Read a group of n events through its leader's descriptor.  Returns false when that fails or there are fewer. */
bool counters_read_group(int leader_fd, uint32_t n, struct counters_reading *reading);

/* As counters_perf_open_replace, for read(2); fn returns whether it filled in *reading. */
typedef bool counters_perf_read_fn(int leader_fd, struct counters_reading *reading);
void counters_perf_read_replace(counters_perf_read_fn *fn);

/* Why perf_event_open refused: the errno in words, with the knob and its present value, and what to do about it. */

/*
 * Append ": REASON" and the next step to err's text.
 *
 * error   the errno
 * code    the event that was refused
 * pid     the process or thread it was for, 0 for the caller
 *
 * Tells by further openings whether it is the event or the machine, the process or the user.  Returns -1.
 */
int perf_why(int error, const struct counter_code *code, pid_t pid, struct err *err);

/* The value of kernel.perf_event_paranoid, or -100 when it cannot be read. */
int perf_paranoid(void);

#endif
