/*
 * A command that runs in an emulator, on a simulated processor: what the recorder asks of it.  Only mmprof-lab has one
 * (core/emu/run/simulation_run.h); here are the interface, and where the emulator is.
 */
#ifndef CORE_RECORDER_SIMULATION_H
#define CORE_RECORDER_SIMULATION_H

#include "core/base/progress.h"
#include "core/pmu/simulated.h"
#include "core/recorder/ip_samples.h"
#include "core/recorder/launch.h"
#include "core/recorder/recorder.h"
#include "core/recorder/threads.h"

struct recorder_simulation {
    void *context;     /* of all functions */
    const char *model; /* the processor's name */
    bool counts_only;  /* where misses are is not kept */

    /* Prepare it for plan->argv.  *how is borrowed.  Returns 0, or -1 with *err set and nothing open. */
    int (*open)(void *context, const struct recorder_plan *plan, struct launch_emulator *how, struct err *err);

    /* Whose threads and code its log of misses is of; borrowed. */
    void (*begin)(void *context, struct ip_samples *ip_samples, struct threads *threads);

    /* A thread's counters; since_base is false.  Returns false when it has not run yet. */
    bool (*find)(void *context, int32_t tid, struct simulated_thread *thread);

    /* Instructions of the program so far. */
    uint64_t (*n_instructions)(const void *context);

    /*
     * Write the logged misses that have waited long enough, or with is_last all.  now_ns: CLOCK_MONOTONIC_RAW;
     * until_ticks: what was logged before has waited.  Returns 0, or -1 with *err set.
     */
    int (*write_log)(void *context, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks, bool is_last,
                     struct err *err);

    /* Metadata of the beginning and of the end.  Returns 0, or -1 with *err set. */
    int (*write_model)(const void *context, struct trace_writer *writer, struct err *err);
    int (*write_end)(const void *context, struct trace_writer *writer, struct err *err);

    /* Does nothing when not open. */
    void (*close)(void *context);
};

/* The emulator for this machine's programs, "qemu-x86_64", on the PATH.  Returns 0, or -1 with *err set. */
int simulation_find_emulator(char *path, size_t n, struct err *err);

/* How far a simulation is. */
struct simulation_state {
    uint64_t n_instructions;  /* that the program has executed, all threads of it */
    double cpu_s;             /* CPU time of the emulator for it; 0: not known */
    double alone_cpu_s;       /* CPU time that the whole program takes without simulation; 0: not known */
    double elapsed_s, left_s; /* left_s: until the recording ends; below 0: not known */
};

/* "1.23 G instructions, 45.6 M in a second of CPU time"; the text is at most n bytes long. */
void simulation_describe(const struct simulation_state *state, char *text, size_t n);

/* A progress line: as above, and times the program alone, and what is left, '-' where that is not known. */
void simulation_progress(const struct simulation_state *state, struct progress *progress);

#endif
