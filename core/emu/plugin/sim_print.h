/*
 * Threads' counts as text: what the plugin writes without a recorder.
 */
#ifndef CORE_EMU_PLUGIN_SIM_PRINT_H
#define CORE_EMU_PLUGIN_SIM_PRINT_H

#include "core/emu/model/sim_slots.h"

#include <stdio.h>

/*
 * A line for each thread: 'thread instructions 12 branches 3 ... cycles 10'; with windows, another one, 'windows light'
 * or 'windows heavy': see sim_windows_have_light.
 */
void sim_print(FILE *out, const struct sim_slots *slots, bool has_light);

#endif
