/*
 * What 'mmprof profile' has found so far, for who waits at a terminal: the findings of the trace that is being written,
 * drawn over and over.  A thread of its own reads it, so that the recorder never waits; its CPU time is mmprof's, and
 * the larger it is, the rarer it is spent.
 */
#ifndef CMD_PROFILE_PROGRESS_H
#define CMD_PROFILE_PROGRESS_H

#include "phases/live/live_session.h"

#include <pthread.h>
#include <stdatomic.h>

struct profile_progress {
    FILE *out;                  /* borrowed; NULL: nobody waits */
    const char *trace;          /* borrowed */
    unsigned n_lines;           /* that are shown */
    uint64_t begin_ns, next_ns; /* by CLOCK_MONOTONIC_RAW; next: when the trace is read next */
    pthread_t reader;
    bool is_reading;     /* the thread was started, and not joined */
    atomic_bool is_read; /* the thread has set what follows */
    char *text;          /* owned: what was found; NULL: nothing could be read */
    uint64_t read_ns;    /* CPU time that it took */
    size_t columns;      /* of the terminal */
};

/* out: a terminal, or else nothing is shown.  The first findings are, five seconds after the session has begun. */
void profile_progress_begin(struct profile_progress *progress, const char *trace, FILE *out);
void profile_progress_end(struct profile_progress *progress);

/* A session's view (live_view_fn): context is the progress. */
int profile_progress_round(void *context, struct live_session *session, struct recorder_link *link, struct err *err);

#endif
