/*
 * Of how many misses it is known whose memory and which code it was, and why not of the others.
 */
#ifndef REPORT_VIEW_MISSES_KNOWN_H
#define REPORT_VIEW_MISSES_KNOWN_H

#include "report/view/misses_report.h"

/* The agent, its probes, and its thread. */
bool misses_are_ours(const struct misses_tally *tally, const struct code_function *function);

/* A row for each step of the recording; as misses_table. */
int misses_time_table(const struct report_source *source, struct misses *misses, struct table *table, struct err *err);

/* The same, of what was in the caches. */
int misses_contents_table(const struct report_source *source, struct misses *misses, struct table *table,
                          struct err *err);

/* All instructions that the simulated processor executed; 0: not known. */
double misses_instructions(const struct report_source *source);

/* With a sample of sets: the columns of misses of caches are headed as estimates. */
void misses_mark_estimates(const struct report_source *source, struct table *table);

/* Metadata and notes of a table: how many there were; of how many what is known. */
void misses_tell_totals(const struct report_source *source, const struct misses *misses, struct table *table);
void misses_tell_known(const struct report_source *source, struct misses *misses, struct table *table);

#endif
