/*
 * A trace as text, for 'mmprof dump' and for the test of the manual.
 */
#ifndef CMD_DUMP_H
#define CMD_DUMP_H

#include "core/trace/trace.h"

/*
 * Print what the reader gives, from where it stands to its end.
 *
 * with_events  print a line for each event, not only the definitions.
 * ns_per_tick  0: times are printed in ticks.
 *
 * Returns 0, or -1 with *err set; what was read before is printed.
 */
int dump_trace(FILE *out, struct trace_reader *reader, bool with_events, double ns_per_tick, struct err *err);

#endif
