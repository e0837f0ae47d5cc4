/*
 * How a row's time, calls and events spread over the buckets.
 */
#ifndef REPORT_FLEET_FLEET_WEIGHTS_H
#define REPORT_FLEET_FLEET_WEIGHTS_H

#include "report/fleet/fleet_buckets.h"
#include "report/source.h"

enum fleet_weight { FLEET_TOTAL, FLEET_SELF, FLEET_OFF, FLEET_CALLED, FLEET_WEIGHTS }; /* counters follow */

struct fleet_weights {
    uint32_t n_methods; /* rows 0 to n_methods - 1 are of methods; then: */
    uint32_t outside;   /* the application's time in none of them */
    uint32_t all;       /* everything */
    uint32_t parts;     /* and up, by enum vm_part */
    uint32_t n_rows, n_buckets;
    size_t n_words;
    double *words;    /* by row, bucket, enum fleet_weight; owned */
    uint32_t *parent; /* by row of a method: the row that calls it most of its time, or CALLTREE_NONE; owned */
};

/*
 * source   with its stack samples in it (report/sampled_tree.h), if there are any: they divide what probes measured in
 *          a bucket as they were then.
 * buckets  heard while its tree was built.
 * row_of   by method of the source's tree: its row, or CALLTREE_NONE.
 *
 * Returns 0 and *weights for fleet_weights_free, or -1 with *err set: no memory, or too many buckets of too many rows.
 */
int fleet_weights_find(const struct report_source *source, const struct fleet_buckets *buckets, const uint32_t *row_of,
                       uint32_t n_methods, struct fleet_weights *weights, struct err *err);
void fleet_weights_free(struct fleet_weights *weights);

static inline double *fleet_weights_at(const struct fleet_weights *weights, uint32_t row, uint32_t bucket)
{
    return weights->words + ((size_t)row * weights->n_buckets + bucket) * weights->n_words;
}

#endif
