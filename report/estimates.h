/*
 * From what was counted to what stands in the report: rates, counts, and how far they are off (phases/tree/estimate.h).
 */
#ifndef REPORT_ESTIMATES_H
#define REPORT_ESTIMATES_H

#include "phases/tree/calltree.h"
#include "report/event_columns.h"

struct event_estimate {
    double rate;  /* per instruction; negative: not known */
    double half;  /* of the interval of 95 % around the rate; 0: it is no estimate; negative: too little was counted */
    double count; /* of all the time in which the counters are known; negative: not known */
    double instructions; /* of the same: what the rate is count over */
    double share;        /* of that time in which the event was counted */
};

/* What is counted. */
struct estimates_basis {
    const struct event_column *events;
    size_t n_events;
    const struct event_column *instructions; /* or NULL: there are no rates */
    const struct calltree_groups *groups;
};

/* A part of the program whose rates are its own: what belongs together is added up from such. */
struct estimates_part {
    const uint64_t *events, *times;         /* the tree's metrics: of the counts, and of the groups' times */
    const struct estimate_batches *batches; /* by group, or NULL */
};

/* Fill in estimates[i] for each event i of the basis. */
void estimates_make(const struct estimates_basis *basis, const struct estimates_part *parts, size_t n_parts,
                    struct event_estimate *estimates);

#endif
