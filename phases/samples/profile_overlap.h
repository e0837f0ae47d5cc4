/*
 * How alike profiles are: vectors of n weights each, one for each method or context; elements of one profile that the
 * other one has not are 0 there.
 *
 * Sources: thesis §4.4.2 (unweighted and weighted metric, stability), PCCT §6.1 (correlation).
 */
#ifndef PHASES_SAMPLES_PROFILE_OVERLAP_H
#define PHASES_SAMPLES_PROFILE_OVERLAP_H

#include <stddef.h>

/* What two vectors have in common of their elements, however heavy: of those that either has, the part that both have.
 * NAN: neither has any. */
double overlap_unweighted(const double *x, const double *y, size_t n);

/*
 * Of the heaviest elements of x, top_share (0..1) of those that it has, at least one: the part that y has, too.
 *
 * Returns it, NAN where x has none, or -1: no memory.
 */
double overlap_top(const double *x, const double *y, size_t n, double top_share);

/* The sum of the smaller of the two parts that each element has of its vector's sum: 1, the same distribution, to 0. */
double overlap_weighted(const double *x, const double *y, size_t n);

/* Pearson's coefficient of correlation over the elements that either has; NAN: one vector has no variance. */
double overlap_correlation(const double *x, const double *y, size_t n);

/*
 * Of n_vectors vectors of n weights keep the n_first heaviest elements of the first vector, and those as heavy as the
 * last of them; the others become 0 in all.
 *
 * Returns 0, or -1: no memory.
 */
int overlap_keep_first(double *const *vectors, size_t n_vectors, size_t n, size_t n_first);

/* The mean weighted overlap of all pairs of n_vectors vectors; NAN for fewer than two. */
double overlap_stability(const double *const *vectors, size_t n_vectors, size_t n);

#endif
