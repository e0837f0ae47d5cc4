/*
 * What compiled code makes of the calls that were counted: a run of the command as it is, or with probes, at whose code
 * mmprof looks from outside.
 */
#ifndef CMD_LAB_JIT_CALLS_H
#define CMD_LAB_JIT_CALLS_H

#include "report/jit/call_counts.h"

/*
 * Run a command to its end, with what it prints on the standard error, and judge the calls by its code.
 *
 * run     CALLS_WITH_PROBES: with a probe in each method, by 'mmprof record'; its records are thrown away.
 * status  the command's, as a shell tells it.
 *
 * Returns 0, or -1 with *err set: it cannot be run, its code cannot be read, or it had none.
 */
int jit_calls_run(struct call_counts *counts, enum call_run run, char *const *argv, int *status, struct err *err);

#endif
