/*
 * What a probe costs, measured in the target itself: a loop of empty pairs, compiled by the target's own compilers,
 * that writes into a private ring.
 *
 * Thesis §3.2.1 stops counting while a record is logged; here the cost is subtracted afterwards.  A pair's cost has a
 * part between its two timestamps (it would be charged to the method) and one outside of them (to its caller).
 */
#include "core/agent/agent.h"
#include "core/base/ticks.h"

#include <stdlib.h>

#define PAIRS_PER_ROUND 16384
#define MAX_ROUNDS      60
#define SETTLED_ROUNDS  8 /* without a better one */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Where a tick is as long as a probe, its values are 0 and 1, and only the mean of nearly all says how often. */
#define COARSE 16

/*
 * The middle half's mean: a median of whole ticks would be too coarse, an outlier (an interrupt) does not count.
 */
static double middle(uint64_t *values, size_t n)
{
    double sum = 0;
    qsort(values, n, sizeof *values, by_value);
    size_t first = n / 4, end = n - n / 4;
    if (values[end] < COARSE)
        for (first = 0; end < n && values[end] < COARSE; end++)
            continue;
    for (size_t i = first; i < end; i++)
        sum += (double)values[i];
    return sum / (double)(end - first);
}

/* What a pair costs, times 16. */
struct costs {
    uint64_t inside, outside;
};

/*
 * The costs in what the values at words[offset] of each record count, below the bits of mask.
 *
 * words  PAIRS_PER_ROUND pairs of records of n_per_record words.
 */
static struct costs evaluate(const uint64_t *words, size_t n_per_record, size_t offset, uint64_t mask,
                             uint64_t *scratch)
{
    const uint64_t *entry = words + offset, *exit = entry + n_per_record;
    const size_t pair = 2 * n_per_record;
    struct costs costs;
    for (size_t i = 0; i < PAIRS_PER_ROUND; i++)
        scratch[i] = (exit[i * pair] - entry[i * pair]) & mask;
    costs.inside = (uint64_t)(16 * middle(scratch, PAIRS_PER_ROUND));
    for (size_t i = 0; i + 1 < PAIRS_PER_ROUND; i++)
        scratch[i] = (entry[(i + 1) * pair] - exit[i * pair]) & mask;
    costs.outside = (uint64_t)(16 * middle(scratch, PAIRS_PER_ROUND - 1));
    return costs;
}

struct calibration {
    struct ring *ring;
    uint64_t *words, *scratch; /* owned; scratch is part of words */
    size_t n_per_record;
    uint32_t n_words;
    struct costs ticks, counters[RING_COUNTERS_MAX]; /* of the cheapest round */
};

static int prepare(struct calibration *c, size_t n_counters, struct err *err)
{
    c->n_per_record = 1 + n_counters;
    c->n_words = 2 * PAIRS_PER_ROUND;
    while (c->n_words < 2 * PAIRS_PER_ROUND * c->n_per_record)
        c->n_words *= 2;
    c->words = calloc((size_t)c->n_words + PAIRS_PER_ROUND, sizeof *c->words);
    c->ring = aligned_alloc(_Alignof(struct ring), sizeof *c->ring);
    if (c->words == NULL || c->ring == NULL)
        return err_set(err, "the probes cannot be calibrated: out of memory in the target");
    c->scratch = c->words + c->n_words;
    return 0;
}

/* Run the loop once; false when it threw.  Counters that do not open cost nothing, and *refused says so. */
static bool run(struct calibration *c, JNIEnv *jni, jmethodID loop, const struct agent_config *config,
                struct counters_failure *failure, bool *refused)
{
    if (probe_enter_private(c->ring, c->words, c->n_words, AGENT_EPOCH_MAX, config, failure) < 0)
        *refused = true;
    (*jni)->CallStaticVoidMethod(jni, classes_probe(), loop, (jint)agent_token(AGENT_EPOCH_MAX, 1), PAIRS_PER_ROUND);
    probe_leave_private();
    return !(*jni)->ExceptionCheck(jni);
}

/* Returns whether this round was much cheaper than all before. */
static bool take_round(struct calibration *c)
{
    const uint64_t mask = (UINT64_C(1) << RING_TICKS_BITS) - 1;
    struct costs ticks = evaluate(c->words, c->n_per_record, 0, mask, c->scratch);
    uint64_t best = c->ticks.inside + c->ticks.outside, now = ticks.inside + ticks.outside;
    if (best > 0 && now >= best)
        return false;
    c->ticks = ticks;
    for (size_t i = 0; i + 1 < c->n_per_record; i++)
        c->counters[i] = evaluate(c->words, c->n_per_record, 1 + i, UINT64_MAX, c->scratch);
    return best == 0 || now < best - best / 50;
}

static void publish(const struct calibration *c, struct segment *segment)
{
    atomic_store(&segment->inside_cost_ticks_x16, c->ticks.inside);
    atomic_store(&segment->outside_cost_ticks_x16, c->ticks.outside);
    for (size_t i = 0; i + 1 < c->n_per_record; i++) {
        atomic_store(&segment->inside_cost_counters_x16[i], c->counters[i].inside);
        atomic_store(&segment->outside_cost_counters_x16[i], c->counters[i].outside);
    }
    atomic_store(&segment->is_calibrated, 1);
}

static void publish_refusal(const struct counters_failure *failure, struct segment *segment)
{
    atomic_store(&segment->counters_errno, (uint32_t)failure->error);
    atomic_store(&segment->counters_index, failure->i);
    atomic_store(&segment->counters_refused, (uint32_t)failure->step + 1);
}

int calibrate(JNIEnv *jni, const struct agent_config *config, struct segment *segment, struct err *err)
{
    struct calibration c = { .ring = NULL };
    struct counters_failure failure;
    bool refused = false;
    int rc = prepare(&c, counter_layout_columns(&config->layout), err);
    jmethodID loop = (*jni)->GetStaticMethodID(jni, classes_probe(), "calibrate", "(II)V");
    bool runs = rc == 0 && loop != NULL;
    for (int i = 0, n_since_best = 0; runs && i < MAX_ROUNDS && n_since_best < SETTLED_ROUNDS; i++) {
        runs = run(&c, jni, loop, config, &failure, &refused);
        n_since_best = take_round(&c) ? 0 : n_since_best + 1;
    }
    (*jni)->ExceptionClear(jni);
    if (rc == 0 && !runs)
        rc = err_set(err, "the probes cannot be calibrated: the loop threw an exception");
    if (rc == 0 && refused)
        publish_refusal(&failure, segment);
    if (rc == 0)
        publish(&c, segment);
    free(c.words);
    free(c.ring);
    return rc;
}
