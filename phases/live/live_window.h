/*
 * The recompilation window: from the moment that a batch of classes changes until the JIT compilers take no more CPU
 * time than before.  Calls in it are slower than usual, and are left out of all figures.
 *
 * It is told of the state once per round, and says when the window is over and what it cost.  Where the compilers' CPU
 * time is not known, it is as long as most are.
 */
#ifndef PHASES_LIVE_LIVE_WINDOW_H
#define PHASES_LIVE_LIVE_WINDOW_H

#include "phases/live/live_status.h"

/* A window that is over, in ticks. */
struct live_recompilation {
    uint64_t start_ticks, end_ticks;
};

struct live_window {
    uint64_t usual_since_ns, usual_jit_ns; /* where watching the compilers before a batch began */
    double usual_jit;                      /* CPUs that they took before this one */
    uint64_t start_ns, start_ticks, start_cpu_ns, start_jit_ns;
    uint64_t step_ns, step_jit_ns; /* where the present step began */
    uint32_t n_quiet;              /* steps in a row in which they took no more than before */
    double expected_ns;            /* what its classes were expected to cost; 0: not known */
    bool is_cut;                   /* a window went on for longer than it was watched */

    /* Of those that are over. */
    struct live_recompilation *all; /* owned */
    size_t n, room;
    uint64_t ns, cpu_ns;                  /* how long they were, and the target's CPU time in them */
    uint64_t most_ns, more_than_usual_ns; /* the compilers' CPU time in one, at most; in all, more than usual */
    uint64_t discarded_ns;                /* for the code that the first batch discarded; 0: it did not */
};

void live_window_free(struct live_window *window);

/* The compilers are watched from now on: what they do is usual. */
void live_window_watch(struct live_window *window, const struct live_status *now);

/* A batch is ordered.  discards_all: the JVM discards all its code for it. */
void live_window_begin(struct live_window *window, const struct live_status *now, bool discards_all);

/* The classes have changed, or (live_window_cancel) none has: it was no batch. */
void live_window_changed(struct live_window *window, const struct live_status *now, double expected_ns);
void live_window_cancel(struct live_window *window, bool is_first);

/* Do the compilers take no more than before again, or is it watched no longer? */
bool live_window_is_over(struct live_window *window, const struct live_status *now);

/*
 * It ends now.  *more_ns: by how much the compilers took more than was expected; 0: they did not, or it is not known.
 * Returns 0, or -1 with *err set: no memory.
 */
int live_window_end(struct live_window *window, const struct live_status *now, double *more_ns, struct err *err);

#endif
