/* Several versions: the studentised range, Tukey's honestly significant difference, steady state; and whether 95 %
 * intervals have the truth in them in 95 of 100 drawn experiments, also where more runs are made until they are narrow.
 */
#include "phases/samples/significance.h"

#include "test/unit/tap.h"

#include <math.h>

static bool is_near(double a, double b, double absolute)
{
    return fabs(a - b) <= absolute;
}

/* ---- the studentised range ---- */

/* Harter's tables, as textbooks print them. */
static void test_range(void)
{
    static const struct {
        double tail, k, df, q, half_digit;
    } rows[] = {
        { 0.05, 2, 1, 17.97, 0.005 },        { 0.05, 3, 1, 26.98, 0.005 },  { 0.05, 3, 2, 8.33, 0.005 },
        { 0.05, 3, 5, 4.60, 0.005 },         { 0.05, 4, 5, 5.22, 0.005 },   { 0.05, 3, 10, 3.88, 0.005 },
        { 0.05, 5, 10, 4.65, 0.005 },        { 0.05, 10, 10, 5.60, 0.005 }, { 0.05, 3, 20, 3.58, 0.005 },
        { 0.05, 20, 20, 5.71, 0.005 },       { 0.05, 3, 60, 3.40, 0.005 },  { 0.05, 3, INFINITY, 3.31, 0.005 },
        { 0.05, 10, INFINITY, 4.47, 0.005 }, { 0.01, 3, 5, 6.98, 0.005 },   { 0.01, 3, 10, 5.27, 0.005 },
        { 0.01, 10, 10, 7.21, 0.005 },       { 0.01, 3, 20, 4.64, 0.005 },  { 0.01, 10, INFINITY, 5.16, 0.005 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char claim[120];
        double q = distribution_range_limit(rows[i].tail, rows[i].k, rows[i].df);
        snprintf(claim, sizeof claim, "q(%g; %g, %g) is %g, as the tables say", rows[i].tail, rows[i].k, rows[i].df,
                 rows[i].q);
        if (!CHECK(claim, is_near(q, rows[i].q, rows[i].half_digit + 1e-6)))
            printf("# is %.6f\n", q);
    }
    CHECK("of two means it is Student's t times the root of 2",
          is_near(distribution_range_tail(3.5, 2, 7.3), distribution_t_tails(3.5 * M_SQRT1_2, 7.3), 1e-10));
    CHECK("the tail at the limit is what was asked for",
          is_near(distribution_range_tail(distribution_range_limit(0.03, 4, 11), 4, 11), 0.03, 1e-8));
    CHECK("a range of 0 or more is certain", is_near(distribution_range_tail(0, 3, 5), 1, 1e-12));
    CHECK("an infinite one is not", distribution_range_tail(INFINITY, 3, 5) == 0);
    CHECK("one mean has no range",
          isnan(distribution_range_tail(1, 1, 5)) && isnan(distribution_range_limit(0.05, 1, 5)));
    CHECK("there is none without degrees of freedom", isnan(distribution_range_tail(1, 3, 0)));
}

/* ---- worked examples ---- */

static struct moments moments_of(const double *values, size_t n)
{
    struct moments m = { .n = 0 };
    for (size_t i = 0; i < n; i++)
        moments_add(&m, values[i]);
    return m;
}

/* By hand: means 4, 6, 9; squares within 2 + 2 + 2, M = 1 with 6 degrees of freedom; q(0.05; 3, 6) = 4.339. */
static void test_tukey(void)
{
    static const double a[] = { 3, 4, 5 }, b[] = { 5, 6, 7 }, c[] = { 8, 9, 10 };
    struct moments groups[] = { moments_of(a, 3), moments_of(b, 3), moments_of(c, 3) };
    struct pairwise p = { .n_groups = 0 };
    pairwise_begin(&p, groups, 3);
    CHECK("the mean square within three groups is pooled", is_near(p.within, 1, 1e-12) && is_near(p.df, 6, 1e-12));
    struct pairwise_difference ab = pairwise_compare(&p, &groups[0], &groups[1]);
    struct pairwise_difference ac = pairwise_compare(&p, &groups[0], &groups[2]);
    CHECK("Tukey's interval is q times the standard error of a mean", is_near(ab.half, 4.339 / sqrt(3), 0.0005));
    CHECK("a difference of 2 is within it", is_near(ab.difference, 2, 1e-12) && pairwise_p(&ab) > 0.05);
    CHECK("one of 5 is not", is_near(ac.difference, 5, 1e-12) && pairwise_p(&ac) < 0.05);
    CHECK("p is 5 % where the difference is half the interval",
          is_near(distribution_range_tail(ab.half * sqrt(3), 3, 6), 0.05, 1e-7));
    pairwise_begin(&p, groups, 2);
    ab = pairwise_compare(&p, &groups[0], &groups[1]);
    CHECK("two groups are compared by Welch's t",
          is_near(ab.half, 2.776445 * sqrt(2. / 3), 1e-5) &&
              is_near(pairwise_p(&ab), distribution_t_tails(2 / sqrt(2. / 3), 4), 1e-12));
    groups[1].n = 1;
    pairwise_begin(&p, groups, 3);
    CHECK("a group of one value has no interval", isnan(pairwise_compare(&p, &groups[0], &groups[1]).half));
    static const double same[] = { 2, 2 }, other[] = { 3, 3 };
    struct moments still[] = { moments_of(same, 2), moments_of(other, 2) };
    pairwise_begin(&p, still, 2);
    ab = pairwise_compare(&p, &still[0], &still[1]);
    CHECK("where nothing varies, each difference is one", pairwise_p(&ab) == 0 && ab.half == 0);
    ab = pairwise_compare(&p, &still[0], &still[0]);
    CHECK("and the same is the same", pairwise_p(&ab) == 1);
}

/* ---- what R and SciPy print ---- */

/* Groups of up to ten values, and of a pair what is printed. */
struct printed {
    const char *claim;
    double values[3][10];
    size_t n[3], n_groups, a, b;
    double difference, low, high, p, digits; /* the last: half of the last digit */
};

#define PLANT_GROWTH                                                              \
    .values = { { 4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14 },   \
                { 4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69 },   \
                { 6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26 } }, \
    .n = { 10, 10, 10 }, .n_groups = 3

#define HEADACHE                                                     \
    .values = { { 24.5, 23.5, 26.28, 26.4, 27.1, 29.9, 30.1, 30.1 }, \
                { 28.4, 34.2, 29.5, 32.2, 30.1 },                    \
                { 26.1, 28.3, 24.3, 26.2, 27.8 } },                  \
    .n = { 8, 5, 5 }, .n_groups = 3

/* R: t.test(extra ~ group, sleep); TukeyHSD(aov(weight ~ group, PlantGrowth)).  SciPy: tukey_hsd of its manual, and of
 * groups of unequal size; those by numerical integration of the studentised range (Simpson's rule, in Python). */
static void test_printed(void)
{
    static const struct printed rows[] = {
        { "Welch's t of R's sleep",
          .values = { { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 },
                      { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 } },
          .n = { 10, 10 }, .n_groups = 2, .b = 1, .difference = 1.58, .low = -0.2054832, .high = 3.3654832,
          .p = 0.07939414, .digits = 5e-8 },
        { "Tukey's HSD of R's PlantGrowth, trt1-ctrl", PLANT_GROWTH, 0, 1, -0.371, -1.0622161, 0.3202161, 0.3908711,
          5e-8 },
        { "trt2-ctrl", PLANT_GROWTH, 0, 2, 0.494, -0.1972161, 1.1852161, 0.1979960, 5e-8 },
        { "trt2-trt1", PLANT_GROWTH, 1, 2, 0.865, 0.1737839, 1.5562161, 0.0120064, 5e-8 },
        { "Tukey's HSD of SciPy's manual",
          .values = { { 24.5, 23.5, 26.4, 27.1, 29.9 },
                      { 28.4, 34.2, 29.5, 32.2, 30.1 },
                      { 26.1, 28.3, 24.3, 26.2, 27.8 } },
          .n = { 5, 5, 5 }, .n_groups = 3, .b = 1, .difference = 4.6, .low = 0.950841, .high = 8.249159, .p = 0.014,
          .digits = 5e-4 },
        { "Kramer's, of groups of unequal size", HEADACHE, 0, 1, 3.645, 0.2679294, 7.0220706, 0.0337150, 5e-8 },
        { "and of its other pairs", HEADACHE, 1, 2, -4.34, -8.0865235, -0.5934765, 0.0225905, 5e-8 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct printed *r = &rows[i];
        struct moments groups[3];
        struct pairwise p = { .n_groups = 0 };
        for (size_t g = 0; g < r->n_groups; g++)
            groups[g] = moments_of(r->values[g], r->n[g]);
        pairwise_begin(&p, groups, r->n_groups);
        struct pairwise_difference d = pairwise_compare(&p, &groups[r->a], &groups[r->b]);
        if (!CHECK(r->claim, is_near(d.difference, r->difference, 1e-12) &&
                                 is_near(d.difference - d.half, r->low, r->digits * 1.01) &&
                                 is_near(d.difference + d.half, r->high, r->digits * 1.01) &&
                                 is_near(pairwise_p(&d), r->p, r->digits * 1.01)))
            printf("# %.8f: %.8f to %.8f, p %.8f\n", d.difference, d.difference - d.half, d.difference + d.half,
                   pairwise_p(&d));
    }
}

static void test_steady(void)
{
    static const double values[] = { 400, 250, 180, 110, 101, 100, 99, 100, 70, 70, 70 };
    struct steady s;
    CHECK("a program is warm from the first window on whose coefficient of variation is below the limit",
          steady_find(values, 11, 4, 0.02, &s) && s.is_reached && s.first == 4 && is_near(s.mean, 100, 1e-9));
    CHECK("a later one that varies less is not looked for", steady_find(values, 11, 3, 0.02, &s) && s.first == 4);
    CHECK("where none is, the window that varies least stands in",
          steady_find(values, 8, 4, 0.001, &s) && !s.is_reached && s.first == 4);
    CHECK("as many iterations as a window are one", steady_find(values, 4, 4, 1, &s) && s.is_reached && s.first == 0);
    CHECK("fewer iterations than a window have none", !steady_find(values, 3, 4, 0.02, &s));
    CHECK("nor has a window of one", !steady_find(values, 11, 1, 0.02, &s));
}

/* ---- drawn experiments ---- */

#define N_DRAWN 2000

static uint64_t state = 88172645463325252U;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Version i takes 100 + 10 i, and runs vary by so much of it. */
static double draw(size_t version, double spread)
{
    return (100 + 10 * (double)version) * exp(spread * normal());
}

static double true_difference(size_t a, size_t b)
{
    return log((100 + 10 * (double)b) / (100 + 10 * (double)a));
}

/* In how many of the experiments all intervals have the truth in them, when runs are made until they are narrow. */
static double coverage(size_t n_versions, double spread, double until, double *runs)
{
    struct rerun rerun = { .n_versions = n_versions, .until = until, .runs_least = 5, .runs_most = 60 };
    size_t n_covered = 0, n_runs = 0;
    for (size_t i = 0; i < N_DRAWN; i++) {
        struct moments groups[8] = { { .n = 0 } };
        rerun_begin(&rerun);
        do {
            for (size_t v = 0; v < n_versions; v++)
                moments_add(&groups[v], log(draw(v, spread)));
        } while (rerun_again(&rerun, groups));
        bool is_covered = true;
        for (size_t a = 0; a < n_versions; a++)
            for (size_t b = a + 1; b < n_versions; b++) {
                struct pairwise_difference d = pairwise_compare(&rerun.pairwise, &groups[a], &groups[b]);
                is_covered = is_covered && fabs(d.difference - true_difference(a, b)) <= d.half;
            }
        n_covered += is_covered;
        n_runs += groups[0].n;
    }
    *runs = (double)n_runs / N_DRAWN;
    return (double)n_covered / N_DRAWN;
}

static void test_coverage(void)
{
    static const struct {
        size_t n_versions;
        double spread, until;
    } rows[] = {
        { 2, 0.02, 0.05 }, { 2, 0.04, 0.05 }, { 2, 0.06, 0.05 }, { 2, 0.1, 0.05 },
        { 2, 0.15, 0.1 },  { 3, 0.05, 0.1 },  { 3, 0.1, 0.1 },   { 5, 0.1, 0.1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char claim[160];
        double runs, part = coverage(rows[i].n_versions, rows[i].spread, rows[i].until, &runs);
        snprintf(
            claim, sizeof claim,
            "%zu versions whose runs vary by %g %%, until %g %%: 93 to 97 %% of the intervals have the truth in them",
            rows[i].n_versions, rows[i].spread * 100, rows[i].until * 100);
        CHECK(claim, part >= 0.93 && part <= 0.97);
        printf("# %.4f, after %.1f runs of each\n", part, runs);
    }
}

/* ---- when to stop ---- */

static void test_rerun(void)
{
    struct rerun r = { .n_versions = 2, .until = 0.05, .runs_least = 2, .runs_most = 6 };
    static const double quiet[] = { 100, 101, 100, 101, 100, 101 }, loud[] = { 50, 150, 60, 200, 55, 180 };
    size_t n = 0;
    struct moments groups[2] = { { .n = 0 }, { .n = 0 } };
    rerun_begin(&r);
    do {
        moments_add(&groups[0], log(quiet[n]));
        moments_add(&groups[1], log(quiet[n]));
        n++;
    } while (rerun_again(&r, groups));
    CHECK("intervals are narrow enough when they were so twice in a row", n == 3 && r.is_narrow && r.half < 0.05);
    groups[0] = groups[1] = (struct moments){ .n = n = 0 };
    rerun_begin(&r);
    do {
        moments_add(&groups[0], log(loud[n]));
        moments_add(&groups[1], log(loud[n]));
        n++;
    } while (rerun_again(&r, groups));
    CHECK("at the limit it ends, and they are still wide", n == 6 && !r.is_narrow && r.half > 0.05);
}

int main(void)
{
    test_range();
    test_tukey();
    test_printed();
    test_steady();
    test_rerun();
    test_coverage();
    return tap_done();
}
