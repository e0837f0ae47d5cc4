/* What many tests at once are worth: weighted false discovery rate. */
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

struct ranked {
    double weighted; /* p over the test's part */
    size_t i;
};

static int by_weighted(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->weighted, y = ((const struct ranked *)b)->weighted;
    return (x > y) - (x < y);
}

double diff_part(const double sums[DIFF_GROUPS], const struct diff_test *test)
{
    double parts[DIFF_GROUPS] = { 0.15, 0.05, 0.45, 0.3, 0.2, 0.05 }, all = 0;
    if (sums[DIFF_GROUP_ADJUSTED] == 0)
        parts[DIFF_GROUP_SELF] += parts[DIFF_GROUP_ADJUSTED];
    for (unsigned g = 0; g < DIFF_GROUPS; g++)
        all += sums[g] > 0 ? parts[g] : 0;
    return sums[test->group] > 0 ? parts[test->group] / all * test->weight / sums[test->group] : 0;
}

void diff_correct(struct diff_test *tests, size_t n)
{
    struct ranked *order = xreallocarray(NULL, n + 1, sizeof *order);
    double sums[DIFF_GROUPS] = { 0 }, least = 1;
    for (size_t i = 0; i < n; i++)
        sums[tests[i].group] += tests[i].weight;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){ tests[i].p / diff_part(sums, &tests[i]), i };
    qsort(order, n, sizeof *order, by_weighted);
    for (size_t i = n; i-- > 0;) {
        struct diff_test *test = &tests[order[i].i];
        least = fmin(least, order[i].weighted / (double)(i + 1));
        test->p = fmax(test->p, least); /* a large part and many other findings are no evidence of their own */
    }
    free(order);
}
