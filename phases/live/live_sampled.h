/*
 * Methods that samples of a live recording found, and that have no probes.
 */
#ifndef PHASES_LIVE_SAMPLED_H
#define PHASES_LIVE_SAMPLED_H

#include "phases/live/live_session.h"

#define LIVE_SAMPLED_MAX 512u /* methods told of: deep stacks have hundreds with a hundredth of the time */

struct live_sampled {
    const struct candidate *found; /* in the arena, its names the session's until the next choice */
    const char *why;               /* "dear", "loop", ...: mmprof.trace(5) */
    double recompilation_ns;       /* of its class; 0: not known */
};

/*
 * By CPU time, those with the session's weight at least, largest share first, LIVE_SAMPLED_MAX at most; without methods
 * of the JDK that only pass on.
 * Returns 0, or -1 with *err set: no memory.
 */
int live_sampled_list(struct live_session *session, struct arena *arena, struct live_sampled **all, size_t *n,
                      struct err *err);

/* At the end, once: their metadata, for mmprof report, with those that only pass on, and that of those that have such a
 * weight on the wall clock only.  Returns 0, or -1 with *err set. */
int live_sampled_write(struct live_session *session, struct recorder_link *link, struct err *err);

#endif
