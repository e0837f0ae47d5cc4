/*
 * A recording's command in an emulator, whose plugin simulates the processor (core/recorder/simulation.h).
 */
#ifndef CORE_EMU_RUN_SIMULATION_RUN_H
#define CORE_EMU_RUN_SIMULATION_RUN_H

#include "core/emu/model/sim_slots.h"
#include "core/emu/run/misses_log.h"
#include "core/recorder/simulation.h"

#include <limits.h>

/* The first four are set by who makes it, the rest is zeroed. */
struct simulation_run {
    struct sim_model model;
    struct sim_window window; /* all zero: all is simulated */
    uint32_t sets;            /* one of so many sets of the caches is simulated; 0: all */
    bool counts_only;         /* misses are not kept */
    struct sim_slots *slots;  /* mapped, the plugin counts in them; NULL: it is not open */
    size_t n_bytes;
    int fd;     /* of that memory, which the plugin opens by its path in /proc, and the log's */
    int log_fd; /* of misses; -1: they are not kept */
    struct misses_log misses;
    char emulator[PATH_MAX];
    char program[PATH_MAX];    /* java itself; empty: of another command, the first JVM goes into the emulator */
    char plugin[2 * PATH_MAX]; /* the emulator's option: the library and its arguments */
};

/* What the recorder asks of it; run is borrowed. */
struct recorder_simulation simulation_run_of(struct simulation_run *run);

/*
 * The emulator's option for a plugin of ours that is beside the agent's library: its path, in which commas are doubled.
 * Returns its length, or -1 with *err set: it is not there.
 */
int simulation_name_plugin(const char *agent, const char *library, char *option, size_t n, struct err *err);

/* Append a text in which commas are doubled; what does not fit is left out. */
void simulation_append(char *option, size_t n, const char *text);

#endif
