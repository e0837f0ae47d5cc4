/*
 * What stack samples say of a program: each method's part of the time, with and without what it calls, and how far that
 * can be off; and the tree of calling contexts.
 *
 * Samples of one moment are alike, so that their number says little of the error: it comes from blocks of time.  There
 * are 16 to 31 of the same length; when there are 32, pairs become one.  With y of a method's and x of all samples in a
 * block, the part R = sum of y / sum of x has
 *
 *     V(R) = n / (n - 1) * sum of (y - R x)^2 / (sum of x)^2       n - 1 degrees of freedom
 *
 * Source: batch means, Law & Kelton, Simulation Modeling and Analysis, section 9.5; ratios, Cochran, Sampling
 * Techniques, chapter 6.
 */
#ifndef PHASES_SAMPLE_PROFILE_H
#define PHASES_SAMPLE_PROFILE_H

#include "phases/context_tree.h"

#include <stddef.h>

#define SAMPLE_BLOCKS     32u
#define SAMPLE_BLOCKS_MIN 5u /* fewer tell no error */
#define SAMPLE_GROUPS     8u /* parts of the JVM, by the caller's numbers */

struct sample_counts {
    uint32_t blocks[SAMPLE_BLOCKS];
};

struct sample_row {
    struct sample_counts total, self;
    uint32_t depth;  /* the least number of frames outside of it */
    uint64_t latest; /* the sample that it was counted in last */
};

struct sample_profile {
    uint64_t first_ns, block_ns;
    uint32_t n_blocks;        /* that have begun */
    struct sample_counts all; /* samples, of all groups */
    struct sample_counts groups[SAMPLE_GROUPS];
    struct sample_row *rows; /* owned; by the method's number */
    uint32_t n_rows, rows_room;
    struct context_tree tree; /* of group 0 */
    uint64_t n_samples;
};

/* A share and its 95 % interval: share - error to share + error; error is NAN where it is not known. */
struct sample_share {
    uint64_t n_samples;
    double share, error;
};

/* One sample; all borrowed. */
struct profile_sample {
    uint64_t time_ns; /* in any order */
    uint32_t group;   /* 0: the application */
    int32_t tid;
    uint64_t ns;              /* that it stands for */
    uint32_t n;               /* frames */
    const uint32_t *methods;  /* the innermost first; CONTEXT_NONE is no method, and left out */
    const int32_t *bytecodes; /* by frame; -1: not known.  NULL: none is */
    uint32_t n_same;          /* outermost frames that are as in the thread's last sample; 0: not known */
};

/*
 * block_ns    the first length of a block; it doubles with the time
 * tree_bytes  of memory for calling contexts: phases/context_tree.h
 *
 * Returns 0, or -1 with *err set; to be freed by sample_profile_free in any case.
 */
int sample_profile_open(struct sample_profile *profile, uint64_t block_ns, uint64_t tree_bytes, struct err *err);
void sample_profile_free(struct sample_profile *profile);

/* Add one sample.  Returns 0, or -1: no memory. */
int sample_profile_add(struct sample_profile *profile, const struct profile_sample *sample);

struct sample_share sample_profile_total(const struct sample_profile *profile, uint32_t method);
struct sample_share sample_profile_self(const struct sample_profile *profile, uint32_t method);
struct sample_share sample_profile_group(const struct sample_profile *profile, uint32_t group);

#endif
