/* A trace as text, for 'mmprof dump' and for the test of the manual. */
#ifndef CMD_DUMP_H
#define CMD_DUMP_H

#include "core/trace/locations.h"
#include "core/trace/misses.h"
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

/* What mmprof dump prints of code locations. */

/* One line: a file, a symbol, a method or a location. */
void dump_locations(FILE *out, const struct location_entry *entry);

/* 'mmprof dump': an entry of a trace's MISSES chunk as a line. */

void dump_misses(FILE *out, const struct miss_entry *entry);

/*
 * What mmprof dump prints of samples: of stacks, of threads that wait, of allocations; and of the contexts that they
 * are in.
 */

/* Each prints one line. */
void dump_samples_method(FILE *out, uint32_t number, const struct trace_sampled_method *method);
void dump_samples_context(FILE *out, uint32_t number, const struct trace_context *node);
void dump_samples_sample(FILE *out, const struct trace_sample *sample);
void dump_samples_wait(FILE *out, const struct trace_wait *wait);
void dump_samples_virtual(FILE *out, const struct trace_virtual_wait *wait);
void dump_samples_heap_event(FILE *out, const struct trace_heap_event *event);
void dump_samples_pressure(FILE *out, const struct trace_pressure *pressure);
void dump_samples_code(FILE *out, const struct trace_code_change *change);
void dump_samples_allocation(FILE *out, const struct trace_allocation *allocation);

#endif
