/*
 * "Did you mean": the names that are nearest to a word that nobody knows, by Levenshtein's distance.
 *
 *     struct near near;
 *     near_begin(&near, "sampel");
 *     near_consider(&near, "sample", "sample");   for each name
 *     near_next(&near, "run 'mmprof help'", err); "did you mean 'sample'? run 'mmprof help'"
 */
#ifndef CORE_BASE_NEAR_H
#define CORE_BASE_NEAR_H

#include "core/base/std.h"
#include "core/base/err.h"

#define NEAR_N     3
#define NEAR_BYTES 80 /* of a name, with a NUL; longer ones are passed over */

struct near {
    char wanted[NEAR_BYTES];
    char names[NEAR_N][NEAR_BYTES]; /* the nearest first */
    unsigned distances[NEAR_N];
    size_t n;
};

void near_begin(struct near *near, const char *wanted);

/* Compare a name with the wanted one as 'compared', and keep it, as 'name', if it is near. */
void near_consider(struct near *near, const char *compared, const char *name);

/* Add the names, if there are any, and what to do to the message, as its next step.  Returns -1, as err_next does. */
int near_next(const struct near *near, const char *what_to_do, struct err *err);

#endif
