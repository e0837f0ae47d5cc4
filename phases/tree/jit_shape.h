/*
 * Which phases have another shape in compiled code because of their probes.
 *
 * A method with probes is larger, and calls native methods: the JIT compiler may not inline it any more where it did,
 * or may not inline into it what it did.  Then its time holds calls that the program does not make without mmprof, and
 * its figures are those of other code.  The trace's JIT events tell what was inlined before and after.
 *
 * Source: Zheng et al., Accurate profiling in the presence of dynamic compilation (OOPSLA 2015), §3 and §4.3.
 */
#ifndef PHASES_TREE_JIT_SHAPE_H
#define PHASES_TREE_JIT_SHAPE_H

#include "core/base/err.h"
#include "core/base/method_name.h"
#include "core/wire/jit_events.h"

/*
 * Pieces of code that a method usually gets: by both compilers, and where it has a loop twice by each, to be entered in
 * the middle of the loop, too.  What there was before counts instead, if it is more.
 */
#define JIT_SHAPE_USUAL                4u
#define JIT_SHAPE_RECOMPILED_MORE_THAN 2u

enum jit_shape_mark {
    /* A caller that had it inlined was compiled again, and none of its new codes has. */
    JIT_SHAPE_NOT_INLINED = 1,
    JIT_SHAPE_CALLS_OUT = 2, /* it was compiled again, and has not all inlined that it had */
    /* Since it got probes it was compiled more than JIT_SHAPE_RECOMPILED_MORE_THAN times beyond the usual. */
    JIT_SHAPE_RECOMPILED = 4
};

struct jit_shape {
    uint32_t n_there;                   /* pieces of its code that there were when it got probes */
    uint32_t n_compiled;                /* times since */
    uint32_t n_discarded;               /* pieces of its code that were thrown away since */
    uint32_t n_callers, n_callers_lost; /* that had it inlined; of them: compiled again, without it */
    uint32_t n_callees, n_callees_lost; /* that it had inlined; of them: not any more */
    unsigned marks;                     /* of jit_shape_mark */
};

struct jit_shapes;

struct jit_shapes *jit_shapes_open(void);
void jit_shapes_close(struct jit_shapes *shapes);

/* The next event of a trace.  Returns 0, or -1 with *err set: a method that was not described. */
int jit_shapes_add(struct jit_shapes *shapes, const struct jit_event *event, struct err *err);

/* What is known of a method (internal form) by now.  Returns false when it was not watched: nothing is. */
bool jit_shapes_find(const struct jit_shapes *shapes, const char *class_name, const char *name, const char *descriptor,
                     struct jit_shape *shape);

/*
 * What became of a method where another one calls it: "inlined, as before", "not inlined any more", "inlined since"; ""
 * where neither was watched, or it was never inlined there.
 */
const char *jit_shapes_call_text(const struct jit_shapes *shapes, const struct method_name *method,
                                 const struct method_name *caller);

/* What the compilers had to do again, all in all. */
struct jit_summary {
    uint32_t n_again;        /* of these, and of those that they are inlined into: had code, and were compiled since */
    uint32_t n_compilations; /* of these */
};

void jit_shapes_summary(const struct jit_shapes *shapes, struct jit_summary *summary);

#define JIT_SHAPE_TEXT_BYTES 192

/* "not inlined any more (2 of 3 callers), compiled 7 times"; "" without a mark.  Returns text. */
const char *jit_shape_text(const struct jit_shape *shape, char *text, size_t n);

#endif
