/*
 * Names of the functions of a program's files, for the recorder: it writes those in which threads were found into the
 * trace.
 */
#ifndef CMD_RECORDING_SYMBOLS_H
#define CMD_RECORDING_SYMBOLS_H

#include "core/recorder/ip_samples.h"

/* struct recorder_symbols' name; context is the arena in which the result lives. */
const char *recording_name_functions(void *context, const char *path, const char *build_id, const uint64_t *offsets,
                                     size_t n, ip_samples_found_fn *found, void *found_context);

#endif
