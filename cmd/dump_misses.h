/*
 * 'mmprof dump': an entry of a trace's MISSES chunk as a line.
 */
#ifndef CMD_DUMP_MISSES_H
#define CMD_DUMP_MISSES_H

#include "core/trace/misses.h"

void dump_misses(FILE *out, const struct miss_entry *entry);

#endif
