/*
 * Which of several versions differ from which: all pairs of groups of runs, with intervals that hold for all of them at
 * once.
 *
 * Two groups: Welch's t with Satterthwaite's degrees of freedom; they need not vary alike.  More: an analysis of
 * variance says whether any differ, and Tukey's honestly significant difference which: with M the mean square within
 * the groups, of df degrees of freedom,
 *
 *     y(b) - y(a) +- q(0.05; k, df) sqrt(M / 2 (1/n(a) + 1/n(b)))            (Tukey-Kramer, for groups of unequal size)
 *
 * so that in 95 % of all such experiments all intervals have the true difference in them.
 *
 * Sources: Georges, Buytaert & Eeckhout, Statistically Rigorous Java Performance Evaluation, OOPSLA 2007, §3.2 and 3.3;
 * Kramer, Extension of Multiple Range Tests to Group Means with Unequal Numbers of Replications, Biometrics 12, 1956.
 */
#ifndef PHASES_SELECT_PAIRWISE_H
#define PHASES_SELECT_PAIRWISE_H

#include "phases/select/statistics.h"

#define PAIRWISE_SIGNIFICANCE 0.05

#define PAIRWISE_LIMITS 127u

/* What groups are compared by. */
struct pairwise {
    size_t n_groups;
    double within, df; /* the mean square within the groups; NAN: one has fewer than two values */
    double limit;      /* of the studentised range */
    struct {
        double df, limit;
    } limits[PAIRWISE_LIMITS]; /* those computed before, by df; 0: none */
};

struct pairwise_difference {
    double difference; /* b less a */
    double error, df;  /* its standard error in terms of the test's distribution */
    double half;       /* of the interval of 95 %; NAN: not known */
    size_t n_groups;
};

/* Prepare: groups are of at least two values each.  *pairwise is zeroed before the first call. */
void pairwise_begin(struct pairwise *pairwise, const struct moments *groups, size_t n_groups);

struct pairwise_difference pairwise_compare(const struct pairwise *pairwise, const struct moments *a,
                                            const struct moments *b);

/* Of a difference; of more than two groups for all pairs at once.  NAN: not known. */
double pairwise_p(const struct pairwise_difference *difference);

#endif
