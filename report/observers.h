/*
 * All who look at the calls of a trace while its call tree is built: they share one pass over it.
 */
#ifndef REPORT_OBSERVERS_H
#define REPORT_OBSERVERS_H

#include "phases/tree/calltree.h"

#define OBSERVERS_MAX 5

struct observers {
    struct calltree_observer all[OBSERVERS_MAX]; /* in any order */
    size_t n;
};

/* The observer that tells all of them; it lives as long as they do. */
struct calltree_observer observers_join(struct observers *observers);

#endif
