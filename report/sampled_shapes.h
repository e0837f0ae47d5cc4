/*
 * Which phases have another shape in compiled code since they got probes, as stack samples tell: they say whether the
 * innermost call was inlined or had code of its own.  Nothing of the JVM is asked for, so every trace with samples from
 * before and after has it, without --jit-log (phases/tree/jit_shape.h).
 *
 * A call of a method in another one, at one place, counts as lost where it was inlined in most samples of compiled code
 * before one of the two got probes, and in few since.  That other compilations changed it is not ruled out; a place of
 * which there are few samples says nothing.
 */
#ifndef REPORT_SAMPLED_SHAPES_H
#define REPORT_SAMPLED_SHAPES_H

#include "report/source.h"

#define SAMPLED_SHAPES_LEAST 12  /* samples before, and since */
#define SAMPLED_SHAPES_MOST  0.8 /* inlined in this part of them before, */
#define SAMPLED_SHAPES_FEW   0.2 /* and in this part since */

struct sampled_shapes;

/*
 * source  with samples: report/sampled_tree.h.
 *
 * *shapes: the arena's; NULL: no call was lost, or no samples tell.
 */
void sampled_shapes_find(const struct report_source *source, const struct sampled_shapes **shapes);

/* Of a method by its number in the tree: its callers and callees.  Returns false: nothing is known of it. */
bool sampled_shapes_of(const struct sampled_shapes *shapes, uint32_t method, struct jit_shape *shape);

#endif
