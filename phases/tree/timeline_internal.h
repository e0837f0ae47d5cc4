/*
 * Shared by the files of the time line.
 */
#ifndef PHASES_TREE_TIMELINE_INTERNAL_H
#define PHASES_TREE_TIMELINE_INTERNAL_H

#include "phases/tree/timeline.h"

/* A cell's words. */
enum cell_word { CELL_CPU, CELL_RUNNABLE, CELL_METRICS };

/* Time of a thread that no node was given yet: it passed in this step. */
struct slot {
    uint32_t step;
    uint64_t cpu_ticks, wall_ticks;
};

/* A thread.  Until its part of the VM is known, its cells are its own. */
struct lane {
    bool is_placed, is_runnable;
    enum vm_part part;
    struct slot *slots; /* by step; owned */
    uint32_t n_slots, slots_room;
    uint64_t *cells; /* n_cells times step and a cell, by step; owned */
    uint32_t n_cells, cells_room;
};

struct timeline {
    struct timeline_options options;
    uint32_t n_rows; /* of timeline_rows */
    double step_ticks;
    uint32_t n_steps;
    size_t cell_words;
    uint64_t *grids[VM_PARTS]; /* by step; NULL: no thread of that part was there; owned */
    uint64_t *rows;            /* by step, then n_rows + 1; NULL before timeline_rows; owned */
    uint64_t *nothing;         /* metrics of a cell that is not there; owned */
    struct lane *lanes;        /* by thread; owned */
    uint32_t n_lanes;
    struct timeline_given *latest; /* by node: in the step in which it was given something the last time; owned */
    uint32_t n_latest;
    struct timeline_given *given; /* before that: node and step may be there several times until timeline_rows; owned */
    size_t n_given, given_room;
    uint32_t near; /* the step that was looked up last, and its ticks */
    uint64_t near_start, near_end;
};

/* Keep it until it is known which row the node belongs to; 0: the row of what is outside.  Returns -1: no memory. */
int timeline_give(struct timeline *timeline, uint32_t node, uint32_t step, uint64_t ticks);

static inline uint64_t *timeline_words(const struct timeline *tl, enum vm_part part, uint32_t step)
{
    return tl->grids[part] + step * tl->cell_words;
}

#endif
