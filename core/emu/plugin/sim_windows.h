/*
 * The callbacks for blocks with windows (core/emu/model/sim_window.h).
 *
 * Where QEMU has two translations of each block (qemu_flags.h), a thread executes light ones while it skips: they count
 * instructions, and no loads and stores are told.  Heavy ones simulate in windows and their warm-up, and have nothing
 * but the count to do while a thread skips: there, they are all that there is where the thread's flags are not known.
 *
 * A window begins in the first heavy block, however late the thread came there: nothing counts as simulated that was
 * not.  What it was late is taken from what is skipped behind the window.
 */
#ifndef CORE_EMU_PLUGIN_SIM_WINDOWS_H
#define CORE_EMU_PLUGIN_SIM_WINDOWS_H

#include "core/emu/plugin/sim_core.h"

/* For the translation that QEMU is making in this thread: may it be a light one? */
bool sim_windows_are_light(void);

/*
 * QEMU shall call for the light translation of a block.  may_be_again: it, or the block behind it, may not count its
 * first instruction again (sim_blocks.h): then it is kept, by keep, which returns NULL where there is no memory.
 */
void sim_windows_watch_light(struct qemu_plugin_tb *tb, const struct sim_block *block, bool may_be_again,
                             const struct sim_block *(*keep)(const struct sim_block *block));

/* The callback of heavy ones. */
qemu_plugin_execute_fn *sim_windows_choose(const struct sim_block *block);

/* Are there two translations of each block?  From when the first thread's flags are known. */
bool sim_windows_have_light(void);

#endif
