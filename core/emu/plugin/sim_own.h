/*
 * The agent's own code in the program: what it fetches, loads and stores goes past the simulated processor, and is
 * counted by itself.
 *
 * The agent tells where its code is (SIM_TELL_OWN); blocks that are translated from then on are told apart by their
 * address, once, and have no callback but one that adds.  So a probe leaves nothing in caches, TLBs and predictors, and
 * is in no count.  What remains is what it makes others execute: the calls in compiled code, the JVM's way into native
 * methods, functions of libc and of the JVM that the agent calls.
 */
#ifndef CORE_EMU_PLUGIN_SIM_OWN_H
#define CORE_EMU_PLUGIN_SIM_OWN_H

#include "core/emu/plugin/sim_core.h"

/* The agent's code is from start to end from now on. */
void sim_own_tell(uint64_t start, uint64_t end);

/* Is a block that begins there the agent's? */
bool sim_own_has(uint64_t address);

/* QEMU shall call for such a block of n instructions. */
void sim_own_watch(struct qemu_plugin_tb *tb, size_t n);

#endif
