/* What 'mmprof diff' finds, and what it finds that is not there, in sets of five runs that chance has drawn. */
#include "test/unit/diff_experiment.h"
#include "test/unit/tap.h"

#define N 300

#define TEN_MORE    1.1 /* of one phase, after five and five runs */
#define THIRTY_MORE 1.3 /* after four and four */

static struct experiment experiment = { .random = 1 };

#define N_PAIRED 2000

/* Runs in turns on a machine that is 20 % faster or slower from pair to pair; of one leaf, the whole has a third. */
static void test_pairs(void)
{
    const struct experiment_noise noise = { .row = 0.03, .part = 0.05, .pair = 0.2 };
    size_t n_false = 0, n_found = 0;
    experiment.random = 1;
    for (size_t i = 0; i < N_PAIRED; i++) {
        experiment_draw(&experiment, &noise, 4, 0, 1);
        n_false += experiment_count(&experiment.diff) > 0;
        experiment_draw(&experiment, &noise, 4, 0, THIRTY_MORE);
        n_found += experiment_rose(&experiment.diff, "whole process");
    }
    printf("# in turns: false %.3f, found %.3f\n", (double)n_false / N_PAIRED, (double)n_found / N_PAIRED);
    CHECK("in turns: at most 5 % of the sets without a change have one", (double)n_false <= 0.05 * N_PAIRED);
    CHECK("in turns: 9 % more of the whole are found in 90 %", (double)n_found >= 0.9 * N_PAIRED);
}

int main(void)
{
    static const struct {
        const char *of;
        struct experiment_noise noise;
        double least_found; /* of N; what is not asked for is 0 */
        double factor;      /* 0: TEN_MORE */
    } rows[] = {
        { "3 % a row", { .row = 0.03, .part = 0.1 }, 0.8, 0 },
        { "3 % a row, and 10 % in common", { .common = 0.1, .row = 0.03, .part = 0.1 }, 0.8, 0 },
        { "1.5 to 6 % a row, and up to 15 % in common",
          { .common = 0.1, .row = 0.03, .part = 0.1, .is_uneven = true, .has_slopes = true },
          0.8,
          0 },
        { "10 % in common alone", { .common = 0.1, .row = 0.0001, .part = 0.0001 }, 0.8, 0 },
        { "20 % a row", { .row = 0.2, .part = 0.3 }, 0, 0 },
        { "1.5 to 6 % a row, and 10 % in common, and outliers",
          { .common = 0.1, .row = 0.03, .part = 0.1, .is_uneven = true, .has_outliers = true },
          0,
          0 },
        { "8 % a row, and 10 % in common", { .common = 0.1, .row = 0.08, .part = 0.1 }, 0.7, THIRTY_MORE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct experiment_counts counts;
        char claim[120];
        bool is_thirty = rows[i].factor > TEN_MORE;
        double factor = is_thirty ? THIRTY_MORE : TEN_MORE;
        experiment_many(&experiment, &rows[i].noise, is_thirty ? 4 : 5, factor, N, &counts);
        printf("# %s: false %.3f, found %.3f, wrong leaves %.3f\n", rows[i].of, (double)counts.n_false / N,
               (double)counts.n_found / N, (double)counts.n_wrong / N);
        snprintf(claim, sizeof claim, "%s: at most 5 %% of the sets without a change have one", rows[i].of);
        CHECK(claim, (double)counts.n_false <= 0.05 * N);
        snprintf(claim, sizeof claim, "%s: %.0f %% more of one phase are found in %.0f %%", rows[i].of,
                 100 * (factor - 1), 100 * rows[i].least_found);
        if (rows[i].least_found > 0)
            CHECK(claim, (double)counts.n_found >= rows[i].least_found * N);
    }
    test_pairs();
    arena_free(&experiment.arena);
    return tap_done();
}
