/* Which events take samples: chosen, and refused with the reason, on machines that are made up here. */
#include "core/perf/perf_rings.h"
#include "core/pmu/events.h"

#include "test/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* What the PMU of the machine is like. */
static bool has_interrupts, is_for_root;
static uint8_t precise_max;
static uint32_t n_counters;
static int leader = -1;
static uint32_t n_opened, n_counting; /* of the group; of them those that take a counter */

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    (void)pid, (void)cpu, (void)flags;
    bool is_hardware = attr->type == PERF_TYPE_HARDWARE;
    if (group_fd < 0)
        n_opened = n_counting = 0;
    errno = is_for_root && !attr->exclude_kernel                         ? EACCES
            : is_hardware && attr->sample_period != 0 && !has_interrupts ? EOPNOTSUPP
            : is_hardware && attr->precise_ip > precise_max              ? EOPNOTSUPP
            : is_hardware && n_counting >= n_counters                    ? EINVAL
                                                                         : 0;
    if (errno != 0)
        return -1;
    n_opened++;
    n_counting += is_hardware;
    leader = group_fd < 0 ? dup(0) : leader;
    return group_fd < 0 ? leader : dup(0);
}

static bool read_values(int leader_fd, struct counters_reading *reading)
{
    (void)leader_fd;
    *reading = (struct counters_reading){ .n = n_opened, .enabled_ns = 1, .running_ns = 1 };
    return true;
}

static const struct {
    const char *claim, *list;
    bool has_interrupts, is_for_root;
    uint8_t precise_max;
    uint32_t n_counters;
    const char *refusal; /* or NULL */
} rows[] = {
    { "one event", "cycles", true, false, 0, 4, NULL },
    { "and what is read with it", "cycles,instructions", true, false, 0, 4, NULL },
#ifdef __x86_64__
    { "a precise level that there is", "cycles:precise=2", true, false, 3, 4, NULL },
    { "the same as perf writes it", "cycles:upp", true, false, 3, 4, NULL },
#endif
    { "one that there is not", "cycles:precise=3", true, false, 2, 4,
      "'cycles:precise=3' takes no samples: this PMU has no such precise level\n  next: " },
    { "a PMU that counts only", "cycles", false, false, 0, 4,
      "'cycles' counts, but takes no samples: the PMU gives no interrupts for it\n  next: take samples by a clock "
      "(-e cpu-clock,cycles)" },
    { "which a clock reads", "cpu-clock,cycles", false, false, 0, 4, NULL },
    { "more events than counters", "cycles,instructions,cache-misses", true, false, 0, 2,
      "'cache-misses' does not count next to the events before it: this CPU has too few counters\n  next: " },
    { "a precise level of an event that takes none", "cycles,instructions:precise=1", true, false, 3, 4,
      "'instructions:precise=1' has a precise level, but only the first event takes samples\n"
      "  next: " },
    { "nine events", "cycles,instructions,cache-misses,r1,r2,r3,r4,r5,r6", true, false, 0, 16,
      "9 events are too many to be read with each sample\n  next: " },
    { "a clock goes on without the kernel", "cpu-clock", true, true, 0, 4, NULL },
    { "switches do not: they are in the kernel", "context-switches", true, true, 0, 4,
      "'context-switches' takes no samples: Permission denied" },
    { "no event at all", "nonsense", true, false, 0, 4, "unknown event 'nonsense'" },
};

int main(void)
{
    counters_perf_open_replace(open_event);
    counters_perf_read_replace(read_values);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena = { 0 };
        struct counter_set set;
        struct kernel_trigger trigger;
        struct err err = { "" };
        has_interrupts = rows[i].has_interrupts;
        is_for_root = rows[i].is_for_root;
        precise_max = rows[i].precise_max;
        n_counters = rows[i].n_counters;
        int rc = trigger_choose(rows[i].list, 0, &arena, &set, &trigger, &err);
        bool is_right = rows[i].refusal == NULL
                            ? rc == 0 && trigger.n == set.n
                            : rc < 0 && strncmp(err.text, rows[i].refusal, strlen(rows[i].refusal)) == 0;
        if (!CHECK(rows[i].claim, is_right))
            printf("# is '%s'\n", err.text);
        arena_free(&arena);
    }
    counters_perf_open_replace(NULL);
    counters_perf_read_replace(NULL);
    return tap_done();
}
