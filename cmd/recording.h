/*
 * What 'record' and 'profile' share: a recording's options, and running it.
 */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "cmd/commands.h"
#include "cmd/live_session.h"
#include "core/recorder/recorder.h"

struct recording {
    uint64_t pid, min_bytecodes, ring_bytes;
    double duration_s;
    const char *output, *phases, *events; /* phases, events: NULL when not given */
    struct options_list includes, excludes;
    bool quiet;
    struct live_session *live; /* NULL: not live; borrowed */
    char *const *command;      /* NULL when attaching */
};

#define RECORDING_DEFAULTS                                                          \
    {                                                                               \
        .min_bytecodes = 50, .ring_bytes = UINT64_C(8) << 20, .output = "trace.dat" \
    }

/* Rows of the options that both commands have; the caller adds its own and the closing row. */
#define RECORDING_ROWS(r)                                                                                              \
    { 'p', "pid", "PID", OPTION_NUMBER, &(r).pid, "attach to this running JVM" },                                      \
        { 'd', "duration", "SECONDS", OPTION_SECONDS, &(r).duration_s, "stop after this time (default: at the end)" }, \
        { 'e', "events", "LIST", OPTION_TEXT, &(r).events, "count these events, as 'mmprof list' names them" },        \
        { 0,                                                                                                           \
          "min-bytecodes",                                                                                             \
          "N",                                                                                                         \
          OPTION_NUMBER,                                                                                               \
          &(r).min_bytecodes,                                                                                          \
          "instrument methods with more than N bytes of bytecode, or a loop (50)" },                                   \
        { 0, "include", "PATTERN", OPTION_LIST, &(r).includes, "only methods that match, e.g. 'com/example/*'" },      \
        { 0, "exclude", "PATTERN", OPTION_LIST, &(r).excludes, "no methods that match, e.g. 'java/util/*.get*'" },     \
        { 0, "buffer", "SIZE", OPTION_SIZE, &(r).ring_bytes, "memory per thread for records on their way (8M)" },      \
    {                                                                                                                  \
        'q', "quiet", NULL, OPTION_FLAG, &(r).quiet, "no progress, no summary"                                         \
    }

/* Set command to what is behind the options; check that there is one target.  Returns 0, or -1 with *err set. */
int recording_target(struct recording *recording, int argc, char **argv, int n_parsed, const char *name,
                     struct err *err);

/* Record, with progress and a summary on stderr.  Returns 0, or -1 with *err set. */
int recording_run(const struct recording *recording, struct recorder_summary *summary, struct err *err);

#endif
