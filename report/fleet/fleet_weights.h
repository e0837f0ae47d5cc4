/* How a row's time, calls and events spread over the buckets. */
#ifndef REPORT_FLEET_FLEET_WEIGHTS_H
#define REPORT_FLEET_FLEET_WEIGHTS_H

#include "phases/tree/calltree.h"
#include "report/source.h"

/*
 * What passed in each bucket of time: of each node of the call tree, each thread outside the application, each method.
 *
 * Buckets begin at whole multiples of their length since 1970, so that those of all hosts are the same ones: the first
 * and the last one of a recording are cut.  It is heard while the call tree is built.
 */

#define FLEET_BUCKETS_MAX 1000000

enum fleet_cell_of {
    FLEET_CELL_NODE,   /* of the tree, in a thread of the application */
    FLEET_CELL_THREAD, /* of another one, or before its part of the JVM was known */
    FLEET_CELL_METHOD  /* its calls, in FLEET_CALLS */
};

/* The words of a cell, in ticks; counters follow. */
enum fleet_word { FLEET_CPU, FLEET_OFF_CPU, FLEET_PROBES, FLEET_WORDS, FLEET_CALLS = 0 };

struct fleet_cell {
    enum fleet_cell_of of;
    uint32_t bucket, id;
};

struct fleet_buckets;

/*
 * outline  of the trace that will be read.
 *
 * Returns 0, or -1 with *err set: buckets that are too short.
 */
int fleet_buckets_open(struct fleet_buckets **buckets, const struct trace_reader *outline, double bucket_ns,
                       struct err *err);
void fleet_buckets_close(struct fleet_buckets *buckets);

struct calltree_observer fleet_buckets_observer(struct fleet_buckets *buckets);

uint32_t fleet_buckets_n(const struct fleet_buckets *buckets);
uint32_t fleet_bucket_at(const struct fleet_buckets *buckets, uint64_t ticks);

/* When a bucket begins, in microseconds since 1970, and how much of it was recorded. */
int64_t fleet_bucket_start_us(const struct fleet_buckets *buckets, uint32_t bucket);
double fleet_bucket_recorded_ns(const struct fleet_buckets *buckets, uint32_t bucket);

/* All cells; the words of cell i, FLEET_WORDS and the counters. */
size_t fleet_buckets_cells(const struct fleet_buckets *buckets, const struct fleet_cell **cells);
const uint64_t *fleet_cell_words(const struct fleet_buckets *buckets, size_t i);
size_t fleet_buckets_n_counters(const struct fleet_buckets *buckets);

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
 * Returns 0 and *weights for fleet_weights_free, or -1 with *err set: too many buckets of too many rows.
 */
int fleet_weights_find(const struct report_source *source, const struct fleet_buckets *buckets, const uint32_t *row_of,
                       uint32_t n_methods, struct fleet_weights *weights, struct err *err);
void fleet_weights_free(struct fleet_weights *weights);

static inline double *fleet_weights_at(const struct fleet_weights *weights, uint32_t row, uint32_t bucket)
{
    return weights->words + ((size_t)row * weights->n_buckets + bucket) * weights->n_words;
}

#endif
