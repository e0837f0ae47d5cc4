/*
 * The simulated caches that a tool may call (mmprof_tool.h), which are those of 'mmprof record --simulate'
 * (core/emu/model/sim_machine.h).
 */
#ifndef CORE_EMU_TOOL_TOOL_MODEL_H
#define CORE_EMU_TOOL_TOOL_MODEL_H

#include "core/emu/tool/mmprof_tool.h"

extern const struct mmprof_model tool_model;

#endif
