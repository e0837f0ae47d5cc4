/*
 * The CPU quota of the program's container, and for how long it stopped the program.
 */
#ifndef REPORT_VIEW_QUOTA_H
#define REPORT_VIEW_QUOTA_H

#include "report/format/table.h"
#include "report/source.h"

struct quota {
    double cpus; /* that it allows; 0: there is none, or the trace does not say */
    double n_throttled, throttled_ns;
};

struct quota quota_read(const struct report_source *source);

/* "the container's CPU quota (0.20 CPUs) stopped the program 104 times for 7.10 s"; NULL: no memory. */
const char *quota_words(const struct report_source *source, const struct quota *quota);

/* For times off the CPU: a note where the quota stopped the program for more than 1 % of its CPU time. */
void quota_note(const struct report_source *source, struct table *table);

#endif
