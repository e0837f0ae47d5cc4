/*
 * How often an interval of 95 % has the truth, on counts made up with a known truth: the rate that would have been seen
 * if the group had counted all the time.  All random numbers come from a fixed seed.
 */
#include "phases/tree/estimate.h"

#include "test/unit/tap.h"

#include <math.h>
#include <stdlib.h>

#define N_GROUPS   4
#define STEP_NS    250000 /* a quarter of a millisecond */
#define TURN_STEPS 16     /* 4 ms */
#define N_RUNS     500

static uint64_t seed;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    double radius = sqrt(-2 * log(uniform())), angle = 6.283185307179586 * uniform();
    return radius * cos(angle);
}

static uint64_t poisson(double mean)
{
    if (mean > 50) {
        double n = floor(mean + sqrt(mean) * normal() + 0.5);
        return n < 0 ? 0 : (uint64_t)n;
    }
    double limit = exp(-mean), product = uniform();
    uint64_t n = 0;
    for (; product > limit; n++)
        product *= uniform();
    return n;
}

/* A phase: how it runs, and how its rate of events (per 1,000 instructions) changes. */
struct phase {
    uint32_t n_steps;
    double duty, call_steps;      /* the share of the time that it runs, and for how long at a time; duty 1: always */
    uint32_t interval_steps;      /* between two records or readings */
    double lasting_turns, spread; /* how long a rate lasts, and the standard deviation of its logarithm */
    double burst_turns, burst_share; /* or: bursts of 20 times the rate, so long, in so much of the time */
    double drift;                    /* or: by which factor it grows over the run */
    uint32_t loop_steps;             /* or: a loop that has all its events in the first quarter */
    double state;                    /* of the rate */
    bool runs, in_burst;
};

static void begin(struct phase *p)
{
    p->state = normal();
    p->runs = uniform() < p->duty;
    p->in_burst = uniform() < p->burst_share;
}

static double next_rate(struct phase *p, uint32_t step)
{
    if (p->lasting_turns > 0) {
        double kept = exp(-1 / (p->lasting_turns * TURN_STEPS));
        p->state = kept * p->state + sqrt(1 - kept * kept) * normal();
        return 5 * exp(p->spread * p->state);
    }
    if (p->burst_turns > 0) {
        double end = 1 / (p->burst_turns * TURN_STEPS), start = end * p->burst_share / (1 - p->burst_share);
        p->in_burst = p->in_burst ? uniform() >= end : uniform() < start;
        return p->in_burst ? 20 : 1;
    }
    if (p->loop_steps > 0)
        return step % p->loop_steps < p->loop_steps / 4 ? 20 : 0;
    return 5 * (1 + p->drift * step / p->n_steps);
}

static bool next_runs(struct phase *p)
{
    if (p->duty < 1) {
        double end = 1 / p->call_steps, start = end * p->duty / (1 - p->duty);
        p->runs = p->runs ? uniform() >= end : uniform() < start;
    }
    return p->runs;
}

/* What one run has to say of the rate, and the truth. */
struct outcome {
    double rate, half, truth;
};

struct run {
    struct estimate_turns turns;
    struct estimate_batches batches;
    uint64_t turn, running[N_GROUPS], enabled,
        counted[2]; /* of the interval; of the first group: events, instructions */
    double seen[2], all[2], seen_ns, all_ns;
};

static void end_interval(struct run *run)
{
    if (run->counted[1] > 0)
        estimate_batches_add(&run->batches, run->turn, run->running[0], run->counted);
    run->turn += estimate_turns_take(&run->turns, run->running, N_GROUPS, run->enabled) & 1;
    memset(run->running, 0, sizeof run->running);
    memset(run->counted, 0, sizeof run->counted);
    run->enabled = 0;
}

static void take_step(struct run *run, struct phase *p, uint32_t step, uint32_t group)
{
    double rate = next_rate(p, step);
    uint64_t instructions = next_runs(p) ? 200000 + (uint64_t)(100000 * uniform()) : 0,
             events = instructions == 0 ? 0 : poisson((double)instructions / 1000 * rate);
    run->running[group] += STEP_NS;
    run->enabled += STEP_NS;
    run->all[0] += (double)events;
    run->all[1] += (double)instructions;
    run->all_ns += instructions > 0;
    if (group != 0)
        return;
    run->counted[0] += events;
    run->counted[1] += instructions;
    run->seen[0] += (double)events;
    run->seen[1] += (double)instructions;
    run->seen_ns += instructions > 0;
}

static bool run_once(struct phase *p, struct outcome *outcome)
{
    struct run run = { .turn = 1 };
    struct estimate_variance variance = { 0 };
    estimate_batches_open(&run.batches, 2);
    begin(p);
    uint32_t first = (uint32_t)(uniform() * N_GROUPS * TURN_STEPS);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        take_step(&run, p, i, (i + first) / TURN_STEPS % N_GROUPS);
        if ((i + 1) % p->interval_steps == 0)
            end_interval(&run);
    }
    outcome->truth = run.all[0] / run.all[1];
    outcome->rate = run.seen[0] / run.seen[1];
    estimate_variance_add(&variance, &run.batches, 0, 1, outcome->rate, run.seen_ns / run.all_ns, 1 / run.seen[1]);
    outcome->half = estimate_half_width(&variance);
    estimate_batches_close(&run.batches);
    return outcome->half >= 0;
}

/* Shares of the runs whose intervals, made wider by a factor, have the truth. */
struct coverage {
    double narrow, exact, wide; /* 0.7, 1, 1.5 */
    double had, width;          /* share of runs that had an interval; mean half width, of the truth */
};

static struct coverage cover(struct phase phase)
{
    struct coverage c = { 0 };
    seed = UINT64_C(88172645463325252);
    for (int i = 0; i < N_RUNS; i++) {
        struct outcome o;
        if (!run_once(&phase, &o))
            continue;
        double off = fabs(o.rate - o.truth);
        c.narrow += off <= 0.7 * o.half;
        c.exact += off <= o.half;
        c.wide += off <= 1.5 * o.half;
        c.width += o.half / o.truth;
        c.had++;
    }
    double n = c.had == 0 ? 1 : c.had;
    return (struct coverage){ c.narrow / n, c.exact / n, c.wide / n, c.had / N_RUNS, c.width / n };
}

static bool is_right(double share)
{
    return share >= 0.92 && share <= 0.98;
}

static void test_coverage(void)
{
    static const struct {
        const char *claim;
        struct phase phase;
    } rows[] = {
        { "independent counts, 2 s: 95 % of the intervals have the truth",
          { .n_steps = 8000, .duty = 1, .interval_steps = 1 } },
        { "only 0.4 s of them", { .n_steps = 1600, .duty = 1, .interval_steps = 1 } },
        { "bursts of half a turn",
          { .n_steps = 16000, .duty = 1, .interval_steps = 1, .burst_turns = 0.5, .burst_share = 0.1 } },
        { "rarer bursts",
          { .n_steps = 16000, .duty = 1, .interval_steps = 1, .burst_turns = 0.5, .burst_share = 0.05 } },
        { "rates that last for half a turn",
          { .n_steps = 8000, .duty = 1, .interval_steps = 1, .lasting_turns = 0.5, .spread = 0.5 } },
        { "rates that last for two turns, in a phase that runs now and then",
          { .n_steps = 24000,
            .duty = 0.05,
            .call_steps = 12,
            .interval_steps = 1,
            .lasting_turns = 2,
            .spread = 0.5 } },
        { "rates that last for a second, the same",
          { .n_steps = 40000,
            .duty = 0.05,
            .call_steps = 12,
            .interval_steps = 1,
            .lasting_turns = 250,
            .spread = 0.5 } },
        { "calls much shorter than a turn",
          { .n_steps = 16000,
            .duty = 0.1,
            .call_steps = 1,
            .interval_steps = 1,
            .lasting_turns = 0.25,
            .spread = 0.5 } },
        { "one long call, read every 10 ms",
          { .n_steps = 8000, .duty = 1, .interval_steps = 40, .lasting_turns = 0.25, .spread = 0.5 } },
        { "one long call, read every 100 ms",
          { .n_steps = 24000, .duty = 1, .interval_steps = 400, .lasting_turns = 0.25, .spread = 0.5 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct coverage c = cover(rows[i].phase);
        CHECK(rows[i].claim, c.had > 0.95 && is_right(c.exact));
        CHECK("and neither 0.7 nor 1.5 times as wide ones would do", !is_right(c.narrow) && !is_right(c.wide));
        printf("# %.1f %% (narrow %.1f, wide %.1f), half width %.2f %% of the rate\n", c.exact * 100, c.narrow * 100,
               c.wide * 100, c.width * 100);
    }
}

/* What the header says of where it is worse. */
static void test_where_it_is_worse(void)
{
    struct coverage c =
        cover((struct phase){ .n_steps = 8000, .duty = 1, .interval_steps = 1, .lasting_turns = 4, .spread = 0.5 });
    CHECK("rates that last for four turns in a phase that always runs: the interval is too wide", c.exact > 0.98);
    c = cover((struct phase){ .n_steps = 8000, .duty = 1, .interval_steps = 1, .drift = 4 });
    CHECK("a drift over the run: too wide, too", c.exact > 0.98);
    CHECK("but less than 4 % of the rate, which grew fivefold", c.width < 0.04);
    c = cover(
        (struct phase){ .n_steps = 16000, .duty = 1, .interval_steps = 1, .burst_turns = 4, .burst_share = 0.002 });
    CHECK("events that come in a few bursts only: too narrow", c.exact < 0.92);
    c = cover((struct phase){ .n_steps = 8000, .duty = 1, .interval_steps = 1, .loop_steps = N_GROUPS * TURN_STEPS });
    CHECK("a program in step with the turns: wrong, and nothing can tell", c.exact < 0.5);
}

static void test_batches(void)
{
    struct estimate_batches b;
    struct estimate_variance v = { 0 };
    estimate_batches_open(&b, 2);
    for (uint64_t turn = 1; turn <= 4; turn++)
        for (int call = 0; call < 100; call++)
            estimate_batches_add(&b, turn, 1000, (const uint64_t[]){ turn % 2, 10 });
    estimate_variance_add(&v, &b, 0, 1, 0.05, 0.25, 1);
    CHECK("four turns are too few, however many calls they were", v.is_unknown && estimate_half_width(&v) < 0);
    v = (struct estimate_variance){ 0 };
    estimate_variance_add(&v, &b, 0, 1, 0.05, 1, 1);
    CHECK("unless the group counted all the time: nothing is estimated then", estimate_half_width(&v) == 0);
    estimate_batches_add(&b, 5, 1000, (const uint64_t[]){ 50, 1000 });
    v = (struct estimate_variance){ 0 };
    estimate_variance_add(&v, &b, 0, 1, 0.05, 0.25, 1);
    /* d: 50, -50, 50, -50, 0 */
    double expected = 0.75 * (3 * 10000 + 2500) / 2 * 5 / 4;
    CHECK("with five, differences of neighbours make the variance",
          fabs(v.variance / expected - 1) < 1e-12 && fabs(estimate_half_width(&v) / sqrt(expected) - 3.24) < 0.02);
    for (uint64_t turn = 6; turn <= 100000; turn++)
        estimate_batches_add(&b, turn, 100000, (const uint64_t[]){ turn % 2, 10 });
    CHECK("100,000 turns are 16 to 31 batches", b.n >= 16 && b.n < ESTIMATE_BATCHES_ROOM);
    double sum = 0;
    for (size_t i = 0; i < (b.n + (size_t)1) * 3; i += 3)
        sum += b.rows[i + 1];
    CHECK("that have all that was added", sum == 200 + 50 + (100000 - 5) / 2 + 0);
    estimate_batches_close(&b);
}

static void test_no_events(void)
{
    struct estimate_batches b;
    struct estimate_variance v = { 0 };
    estimate_batches_open(&b, 2);
    for (uint64_t turn = 1; turn <= 20; turn++)
        estimate_batches_add(&b, turn, 1000, (const uint64_t[]){ 0, 1000 });
    estimate_variance_add(&v, &b, 0, 1, 0, 0.25, 1.0 / 20000);
    double half = estimate_half_width(&v);
    CHECK("no event in 20,000 instructions may be one or two that were not seen",
          half > 1.0 / 20000 && half < 3.0 / 20000);
    estimate_batches_close(&b);
}

static void test_turns(void)
{
    static const struct {
        const char *claim;
        uint64_t running[2], enabled;
        uint32_t ended;
    } rows[] = {
        { "a turn begins within an interval", { 30, 70 }, 100, 0 },
        { "it goes on: the other's has ended", { 100, 0 }, 100, 2 },
        { "a read that took a while is no end", { 99, 0 }, 100, 0 },
        { "it ends within an interval, where the other's begins", { 40, 60 }, 100, 1 },
        { "the thread did not run", { 0, 0 }, 0, 0 },
        { "both end within one that is longer than turns", { 50, 50 }, 100, 2 },
        { "and of those each second one", { 50, 50 }, 100, 1 },
        { "nobody counts", { 0, 0 }, 100, 2 },
    };
    struct estimate_turns turns = { { 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_NUMBER(rows[i].claim, estimate_turns_take(&turns, rows[i].running, 2, rows[i].enabled), rows[i].ended);
}

static void test_student(void)
{
    static const struct {
        double freedom, quantile;
    } rows[] = { { 3, 3.1824 }, { 4, 2.7764 }, { 6, 2.4469 }, { 10, 2.2281 }, { 20, 2.0860 }, { 1e9, 1.9600 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK("Student's t, as in the tables, to 0.4 %",
              fabs(estimate_student(rows[i].freedom) / rows[i].quantile - 1) < 0.004);
}

int main(void)
{
    test_turns();
    test_student();
    test_batches();
    test_no_events();
    test_coverage();
    test_where_it_is_worse();
    return tap_done();
}
