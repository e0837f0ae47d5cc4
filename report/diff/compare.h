/* How alike the profiles of several recordings are: exact call trees, stack samples, folded stacks of any profiler. */
#ifndef REPORT_DIFF_COMPARE_H
#define REPORT_DIFF_COMPARE_H

#include "phases/samples/profile_set.h"
#include "report/format/table.h"

#define COMPARE_MAX 40u /* profiles */

enum compare_from {
    COMPARE_ANY,     /* samples where a trace has any, else calls */
    COMPARE_SAMPLES, /* stack samples only */
    COMPARE_CALLS    /* recorded calls only */
};

struct compare_options {
    enum compare_from from;
    enum profile_kind kind;
    bool is_total;        /* with what is called */
    bool is_probed;       /* methods that some trace has probes in, only: the time of others is their callers' */
    bool tells_overloads; /* methods of one name and other parameters are others: traces only */
    bool salvage;         /* skip what is damaged in traces */
    double top_share;     /* 0..1: of the hottest elements */
    uint64_t n_first;     /* only so many elements, of most time in the first profile; 0: all */
};

/* What a file has given. */
struct compare_profile {
    const char *path; /* borrowed */
    const char *what; /* "samples", "calls" or "folded stacks" */
    uint64_t n;       /* samples, or calls; 0: not known */
};

bool compare_is_trace(const char *path);

/*
 * Read a trace, or folded stacks ("A.main;A.run 17" a line), as a profile of the set.  The application's methods only.
 *
 * Returns 0, or -1 with *err set: it cannot be read, has none of what is asked for.
 */
int compare_read(const char *path, const struct compare_options *options, struct profile_set *set, uint32_t profile,
                 struct compare_profile *result, struct err *err);

/* A row for each pair of the n profiles. */
void compare_table(const struct profile_set *set, const struct compare_profile *profiles, uint32_t n,
                   const struct compare_options *options, struct arena *arena, struct table *table);

#endif
