/*
 * What the plugin is told when it is loaded: where the recorder's memory is, or what to do without one.
 */
#ifndef CORE_EMU_PLUGIN_SIM_ARGUMENTS_H
#define CORE_EMU_PLUGIN_SIM_ARGUMENTS_H

#include "core/emu/model/sim_slots.h"

/* Says why the simulator cannot start.  Returns -1. */
int sim_arguments_refuse(const char *what);

/*
 * memory=, or model=, then window= or check=, and out=; log=.  Sets *slots, *out to the file that out= names, which
 * stays allocated, and *is_checked.  Returns 0, or -1 when it said why not.
 */
int sim_arguments_read(int argc, char **argv, struct sim_slots **slots, const char **out, bool *is_checked);

#endif
