/*
 * Running a command whose JVM a tool looks into: in the emulator, with the plugin that runs tools (core/emu/tool) and
 * the agent that tells it of objects.
 */
#ifndef CORE_EMU_RUN_TOOL_RUN_H
#define CORE_EMU_RUN_TOOL_RUN_H

#include "core/base/err.h"

#include <stdint.h>

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

#endif
