/*
 * What comes next in a thread's records, guessed from the last ones: what writer and reader of a RECORDS chunk share.
 *
 * Programs repeat themselves: after the same few entries and exits mostly the same one follows.  A table has, by a hash
 * of the last ones, what followed then: a record that is that again takes one bit besides its time, and all of it a
 * byte where it comes soon.  The table is empty where a chunk begins, so that each can be read on its own.
 *
 * Time is counted in units: many processors step their timestamp counter by more than 1 (here a virtual machine's by
 * 24.5, each 10 ns), and what is below the step is the same in each record.
 */
#ifndef CORE_TRACE_PREDICT_H
#define CORE_TRACE_PREDICT_H

#include "core/trace/format.h"

#define PREDICT_BITS_MIN 4u
#define PREDICT_BITS_MAX 12u
#define PREDICT_SHIFT    11u
#define PREDICT_FACTOR   UINT32_C(0x9e3779b1)
#define PREDICT_EXIT     0u /* in the table: an exit from the innermost call; else 1 + the method that is entered */

#define UNIT_TICK 4u         /* a unit of one tick, in quarters */
#define UNIT_MAX  (1u << 10) /* quarters */

struct predictor {
    uint32_t history; /* a hash of the last records */
    unsigned shift;   /* what of it is the place in the table */
};

#define PREDICT_PLACES (1u << PREDICT_BITS_MAX)

/* An empty table of 2^bits places: PREDICT_BITS_MIN to _MAX. */
static inline struct predictor predict_begin(uint32_t *table, unsigned bits)
{
    memset(table, 0, sizeof *table << bits);
    return (struct predictor){ 0, 32 - bits };
}

/* The place in the table of what comes next. */
static inline uint32_t predict_place(const struct predictor *predictor)
{
    return predictor->history >> predictor->shift;
}

/* An entry, or an exit from the innermost call, is known now. */
static inline void predict_follow(struct predictor *predictor, uint32_t method, uint32_t is_exit)
{
    predictor->history = predictor->history << PREDICT_SHIFT ^ (method << 1 | is_exit) * PREDICT_FACTOR;
}

#endif
