/*
 * What tells a recording from others: the columns that all rows of a run have alike.
 */
#ifndef REPORT_FLEET_FLEET_RUN_H
#define REPORT_FLEET_FLEET_RUN_H

#include "core/base/arena.h"
#include "core/trace/trace.h"
#include "report/fleet/fleet_rows.h"

/* Texts are the arena's; NULL: not known. */
struct fleet_run {
    const char *run; /* HOST-PID-START: START in ns since 1970, of the first of a recording's files */
    uint32_t file;   /* of these, from 1 on */
    const char *host, *service, *version;
    const char *jdk, *gc, *cpu_model;
    const char *simulated; /* the model that events are of; NULL: they are the hardware's */
};

/* Returns 0, or -1: no memory. */
int fleet_run_find(const struct trace_reader *reader, const struct fleet_options *options, struct arena *arena,
                   struct fleet_run *run);

#endif
