/*
 * What many tests at once are worth: weighted false discovery rate.
 */
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double weighted; /* p over the test's part */
    size_t i;
};

static int by_weighted(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->weighted, y = ((const struct ranked *)b)->weighted;
    return (x > y) - (x < y);
}

double diff_part(const size_t n_tests[DIFF_GROUPS], unsigned group)
{
    double parts[DIFF_GROUPS] = { 0.2, 0.15, 0.4, 0.15, 0.2, 0.1 }, all = 0;
    if (n_tests[DIFF_GROUP_ADJUSTED] == 0)
        parts[DIFF_GROUP_SELF] += parts[DIFF_GROUP_ADJUSTED];
    for (unsigned g = 0; g < DIFF_GROUPS; g++)
        all += n_tests[g] > 0 ? parts[g] : 0;
    return n_tests[group] == 0 ? 0 : parts[group] / all / (double)n_tests[group];
}

void diff_correct(struct diff_test *tests, size_t n)
{
    struct ranked *order = xreallocarray(NULL, n + 1, sizeof *order);
    size_t n_tests[DIFF_GROUPS] = { 0 };
    double least = 1;
    for (size_t i = 0; i < n; i++)
        n_tests[tests[i].group]++;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){ tests[i].p / diff_part(n_tests, tests[i].group), i };
    qsort(order, n, sizeof *order, by_weighted);
    for (size_t i = n; i-- > 0;) {
        struct diff_test *test = &tests[order[i].i];
        least = fmin(least, order[i].weighted / (double)(i + 1));
        test->p = fmax(test->p, least); /* a large part and many other findings are no evidence of their own */
    }
    free(order);
}
