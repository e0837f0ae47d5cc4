/*
 * What is called for blocks where a sample of the caches' sets is simulated (core/emu/model/sim_sets.h), in place of
 * sim_enter.h.
 *
 * Of seven lines of eight nothing is done but to look at three bits of their address, and at their page; and not at the
 * page of code that the block before was in, too.
 */
#ifndef CORE_EMU_PLUGIN_SIM_SAMPLED_H
#define CORE_EMU_PLUGIN_SIM_SAMPLED_H

#include "core/emu/plugin/sim_core.h"

/* As those that sim_enter_choose and sim_enter_choose_simulated choose. */
qemu_plugin_execute_fn *sim_sampled_choose(const struct sim_block *block);
void sim_sampled_enter(struct sim_core *core, const struct sim_block *before, const struct sim_block *block,
                       const void *state);

#endif
