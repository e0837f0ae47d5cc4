/* Steps of sampled_tree.c, which divides what probes measured by what samples say. */
#ifndef REPORT_SAMPLED_PARTS_H
#define REPORT_SAMPLED_PARTS_H

#include "core/base/std.h"
#include "phases/tree/calltree.h"
#include "report/sampled_tree.h"
#include "report/source.h"
#include "report/trace_samples.h"

struct sampled_shapes;

/* A whole number, given away in parts by weight, whose sum it is in the end. */

struct division {
    uint64_t all, given;
    double weight, seen; /* of all parts; of those that were given */
};

static inline uint64_t division_take(struct division *d, double weight)
{
    d->seen += weight;
    uint64_t end = d->seen >= d->weight ? d->all : (uint64_t)((double)d->all * (d->seen / d->weight));
    uint64_t part = end > d->given ? end - d->given : 0;
    d->given += part;
    return part;
}

/* One part of several: their weight in all, that of those before it, and its own. */
struct division_share {
    double weight, seen, its;
};

static inline uint64_t division_part(uint64_t all, const struct division_share *share)
{
    struct division d = { .all = all, .weight = share->weight, .seen = share->seen };
    d.given = share->seen <= 0 ? 0 : (uint64_t)((double)all * (share->seen / share->weight));
    return division_take(&d, share->its);
}

/* Where samples saw a method in the calls of another one. */

struct sampled_seen {
    const uint64_t *n; /* by node: samples in it and in what it calls; the arena's */
    uint32_t n_nodes;  /* later ones have none */
    double per_tick;   /* of the roots' time */
};

/*
 * tree      its nodes only; parents stand before what they call
 * measured  whose roots have the time of all samples
 * leaf      by kept sample: its node; CALLTREE_NONE: it is in none
 */
void sampled_seen_count(const struct calltree *tree, const struct calltree *measured,
                        const struct trace_samples *samples, const uint32_t *leaf, struct arena *arena,
                        struct sampled_seen *seen);

/* The outermost context of a method below another one in which most samples were; 0: none. */
uint32_t sampled_seen_below(const struct sampled_seen *seen, const struct calltree *tree, uint32_t top,
                            uint32_t method);

/* The roots of a trace that has nothing but samples. */

/* The part of the JVM whose root a sample is below; where it is the application's, its thread's may be. */
enum vm_part sampled_part(const struct trace_reader *reader, const struct trace_kept_sample *sample);

/*
 * A tree as if probes had measured the threads, and no call: the samples' time is the roots' own.
 *
 * per_thread  a root for each thread; else one for each part of the JVM.
 *
 * The arena's.
 */
struct calltree *sampled_roots(const struct report_source *source, const struct trace_samples *samples,
                               bool per_thread);

/* Which root a thread is below: its own, or that of its part of the JVM. */
struct sampled_root_of {
    uint32_t of_part[VM_PARTS], n_threads, none;
    const uint32_t *of_thread; /* the arena's */
};

struct sampled_root_of sampled_root_of(const struct calltree *tree, struct arena *arena);

/* The index of a root, or 'none', their number. */
static inline uint32_t sampled_root(const struct sampled_root_of *roots, enum vm_part part, uint32_t thread)
{
    uint32_t own = thread < roots->n_threads ? roots->of_thread[thread] : roots->none, shared = roots->of_part[part];
    return own < shared ? own : shared;
}

/*
 * The sampled tree on the wall clock: what threads have, and which contexts it is divided among.
 *
 * A thread that ran probes has the wall time that these measured; another one its CPU time as the kernel accounts it,
 * and what its samples say that it waited; the JVM's own threads have their CPU time.
 */

/*
 * Set the nodes' own wall time.
 *
 * source      as it is without samples
 * leaf        by kept sample: its node in tree, or CALLTREE_NONE
 * idle_ticks  waiting for work, which is no node's
 *
 * Returns by kept sample what its node was given, or what is idle of it, in the arena.
 */
uint64_t *sampled_wall_divide(const struct report_source *source, const struct trace_samples *samples,
                              const uint32_t *leaf, struct calltree *tree, uint64_t *idle_ticks);

/* Set thread_ticks and other_ticks; of a tree with its totals. */
void sampled_wall_threads(const struct report_source *source, const struct calltree *tree,
                          const struct trace_samples *samples, struct sampled_tree *sampled);

/*
 * Where calls that were under way when their class got probes have ended, by what samples say.
 *
 * Such a call's frame runs the code of before, without probes: it ends, for the records, with the thread's next one.
 * That may be seconds later, and what ran in between has no time then, though samples saw it.
 */

/* A recorded context's own time, and the samples in it that were in no other one that it calls. */
struct own_time {
    uint64_t ticks, n_samples;
    double weight;
};

/*
 * Divide the own time of such calls and their callers as their samples are, where these contradict it.
 *
 * own       by node of the tree
 * is_ended  by method, false before; set where calls ended before the records say so: when is known to what the samples
 *           tell, and of their waiting, switches, faults and counts it is not known what was before it.  None of them
 *           is open.
 *
 * Returns a copy of the tree, or the tree itself where no sample contradicts it.  The arena's.
 */
const struct calltree *sampled_ends(const struct calltree *tree, const struct own_time *own, bool *is_ended,
                                    struct arena *arena);

/*
 * Which phases have another shape in compiled code since they got probes, as stack samples tell: they say whether the
 * innermost call was inlined or had code of its own.  Nothing of the JVM is asked for, so every trace with samples from
 * before and after has it, without --jit-log (phases/tree/jit_shape.h).
 *
 * A call of a method in another one, at one place, counts as lost where it was inlined in most samples of compiled code
 * before one of the two got probes, and in few since.  That other compilations changed it is not ruled out; a place of
 * which there are few samples says nothing.
 */

#define SAMPLED_SHAPES_LEAST 12  /* samples before, and since */
#define SAMPLED_SHAPES_MOST  0.8 /* inlined in this part of them before, */
#define SAMPLED_SHAPES_FEW   0.2 /* and in this part since */

/*
 * source  with samples: report/sampled_tree.h.
 *
 * *shapes: the arena's; NULL: no call was lost, or no samples tell.
 */
void sampled_shapes_find(const struct report_source *source, const struct sampled_shapes **shapes);

/* Of a method by its number in the tree: its callers and callees.  Returns false: nothing is known of it. */
bool sampled_shapes_of(const struct sampled_shapes *shapes, uint32_t method, struct jit_shape *shape);

#endif
