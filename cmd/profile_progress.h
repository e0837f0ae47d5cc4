/*
 * What 'mmprof profile' has found so far, for who waits at a terminal: the table of 'mmprof top', drawn over and over.
 */
#ifndef CMD_PROFILE_PROGRESS_H
#define CMD_PROFILE_PROGRESS_H

#include "cmd/top_sampled.h"
#include "cmd/top_table.h"

struct profile_progress {
    struct top_table table;
    struct top_sampled sampled;
    FILE *out;        /* borrowed; NULL: nobody waits */
    unsigned n_lines; /* that are shown */
    uint64_t next_ns; /* when they are drawn next, by CLOCK_MONOTONIC_RAW */
    bool has_begun;   /* the table: the session has */
};

/* out: a terminal, or else nothing is shown.  Five seconds from now the first table is. */
void profile_progress_begin(struct profile_progress *progress, FILE *out);
void profile_progress_end(struct profile_progress *progress);

/* A session's view (live_view_fn): context is the progress. */
int profile_progress_round(void *context, struct live_session *session, struct recorder_link *link, struct err *err);

#endif
