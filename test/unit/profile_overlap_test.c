/* How alike profiles are: the papers' worked examples, and the vectors of profiles. */
#include "phases/samples/profile_set.h"

#include "test/unit/tap.h"

#include <math.h>
#include <stdlib.h>

static bool is_about(double value, double expected)
{
    if (fabs(value - expected) < 1e-9)
        return true;
    printf("# is %.6f, expected %.6f\n", value, expected);
    return false;
}

/* Thesis §4.4.2. */
static void test_thesis(void)
{
    static const double x[] = { 5, 0, 2 }, y[] = { 30, 4, 0 };
    CHECK("a profile of a and c has a third in common with one of a and b",
          is_about(overlap_unweighted(x, y, 3), 1.0 / 3));
    CHECK("weighted, it is what a has of both: 0.71", is_about(overlap_weighted(x, y, 3), 5.0 / 7));
    CHECK("in whichever order", is_about(overlap_weighted(y, x, 3), 5.0 / 7));
    static const double a[] = { 5, 1, 4 }, b[] = { 6, 0, 3 }, c[] = { 5, 2, 3 };
    const double *const runs[] = { a, b, c };
    CHECK("pairs of three runs", is_about(overlap_weighted(a, b, 3), 0.5 + 1.0 / 3) &&
                                     is_about(overlap_weighted(a, c, 3), 0.9) &&
                                     is_about(overlap_weighted(b, c, 3), 0.8));
    CHECK("stability is their mean: 0.84", is_about(overlap_stability(runs, 3, 3), (0.5 + 1.0 / 3 + 0.9 + 0.8) / 3));
}

static void test_top(void)
{
    static const double x[] = { 50, 30, 20, 10, 5, 4, 3, 2, 1, 0 }, y[] = { 9, 0, 3, 0, 0, 1, 0, 0, 0, 7 };
    static const double ties[] = { 4, 1, 1, 1 }, none[] = { 0, 0, 0, 0 }, first[] = { 1, 0, 0, 1 };
    CHECK("the hottest third of nine is three", is_about(overlap_top(x, y, 10, 1.0 / 3), 2.0 / 3));
    CHECK("all that the first one has", is_about(overlap_top(x, y, 10, 1), 3.0 / 9));
    CHECK("one at least", is_about(overlap_top(x, y, 10, 0), 1));
    CHECK("elements that are alike are not told apart", is_about(overlap_top(ties, first, 4, 0.5), 0.5));
    CHECK("nothing has no overlap", isnan(overlap_top(none, x, 4, 0.5)) && isnan(overlap_unweighted(none, none, 4)) &&
                                        isnan(overlap_weighted(none, x, 4)) && isnan(overlap_weighted(x, none, 4)) &&
                                        isnan(overlap_stability(NULL, 0, 4)));
}

/* PCCT §6.1: covariance by standard deviations. */
static void test_correlation(void)
{
    static const double x[] = { 1, 2, 3, 0 }, twice[] = { 2, 4, 6, 0 }, back[] = { 3, 2, 1, 0 }, y[] = { 1, 3, 2, 0 };
    static const double flat[] = { 2, 2, 2, 0 };
    CHECK("the same distribution correlates by 1", is_about(overlap_correlation(x, twice, 4), 1));
    CHECK("the opposite one by -1", is_about(overlap_correlation(x, back, 4), -1));
    CHECK("others in between: 0.5", is_about(overlap_correlation(x, y, 4), 0.5));
    CHECK("without variance there is none", isnan(overlap_correlation(x, flat, 4)));
    static const double a[] = { .5, .25, 0, .25, 0 }, b[] = { 0, .125, .625, .25, 0 };
    CHECK("what only one of them has counts, however small",
          is_about(overlap_correlation(a, b, 5), -0.944911182523) &&
              is_about(overlap_correlation(b, a, 5), -0.944911182523));
}

/* ---- sets ---- */

static struct profile_set set;

/* A stack as characters, outermost first. */
static void take(uint32_t profile, const char *stack, double weight)
{
    uint32_t context = 0;
    for (; *stack != '\0'; stack++)
        context = profile_set_call(&set, context, stack, 1);
    profile_set_add(&set, profile, context, weight);
}

static bool is_vector(uint32_t profile, enum profile_kind kind, bool is_total, const double *expected,
                      size_t n_expected)
{
    size_t n;
    double *vector = profile_set_vector(&set, profile, kind, is_total, &n);
    bool is = vector != NULL && n == n_expected;
    for (size_t i = 0; is && i < n; i++)
        is = is_about(vector[i], expected[i]);
    free(vector);
    return is;
}

static void test_set(void)
{
    struct arena arena = { NULL, 0 };
    profile_set_open(&set, &arena);
    take(0, "ab", 3);
    take(0, "abab", 4);
    take(1, "b", 2);
    take(1, "ab", 1);
    static const double own[] = { 0, 7 }, total[] = { 7, 7 }, other[] = { 0, 3 };
    CHECK("a method's own weight is that in all its contexts", is_vector(0, PROFILE_METHODS, false, own, 2));
    CHECK("with callees, recursive calls count once", is_vector(0, PROFILE_METHODS, true, total, 2));
    CHECK("another profile has its own", is_vector(1, PROFILE_METHODS, false, other, 2));
    /* root, a, ab, aba, abab, b */
    static const double contexts[] = { 0, 0, 3, 0, 4, 0 }, context_totals[] = { 0, 7, 7, 4, 4, 0 },
                        fewer[] = { 0, 0, 1, 0, 0, 2 };
    CHECK("contexts keep recursive calls apart", is_vector(0, PROFILE_CONTEXTS, false, contexts, 6));
    CHECK("with what they call", is_vector(0, PROFILE_CONTEXTS, true, context_totals, 6));
    CHECK("the same paths are the same elements", is_vector(1, PROFILE_CONTEXTS, false, fewer, 6));
    struct profile_set all, kept;
    profile_set_mark(&set, "b", 1);
    all = set;
    profile_set_keep(&all, &kept);
    set = kept;
    static const double kept_contexts[] = { 0, 3, 4 }; /* root, b, bb */
    CHECK("whose weights are their callers' then", is_vector(0, PROFILE_CONTEXTS, false, kept_contexts, 3));
    profile_set_free(&kept);
    set = all;
    for (char name[16] = "0"; strcmp(name, "5000") != 0;) {
        profile_set_add(&set, 2, profile_set_call(&set, 0, name, strlen(name)), 1);
        snprintf(name, sizeof name, "%d", atoi(name) + 1);
    }
    size_t n;
    double *many = profile_set_vector(&set, 2, PROFILE_METHODS, false, &n), sum = 0;
    for (size_t i = 0; many != NULL && i < n; i++)
        sum += many[i];
    CHECK("a set grows", n == 5002 && is_about(sum, 5000));
    free(many);
    profile_set_free(&set);
    arena_free(&arena);
}

int main(void)
{
    test_thesis();
    test_top();
    test_correlation();
    test_set();
    return tap_done();
}
