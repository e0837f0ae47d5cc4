/*
 * The callbacks for blocks without windows: the thread enters a block, and what is foreseen of its loads and stores is
 * done.
 */
#ifndef CORE_EMU_PLUGIN_SIM_ENTER_H
#define CORE_EMU_PLUGIN_SIM_ENTER_H

#include "core/emu/plugin/sim_core.h"

/* What chooses the callback of each block, with the block as its context. */
typedef qemu_plugin_execute_fn *sim_enter_fn(const struct sim_block *block);

/* A block of any shape, and also a thread's first one, or one while it is paused; as qemu_flags.h calls. */
void sim_enter_any(unsigned vcpu, const struct sim_block *block, const void *state, const uint8_t *returns_to);

sim_enter_fn *sim_enter_choose(const struct sim_model *model);

/* With windows. */
sim_enter_simulated_fn *sim_enter_choose_simulated(const struct sim_model *model);

#endif
