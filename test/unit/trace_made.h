/*
 * A trace that a test has made, read to its end: what tables are made from.
 */
#ifndef TEST_UNIT_TRACE_MADE_H
#define TEST_UNIT_TRACE_MADE_H

#include "report/source.h"
#include "test/unit/trace_maker.h"

struct trace_made {
    struct trace_reader *reader;
    struct calltree tree;
    struct report_source source; /* in the caller's arena; its path is none */
    struct calltree_total *totals;
    size_t n_totals;
};

static inline void trace_made_open(struct trace_made *made, struct maker *m, uint64_t end_ticks, struct arena *arena)
{
    maker_close(m, end_ticks);
    made->reader = maker_read(m);
    maker_must(m, calltree_build(made->reader, &(struct calltree_options){ 0 }, &made->tree, &m->err));
    made->source = (struct report_source){ .path = "t.dat",
                                           .reader = made->reader,
                                           .tree = &made->tree,
                                           .clock = report_clock(&made->tree, PHASES_CPU),
                                           .arena = arena };
    calltree_totals(&made->tree, VM_PART_APPLICATION, arena, &made->totals, &made->n_totals);
}

/* With all that is in the arena. */
static inline void trace_made_close(struct trace_made *made)
{
    calltree_free(&made->tree);
    trace_close(made->reader);
    arena_free(made->source.arena);
}

#endif
