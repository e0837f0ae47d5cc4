/* The one call tree: contexts that probes recorded, and those that stack samples saw, below them and around them. */
#ifndef REPORT_SAMPLED_TREE_H
#define REPORT_SAMPLED_TREE_H

#include "report/source.h"
#include "report/trace_samples.h"

#define SAMPLED_MARK  " [sampled]" /* behind the names of methods that had no probes, in trees and exports */
#define SAMPLED_LEAST 5            /* fewer samples divide no time */

/* What is known of a tree that has samples in it.  All borrowed; the arena's. */
struct sampled_tree {
    const struct calltree *measured; /* what probes alone know */
    const struct calltree *ended;    /* the same, but for the ends of calls that no probe saw (report/sampled_ends.c) */
    const struct trace_samples *samples;
    const struct method_name *names; /* of methods that only samples know: n of them, the tree's from number first on */
    uint32_t first, n;
    const uint32_t *number_of;      /* by method: its number in the samples' profile; CALLTREE_NONE: it has none */
    const uint64_t *probe_ticks;    /* by node: of its total on the CPU, what probes measured in its own calls */
    const uint64_t *n_samples;      /* by node: samples in calls of it that no probe recorded */
    const uint64_t *method_samples; /* by method: the same, each sample once */
    const bool *is_ended;           /* by method: samples tell the end of calls that were under way */
    const uint32_t *leaf;           /* by kept sample: its node; CALLTREE_NONE: it is in none */
    const uint32_t *anchor;         /* by kept sample that has a leaf: the node of 'measured' that recorded then */
    /* On the wall clock of a live recording. */
    const uint64_t *kept_ticks;   /* by kept sample: what was given to its leaf, or was idle; NULL: another clock */
    const uint64_t *thread_ticks; /* by thread: its time, but for waiting without work; NULL: on another clock */
    uint64_t other_ticks;         /* of the application's threads that are below no root */
    uint64_t idle_ticks;          /* of those below roots: waiting without work, which is in no context */
};

/*
 * A copy of the source with such a tree.  Samples divide the time that probes measured: a recorded context's own time,
 * and the time outside of all of them, is that of the stacks that samples saw in it then, as often as they did.  So the
 * sums of recorded contexts, and of threads, stay what was measured.  A recorded context stands in the calls of what
 * the samples saw around it; where these are several, its calls are divided, too.  A sample is in a recorded context if
 * the methods' probes recorded at its moment.
 *
 * samples  of this trace; all of it has been read.
 *
 * The copy is the source itself where the trace has no samples, or on the wall clock none of threads that wait
 * (report/waiting_samples.h).  Where there are, they alone tell the wall time of contexts: a call that was under way
 * when its method got probes was not recorded, and may have waited for long.  What waits for work is in no context.
 *
 * A trace that has nothing but samples gets a root for each part of the JVM, or with per_thread for each thread.
 *
 * The copy's tree lives in the arena.
 */
void sampled_tree(const struct report_source *source, const struct trace_samples *samples, bool per_thread,
                  struct report_source *with);

/* Of a time on the source's clock, what probes measured and no sample. */
static inline double sampled_measured(const struct report_source *source, double probe_ticks)
{
    return source->sampled != NULL && source->sampled->thread_ticks != NULL ? 0 : probe_ticks;
}

/* Is it a method that only samples know? */
static inline bool sampled_is(const struct report_source *source, uint32_t method)
{
    const struct sampled_tree *sampled = source->sampled;
    return sampled != NULL && method >= sampled->first && method - sampled->first < sampled->n;
}

/*
 * Whether only samples tell of a method: no call of it began while it had probes.  Without samples its time is of calls
 * that had begun before the trace (the file of a recording in several ones).
 */
static inline bool sampled_alone(const struct report_source *source, const struct calltree_total *total)
{
    return source->sampled != NULL && total->calls == 0;
}

#endif
