/*
 * A thread's loads and stores: each goes into the thread's machine, and some are kept, with where they are
 * (sim_misses.h).
 *
 * Most loads and stores of programs for x86-64 are done when their block begins, in groups, with the registers as they
 * are then (core/emu/model/sim_foreseen.h): where the code that QEMU makes calls the plugin, rbp has the address of
 * them, as qemu_flags.h says, and that is believed once it was seen in a system call.  Of the others, and all before
 * that, QEMU tells.  So a block's accesses are not in the order in which the program makes them; all are of the same
 * block, and none is lost or counted twice, with one exception: of a block that is left in its middle by a fault (as
 * HotSpot's implicit null checks are), what is behind the fault is counted, too, as its instructions always were.
 */
#ifndef CORE_EMU_PLUGIN_SIM_ACCESS_H
#define CORE_EMU_PLUGIN_SIM_ACCESS_H

#include "core/emu/plugin/sim_core.h"

/* What is called for each of them, for a model, and with windows or without; context: the instruction's address. */
qemu_plugin_memory_fn *sim_access_choose(const struct sim_model *model, bool has_windows);

/* All that are foreseen of a block, one after the other. */
void sim_access_foreseen(struct sim_core *core, const struct sim_block *block, const uint64_t *registers);

/*
 * Those of a block's group i, whose loads and stores were counted, and not yet done: it is in two lines, or in no
 * recent one.  Of a plain machine with lines of 64 bytes.
 */
void sim_access_group_64(struct sim_core *core, const struct sim_block *block, uint32_t i, const uint64_t *registers);

/* One of those that were done just now is due to be drawn. */
void sim_access_draw(struct sim_core *core, const struct sim_block *block, const uint64_t *registers);

/* Of instructions with which the interpreter fetches a bytecode, or its operand: see sim_decode_is_dispatch. */
void sim_access_bytecode(unsigned vcpu, uint32_t info, uint64_t address, void *context);

#endif
