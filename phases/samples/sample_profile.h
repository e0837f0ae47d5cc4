/*
 * What stack samples say of a program: each method's part of the time, with and without what it calls, what it counted
 * meanwhile, and how far that can be off; and the tree of calling contexts.
 *
 * The interval of a share is that of this recording: how far it may be from the part of the time that the method had
 * there.  Two clocks take samples of CPU time, each by periods of its own (core/recorder/sample_periods.h): both have
 * the same program before them, so all that they differ by is chance, whatever the program does.  With d and e how much
 * more weight the first clock's samples of the method have, and of all, since periods were drawn
 *
 *     V(R) = sum of (d - R e)^2 / (sum of weights)^2        as many degrees of freedom as draws
 *
 * Samples of one clock are taken in pairs, as if each was of another clock: what the program does between the two is in
 * the interval then, which is too narrow only where a program is in step with the clock, by an eighth.
 *
 * Where several threads are sampled at one moment (waits, polling), samples are alike, and their number says little:
 * the error comes from blocks of time then, as that of counters' ratios, and has the program's changes in it.  There
 * are 16 to 31 of the same length; when there are 32, pairs become one.  With y and x of a block
 *
 *     V(R) = n / (n - 1) * sum of (y - R x)^2 / (sum of x)^2       n - 1 degrees of freedom
 *
 * Source: random groups and successive differences, Wolter, Introduction to Variance Estimation, chapter 2 and section
 * 8.2; batch means, Law & Kelton, Simulation Modeling and Analysis, section 9.5; ratios, Cochran, Sampling Techniques,
 * chapter 6.
 */
#ifndef PHASES_SAMPLES_SAMPLE_PROFILE_H
#define PHASES_SAMPLES_SAMPLE_PROFILE_H

#include "phases/tree/context_tree.h"

#define SAMPLE_BLOCKS     32u
#define SAMPLE_BLOCKS_MIN 5u  /* fewer tell no error */
#define SAMPLES_MIN       10u /* fewer tell no error */
#define SAMPLE_GROUPS     8u  /* parts of the JVM, by the caller's numbers */

/*
 * How hot something is: what was sampled of it, each sample counting half as much after a half-life, a quarter after
 * two, ...  What is sampled no more goes cold.
 *
 * PEBSI lets it go cold by a threshold that grows with the number of samples (§5.1.4); here the threshold is a part of
 * all heat, which grows as samples come, and heat decays.
 */
#define HEAT_HOT 0.01 /* with this part of all heat, or more, it is hot */

/* As of a moment; all zero: nothing was added. */
struct heat {
    double value; /* in the unit of what is added */
    uint64_t ns;
};

/* Add what is of a moment; in any order of moments.  half_life_ns: more than 0, the same always. */
void heat_add(struct heat *heat, uint64_t ns, double weight, uint64_t half_life_ns);

/* The part of 'all', to which all that is in 'some' was added, too; 0: there is none. */
double heat_share(const struct heat *some, const struct heat *all, uint64_t half_life_ns);

/* By blocks of time. */
struct sample_sum {
    uint64_t n;                      /* samples */
    uint64_t weights[SAMPLE_BLOCKS]; /* ns, or events, that they stand for */
    uint64_t *counters;              /* owned: of each counter the blocks; NULL: none yet */
    struct heat heat;                /* of the weights; empty where nothing decays */
    uint64_t draw;                   /* since which periods its latest samples are, */
    double more;                     /* and how much more weight those of the first clock have */
    double squares;                  /* of that since the draws before */
    double products;                 /* of that with what it is for all samples */
    uint32_t n_draws;                /* with samples of it */
};

struct sample_row {
    struct sample_sum total, self;
    uint64_t waiting[SAMPLE_BLOCKS]; /* of total's weights, those of a thread that had no CPU */
    uint32_t depth;                  /* the least number of frames outside of it */
    uint64_t latest;                 /* the sample that it was counted in last */
    uint64_t n_calls;                /* that are surely different ones */
};

struct sample_profile {
    uint64_t first_ns, block_ns;
    uint32_t n_blocks;     /* that have begun */
    struct sample_sum all; /* of all groups, but for what others than the application wait */
    struct sample_row groups[SAMPLE_GROUPS];
    uint32_t rest;                           /* the group of threads of the application that are in no row; 0: none */
    struct sample_row no_method;             /* of group 0 */
    uint64_t idle_ns[SAMPLE_GROUPS], n_idle; /* that others wait, which is in no share */
    struct sample_row *rows;                 /* owned; by the method's number */
    uint32_t n_rows, rows_room, n_counters;
    struct context_tree tree; /* of group 0 */
    uint64_t n_samples;
    uint64_t n_added;                  /* samples that came, those alike as one */
    bool is_halved;                    /* the caller's: two clocks take the samples (perf_rings_mark) */
    double *more;                      /* owned: how much more weight the first one's have, by draws */
    double more_squares, more_fourths; /* the sums of its powers */
    uint32_t n_draws, draws_room, latest_mark;
    uint64_t draw;         /* of the sample that is added */
    bool is_of_blocks;     /* intervals are: samples of one moment come together */
    uint64_t half_life_ns; /* the caller's, before samples are added: of heat; 0: none is kept */
};

/* A share and its 95 % interval: share - error to share + error; error is NAN where it is not known. */
struct sample_share {
    uint64_t n_samples, weight;
    double share, error;
};

/* Of two counters, with its interval; NAN where nothing was counted. */
struct sample_ratio {
    double value, error;
};

/* One sample; all borrowed. */
struct profile_sample {
    uint64_t time_ns; /* in any order */
    uint32_t group;   /* 0: the application */
    int32_t tid;
    uint64_t ns;              /* that it stands for */
    uint64_t n_alike;         /* others at this moment that are the same; ns is of all */
    bool is_waiting;          /* the thread had no CPU */
    uint32_t n;               /* frames */
    const uint32_t *methods;  /* the innermost first; CONTEXT_NONE is no method, and left out */
    const int32_t *bytecodes; /* by frame; -1: not known.  NULL: none is */
    uint32_t n_same;          /* outermost frames that are as in the last sample of this tid; 0: not known */
    uint32_t n_counters;      /* the same of all samples that have any */
    const uint64_t *counters; /* what each counted since the sample before */
    /* Frames, counted from the outermost one, from 'first' on and less than 'after': surely calls that no sample before
     * was in. */
    uint32_t new_first, new_after;
};

/*
 * block_ns    the first length of a block; it doubles with the time
 * tree_bytes  of memory for calling contexts: phases/tree/context_tree.h
 */
void sample_profile_open(struct sample_profile *profile, uint64_t block_ns, uint64_t tree_bytes);
void sample_profile_free(struct sample_profile *profile);

/* Add one sample.  Returns 0. */
void sample_profile_add(struct sample_profile *profile, const struct profile_sample *sample);

/* Of all time.  Waiting is the part of total's in which the thread had no CPU. */
uint64_t sample_profile_weight(const struct sample_profile *profile); /* of all */
struct sample_share sample_profile_total(const struct sample_profile *profile, uint32_t method);
struct sample_share sample_profile_waiting(const struct sample_profile *profile, uint32_t method);
struct sample_share sample_profile_self(const struct sample_profile *profile, uint32_t method);

/* Of all heat, the part of a method's total, or of its own. */
double sample_profile_heat(const struct sample_profile *profile, uint32_t method, bool self);

/*
 * Calls of a method that samples were in, at least: those that are proven to be different ones, and one if it was seen
 * at all.  So its time in total by them is what a call took at most.
 */
uint64_t sample_profile_calls(const struct sample_profile *profile, uint32_t method);

/* Of a row that is no method's. */
void sample_profile_row(const struct sample_profile *profile, const struct sample_row *row, struct sample_share *total,
                        struct sample_share *waiting);

/*
 * How much the one counter counted for each of the other's: with the row's method innermost, or anywhere on the stack;
 * of a row that is no method's, not self.
 */
struct sample_ratio sample_profile_ratio(const struct sample_profile *profile, const struct sample_row *row, bool self,
                                         uint32_t numerator, uint32_t denominator);

#endif
