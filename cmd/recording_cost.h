/*
 * What a recording cost, in the words of its last lines: the numbers are those that 'mmprof report' prints of its
 * trace.
 */
#ifndef CMD_RECORDING_COST_H
#define CMD_RECORDING_COST_H

#include <stdio.h>

/* Say what the recording cost that wrote a trace; of one that cannot be read again, nothing. */
void recording_tell_cost(const char *path, const char *prefix, FILE *out);

#endif
