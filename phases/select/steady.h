/*
 * From where on a program is warm: the first window of iterations that vary little (thesis A.1).
 *
 * Source: Georges, Buytaert & Eeckhout, OOPSLA 2007, §4.2: in each invocation of the JVM the k iterations in a row
 * whose coefficient of variation is below 0.01 or 0.02; the observation is their mean.
 */
#ifndef PHASES_SELECT_STEADY_H
#define PHASES_SELECT_STEADY_H

#include <stdbool.h>
#include <stddef.h>

struct steady {
    bool is_reached; /* the coefficient of variation is below the limit; else it is the window that varies least */
    size_t first;    /* iterations before the window */
    double mean, cov;
};

/*
 * values     of n iterations, in their order; borrowed.
 * window     of how many iterations, two at least.
 *
 * Returns false: there are fewer iterations than that.
 */
bool steady_find(const double *values, size_t n, size_t window, double cov_limit, struct steady *steady);

#endif
