/*
 * A thread's simulated counters: read by the agent inside the emulator and by the recorder outside of it, from the same
 * memory (core/emu/model/sim_slots.h).  libc only, no malloc, no locks.
 */
#ifndef CORE_EMU_RUN_SIMULATED_READ_H
#define CORE_EMU_RUN_SIMULATED_READ_H

#include "core/emu/model/sim_slots.h"
#include "core/pmu/simulated.h"

/*
 * The calling thread's counters, whose base is now: for a program in the emulator.  One system call.  is_aside: what
 * the thread does until they are closed is the agent's own work, and is counted for it only: the program's counts stand
 * still.  Returns 0, or an errno: ENOSYS where no simulator is.
 */
int simulated_open(struct simulated_thread *thread, bool is_aside);

/* Another thread's by its id; returns false when it has not run yet.  since_base is false. */
bool simulated_find(struct sim_slots *slots, int32_t tid, struct simulated_thread *thread);

/* Tell the simulator something, from a program in it: SIM_TELL_... of core/emu/model/sim_slots.h. */
void simulated_tell(uint64_t what, const void *argument);

#endif
