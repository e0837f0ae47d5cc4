/*
 * A whole number, given away in parts by weight, whose sum it is in the end.
 */
#ifndef REPORT_DIVISION_H
#define REPORT_DIVISION_H

#include <stdint.h>

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

/* The part of one weight behind those that were seen, of several in all. */
static inline uint64_t division_part(uint64_t all, double weight, double seen, double its)
{
    struct division d = { .all = all, .weight = weight, .seen = seen };
    d.given = seen <= 0 ? 0 : (uint64_t)((double)all * (seen / weight));
    return division_take(&d, its);
}

#endif
