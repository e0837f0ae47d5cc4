/*
 * Threads' counts as text: what the plugin writes without a recorder.
 */
#ifndef CORE_PLUGIN_SIM_PRINT_H
#define CORE_PLUGIN_SIM_PRINT_H

#include "core/sim/sim_slots.h"

#include <stdio.h>

/* A line for each thread: 'thread instructions 12 branches 3 ... cycles 10'. */
void sim_print(FILE *out, const struct sim_slots *slots);

#endif
