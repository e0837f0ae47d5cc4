/*
 * A thread's simulated counters: read by the agent inside the emulator and by the recorder outside of it, from the same
 * memory.  libc only, no malloc, no locks.
 *
 * An event's code has the type COUNTERS_SIMULATED; config is a set of bits, one for each count of enum sim_count that
 * belongs to it: the event is their sum.  SIMULATED_CYCLES alone is the sum of all costs.
 *
 * With windows (core/emu/model/sim_window.h) there are two groups, whose times are not ns but instructions: the first
 * has all instructions, and counts all the time; the second has the events, and counts in windows.
 */
#ifndef CORE_PMU_SIMULATED_H
#define CORE_PMU_SIMULATED_H

#include "core/pmu/perf_open.h"
#include "core/emu/model/sim_slots.h"

#define SIMULATED_CYCLES (UINT64_C(1) << 63)

struct simulated_thread {
    struct sim_slot *slot; /* NULL: not open; shared memory, borrowed */
    const struct sim_costs *cost;
    bool since_base; /* what was counted since the agent began to read */
    bool is_aside;
};

/*
 * The calling thread's counters, whose base is now: for a program in the emulator.  One system call.  is_aside: what
 * the thread does until they are closed is the agent's own work, and is counted for it only: the program's counts stand
 * still.  Returns 0, or an errno: ENOSYS where no simulator is.
 */
int simulated_open(struct simulated_thread *thread, bool is_aside);

/* By the thread that opened them.  Does nothing when not open (slot NULL). */
void simulated_close(struct simulated_thread *thread);

/* Another thread's by its id; returns false when it has not run yet.  since_base is false. */
bool simulated_find(struct sim_slots *slots, int32_t tid, struct simulated_thread *thread);

/* The layout's events, as many as it has. */
void simulated_read(const struct simulated_thread *thread, const struct counter_layout *layout, uint64_t *columns);

/* Tell the simulator something, from a program in it: SIM_TELL_... of core/emu/model/sim_slots.h. */
void simulated_tell(uint64_t what, const void *argument);

#endif
