/*
 * Profiles of several recordings side by side: calling contexts by the names of their methods, with a weight in each of
 * the profiles; and vectors of them, by method or by context.
 *
 * Two contexts are the same where the methods on their paths have the same names (PCCT §6.6).  Context 0 is the root.
 */
#ifndef PHASES_SAMPLES_PROFILE_SET_H
#define PHASES_SAMPLES_PROFILE_SET_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/map.h"

#define PROFILE_SET_MAX  64u
#define PROFILE_SET_NONE UINT32_MAX

struct profile_name {
    const char *text; /* the arena's */
    bool is_kept;     /* by profile_set_keep */
};

struct profile_context {
    uint32_t parent, name; /* a parent comes before its callees */
    bool is_recursive;     /* a caller has the same name */
};

struct profile_set {
    struct map by_name;
    struct profile_name *names; /* owned */
    uint32_t n_names, names_room;
    struct hash_set by_call;
    struct profile_context *contexts; /* owned */
    uint32_t n_contexts, contexts_room;
    double *weights[PROFILE_SET_MAX]; /* owned: own ones, by context */
    uint32_t weights_room[PROFILE_SET_MAX];
    uint32_t n_profiles;
};

enum profile_kind {
    PROFILE_METHODS, /* an element is a method, over all its contexts */
    PROFILE_CONTEXTS
};

/* Names are kept in the arena. */
void profile_set_open(struct profile_set *set, struct arena *arena);
void profile_set_free(struct profile_set *set);

/* The context of a method in that of its caller. */
uint32_t profile_set_call(struct profile_set *set, uint32_t parent, const char *name, size_t n_name);

/* Methods of this name are kept by profile_set_keep. */
void profile_set_mark(struct profile_set *set, const char *name, size_t n_name);

/* A copy with methods of marked names only, for profile_set_free: the weights of others are their callers'. */
void profile_set_keep(const struct profile_set *set, struct profile_set *kept);

/* Own weight of a context in a profile, below PROFILE_SET_MAX. */
void profile_set_add(struct profile_set *set, uint32_t profile, uint32_t context, double weight);

/*
 * A profile as a vector, for free(); *n elements, the same in the same order for all profiles once all are added.
 *
 * is_total   with the weight of what is called; of recursive calls the outermost one's counts
 *
 * The root is in none.
 */
double *profile_set_vector(const struct profile_set *set, uint32_t profile, enum profile_kind kind, bool is_total,
                           size_t *n);

/*
 * How alike profiles are: vectors of n weights each, one for each method or context; elements of one profile that the
 * other one has not are 0 there.
 *
 * Sources: thesis §4.4.2 (unweighted and weighted metric, stability), PCCT §6.1 (correlation).
 */

/* What two vectors have in common of their elements, however heavy: of those that either has, the part that both have.
 * NAN: neither has any. */
double overlap_unweighted(const double *x, const double *y, size_t n);

/*
 * Of the heaviest elements of x, top_share (0..1) of those that it has, at least one: the part that y has, too; NAN
 * where x has none.
 */
double overlap_top(const double *x, const double *y, size_t n, double top_share);

/* The sum of the smaller of the two parts that each element has of its vector's sum: 1, the same distribution, to 0. */
double overlap_weighted(const double *x, const double *y, size_t n);

/* Pearson's coefficient of correlation over the elements that either has; NAN: one vector has no variance. */
double overlap_correlation(const double *x, const double *y, size_t n);

/*
 * Of n_vectors vectors of n weights keep the n_first heaviest elements of the first vector, and those as heavy as the
 * last of them; the others become 0 in all.
 */
void overlap_keep_first(double *const *vectors, size_t n_vectors, size_t n, size_t n_first);

/* The mean weighted overlap of all pairs of n_vectors vectors; NAN for fewer than two. */
double overlap_stability(const double *const *vectors, size_t n_vectors, size_t n);

#endif
