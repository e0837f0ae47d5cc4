/*
 * A thread's loads and stores, as QEMU tells of them: each goes into the thread's machine, and some are kept, with
 * where they are (sim_misses.h).
 */
#ifndef CORE_PLUGIN_SIM_ACCESS_H
#define CORE_PLUGIN_SIM_ACCESS_H

#include "core/plugin/sim_core.h"

/* What is called for each of them, for a model, and with windows or without; context: the instruction's address. */
qemu_plugin_memory_fn *sim_access_choose(const struct sim_model *model, bool has_windows);

/* Of instructions with which the interpreter fetches a bytecode, or its operand: see sim_decode_is_dispatch. */
void sim_access_bytecode(unsigned vcpu, uint32_t info, uint64_t address, void *context);

#endif
