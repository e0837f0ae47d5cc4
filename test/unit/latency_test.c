/* Quantiles of calls' times: how far off, and the longest one exactly. */
#include "phases/select/statistics.h"

#include "test/unit/tap.h"

#include <math.h>

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= 0.008 * expected;
}

static void test_uniform(void)
{
    struct latency latency = { .n = 0 };
    for (uint64_t i = 1; i <= 100000; i++)
        latency_add(&latency, i * 7);
    CHECK("the half of them", is_near(latency_quantile(&latency, 0.5), 350000));
    CHECK("99 of 100", is_near(latency_quantile(&latency, 0.99), 693000));
    CHECK_NUMBER("the longest one is exact", latency.longest, 700000);
    CHECK("no quantile is longer", latency_quantile(&latency, 1) <= 700000);
    latency_free(&latency);
}

static void test_each(void)
{
    bool all = true;
    for (uint64_t ticks = 0; ticks < UINT64_C(1) << 62; ticks = ticks < 200 ? ticks + 1 : ticks + ticks / 9) {
        struct latency latency = { .n = 0 };
        latency_add(&latency, UINT64_MAX); /* the longest one is no limit */
        latency_add(&latency, ticks);
        all = all && is_near(latency_quantile(&latency, 0.5), (double)ticks);
        latency_free(&latency);
    }
    CHECK("each number is known to 0.8 %", all);
}

static void test_small(void)
{
    struct latency latency = { .n = 0 };
    CHECK("of no call nothing is known", isnan(latency_quantile(&latency, 0.5)));
    latency_add(&latency, 3);
    latency_add(&latency, 50);
    latency_add(&latency, 51);
    CHECK("short times are exact", latency_quantile(&latency, 0.3) <= 3 && latency_quantile(&latency, 0.5) >= 50 &&
                                       latency_quantile(&latency, 0.5) <= 50);
    latency_free(&latency);
}

int main(void)
{
    test_uniform();
    test_each();
    test_small();
    return tap_done();
}
