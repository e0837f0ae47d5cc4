/* A recording's command in an emulator, whose plugin simulates the processor (core/recorder/simulation.h). */
#ifndef CORE_EMU_RUN_SIMULATION_RUN_H
#define CORE_EMU_RUN_SIMULATION_RUN_H

#include "core/base/err.h"
#include "core/emu/model/sim_slots.h"
#include "core/recorder/ip_samples.h"
#include "core/recorder/simulation.h"
#include "core/recorder/threads.h"
#include "core/trace/misses.h"

/*
 * From the plugin's log of misses into the trace: addresses of instructions become code locations, thread ids become
 * threads.  Which bytecode an instruction is from the plugin says by the code that was at its address some time later:
 * it is told where it agrees with what the JVM told of the code that was there then.
 *
 * What is in the log waits until the JVM has told what code was there: it tells some ms late, and in an emulator later.
 */

struct misses_log {
    int fd;                        /* borrowed; -1: none */
    struct ip_samples *ip_samples; /* borrowed, as the threads */
    struct threads *threads;       /* who is in the log is known by then */
    uint64_t read_bytes;
    uint8_t *bytes;        /* owned: a piece of the log */
    uint64_t maps_read_ns; /* when */
    bool is_damaged;
    /* The bytecode of the entries that follow, plus 1; of each, its index in its method; of a location, what was told.
     */
    uint32_t bytecode;
    uint16_t *indexes; /* owned */
    size_t indexes_room;
    struct hash_set told;
};

void misses_log_init(struct misses_log *log, int fd, struct ip_samples *ip_samples, struct threads *threads);
void misses_log_free(struct misses_log *log);

/*
 * Write what has waited long enough, or with is_last all.  now_ns: CLOCK_MONOTONIC_RAW; until_ticks: what was logged
 * before has waited.  Returns 0, or -1 with *err set.
 */
int misses_log_write(struct misses_log *log, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks,
                     bool is_last, struct err *err);

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

/*
 * Running a command whose JVM a tool looks into: in the emulator, with the plugin that runs tools (core/emu/tool) and
 * the agent that tells it of objects.
 */

struct tool_run_plan {
    char *const *argv;       /* the command */
    const char *agent;       /* the agent's library; the plugin is beside it */
    const char *tool;        /* a library; NULL: the one that writes address traces, which is there, too */
    const char *argument;    /* the tool's */
    const char *output;      /* a file; NULL: none */
    uint64_t interval_bytes; /* tell of one object in about so many bytes; 0: of all */
    /*
     * Another plugin that is beside the agent, NULL: that which runs tools; and its options, "KEY=VALUE", up to NULL.
     * Of the above, it gets only the file.
     */
    const char *plugin;
    const char *const *options;
};

/*
 * Run it to its end.  *status: the command's, or 128 and the signal that ended it.  Returns 0, or -1 with *err set: it
 * could not be run.
 */
int tool_run(const struct tool_run_plan *plan, int *status, struct err *err);

/*
 * Running a command whose JVM counts all objects that it creates (core/agent/lab/lab.h), receivers of calls,
 * or calls by their stacks.
 */
enum counted_kind { COUNT_OBJECTS, COUNT_RECEIVERS, COUNT_CALLS };

struct counted_run_plan {
    char *const *argv;        /* the command */
    const char *agent;        /* the agent's library */
    const char *path;         /* of an empty file, for the counts */
    const char *const *flags; /* of the JVM, or NULL: as launch_fork has them */
    enum counted_kind what;
    uint32_t number;    /* of calls, one in so many is counted; of objects with a method, in which of its calls */
    const char *method; /* objects only in a call of it (core/agent/lab/count_entries.h); NULL: all */
};

/*
 * Run it to its end; what it prints goes to the standard error.  *status: the command's, as a shell tells it.
 *
 * Returns 0, or -1 with *err set: it could not be run.
 */
int counted_run(const struct counted_run_plan *plan, int *status, struct err *err);

#endif
