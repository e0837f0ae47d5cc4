/* Limits on how versions of a program differ from the first one (mmprof diff --fail-on). */
#ifndef REPORT_DIFF_VERSIONS_GATE_H
#define REPORT_DIFF_VERSIONS_GATE_H

#include "report/diff/versions.h"

/* How a version differs from another in a row and metric: changes are fractions; NAN: not known. */
struct versions_pair {
    double before, after, change, low, high, p;
    const char *verdict;
};

/* Look at a series' pair of the first version and another one. */
void versions_gate_take(const struct versions *versions, const struct versions_series *series, size_t version,
                        const struct versions_pair *pair);

#endif
