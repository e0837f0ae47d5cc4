/*
 * What passed in each bucket of time: of each node of the call tree, each thread outside the application, each method.
 *
 * Buckets begin at whole multiples of their length since 1970, so that those of all hosts are the same ones: the first
 * and the last one of a recording are cut.  It is heard while the call tree is built.
 */
#ifndef REPORT_FLEET_FLEET_BUCKETS_H
#define REPORT_FLEET_FLEET_BUCKETS_H

#include "phases/tree/calltree.h"

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
 * Returns 0, or -1 with *err set: no memory, or buckets that are too short.
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

#endif
