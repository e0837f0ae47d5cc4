/* Heat: what is left of samples after a time, and its share. */
#include "phases/samples/sample_profile.h"

#include "test/unit/tap.h"

#include <math.h>

#define SECOND UINT64_C(1000000000)

static bool is_about(double value, double expected)
{
    return fabs(value - expected) < 1e-9;
}

/*
 * A half-life of 2 s.  8 at 0 s and 4 at 4 s: 8/4 + 4 = 6 are left at 4 s; of all, to which 6 of others were added at
 * 6 s, 6/2 + 6 = 9 are left then, and the share is 3/9.
 */
static void test_example(void)
{
    struct heat some = { 0 }, all = { 0 }, none = { 0 };
    CHECK("of nothing there is no share", is_about(heat_share(&none, &none, 2 * SECOND), 0));
    heat_add(&some, 0, 8, 2 * SECOND);
    heat_add(&some, 4 * SECOND, 4, 2 * SECOND);
    CHECK("heat halves after each half-life", is_about(some.value, 6) && some.ns == 4 * SECOND);
    heat_add(&all, 6 * SECOND, 6, 2 * SECOND);
    heat_add(&all, 0, 8, 2 * SECOND);
    heat_add(&all, 4 * SECOND, 4, 2 * SECOND);
    CHECK("samples may come in any order", is_about(all.value, 9) && all.ns == 6 * SECOND);
    CHECK("a share is of what is left at the same time", is_about(heat_share(&some, &all, 2 * SECOND), 1.0 / 3));
    struct heat joined = { 0 };
    heat_add(&joined, all.ns, all.value, 2 * SECOND);
    heat_add(&joined, some.ns, some.value, 2 * SECOND);
    CHECK("heats are added up as samples are", is_about(joined.value, 12));
    heat_add(&some, 100000 * SECOND, 1, 2 * SECOND);
    CHECK("after a long time nothing is left", is_about(some.value, 1));
}

/* Method 1 for 30 s, then 2 for 10: by time the first has 3/4, by heat 1/1024 after ten half-lives. */
static void test_profile(void)
{
    const uint32_t stacks[2][2] = { { 1, 0 }, { 2, 0 } };
    struct sample_profile profile;
    sample_profile_open(&profile, SECOND, CONTEXT_TREE_MIN_BYTES);
    profile.half_life_ns = SECOND;
    for (uint32_t i = 0; i < 40; i++) {
        const struct profile_sample sample = { .time_ns = i * SECOND, .ns = 10, .n = 2, .methods = stacks[i >= 30] };
        sample_profile_add(&profile, &sample);
    }
    CHECK("what has most time", is_about(sample_profile_self(&profile, 1).share, 0.75));
    double first = sample_profile_heat(&profile, 1, true), second = sample_profile_heat(&profile, 2, true);
    CHECK("may be cold", first < HEAT_HOT && fabs(first - 1.0 / 1024) < 1e-5);
    CHECK("where something else is hot", is_about(first + second, 1));
    CHECK("callers have the heat of what they call",
          is_about(sample_profile_heat(&profile, 0, false), 1) && is_about(sample_profile_heat(&profile, 0, true), 0));
    sample_profile_free(&profile);
}

int main(void)
{
    test_example();
    test_profile();
    return tap_done();
}
