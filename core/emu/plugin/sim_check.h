/*
 * For tests (test/emu/sim_check.c is linked in place of sim_check_none.c), check=foreseen: is what is foreseen of loads
 * and stores what QEMU tells of them?  Instructions whose accesses are foreseen have a callback, too, which compares;
 * what is simulated stays the same.
 */
#ifndef CORE_EMU_PLUGIN_SIM_CHECK_H
#define CORE_EMU_PLUGIN_SIM_CHECK_H

#include "core/emu/plugin/sim_core.h"

#include <stdio.h>

/* Is it linked?  Else it is not to be asked for. */
bool sim_check_is_there(void);

/* An instruction's accesses are foreseen, the last n_members of foresight, or it has none. */
void sim_check_watch(struct qemu_plugin_insn *insn, const struct sim_foresight *foresight, uint32_t n_members);

/* As sim_enter_fn: what is called for each block. */
qemu_plugin_execute_fn *sim_check_choose(const struct sim_block *block);

/*
 * 'foreseen compared 12 different 0 left 0': left are accesses that were foreseen and not made, in blocks that a fault
 * ended.  Behind it up to 16 lines, 'different at 0x401000: 48 8b 07', of instructions.
 */
void sim_check_print(FILE *out);

#endif
