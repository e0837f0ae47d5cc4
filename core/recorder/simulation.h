/*
 * A command that runs in an emulator, whose plugin simulates the processor: where the emulator is, and the memory in
 * which the plugin counts.
 */
#ifndef CORE_RECORDER_SIMULATION_H
#define CORE_RECORDER_SIMULATION_H

#include "core/base/err.h"
#include "core/base/progress.h"
#include "core/emu/model/sim_slots.h"
#include "core/trace/recording_info.h"

#include "core/recorder/recorder.h"

#include <limits.h>

struct simulation {
    struct sim_slots *slots; /* mapped; NULL: there is no simulation */
    size_t n_bytes;
    int fd;     /* of that memory, which the plugin opens by its path in /proc, and the log's */
    int log_fd; /* of misses; -1: they are not kept */
    char emulator[PATH_MAX];
    char program[PATH_MAX];    /* java itself; empty: of another command, the first JVM goes into the emulator */
    char plugin[2 * PATH_MAX]; /* the emulator's option: the library and its arguments */
};

/* The emulator for this machine's programs, "qemu-x86_64", on the PATH.  Returns 0, or -1 with *err set. */
int simulation_find_emulator(char *path, size_t n, struct err *err);

/* Whether a command is java itself: its binary is at *path then, which is empty otherwise. */
bool simulation_find_java(const char *command, char *path, size_t n);

/*
 * The emulator's option for a plugin of ours that is beside the agent's library: its path, in which commas are doubled.
 * Returns its length, or -1 with *err set: it is not there.
 */
int simulation_name_plugin(const char *agent, const char *library, char *option, size_t n, struct err *err);

/* Append a text in which commas are doubled; what does not fit is left out. */
void simulation_append(char *option, size_t n, const char *text);

/*
 * Prepare it for plan->argv; the plugin's library is beside the agent's.  Returns 0, or -1 with *err set and nothing
 * open.
 */
int simulation_open(struct simulation *simulation, const struct recorder_plan *plan, struct err *err);

/* How far a simulation is. */
struct simulation_state {
    uint64_t n_instructions;  /* that the program has executed, all threads of it */
    double cpu_s;             /* CPU time of the emulator for it; 0: not known */
    double alone_cpu_s;       /* CPU time that the whole program takes without simulation; 0: not known */
    double elapsed_s, left_s; /* left_s: until the recording ends; below 0: not known */
};

uint64_t simulation_instructions(const struct simulation *simulation);

/* At the end: what of the agent's own code was left out, how exact a sample of sets is.  Without a simulation nothing;
 * returns 0, or -1 with *err set.
 */
int simulation_write_info(const struct simulation *simulation, struct trace_writer *writer, struct err *err);

/* "1.23 G instructions, 45.6 M in a second of CPU time"; the text is at most n bytes long. */
void simulation_describe(const struct simulation_state *state, char *text, size_t n);

/* A progress line: as above, and times the program alone, and what is left, '-' where that is not known. */
void simulation_progress(const struct simulation_state *state, struct progress *progress);

/* Does nothing when not open (zeroed). */
void simulation_close(struct simulation *simulation);

#endif
