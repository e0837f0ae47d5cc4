/*
 * A whole number, given away in parts by weight, whose sum it is in the end.
 */
#ifndef REPORT_DIVISION_H
#define REPORT_DIVISION_H

#include "core/base/std.h"

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

/* One part of several: their weight in all, that of those before it, and its own. */
struct division_share {
    double weight, seen, its;
};

static inline uint64_t division_part(uint64_t all, const struct division_share *share)
{
    struct division d = { .all = all, .weight = share->weight, .seen = share->seen };
    d.given = share->seen <= 0 ? 0 : (uint64_t)((double)all * (share->seen / share->weight));
    return division_take(&d, share->its);
}

#endif
