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

/*
 * The middle half's mean: a median of whole ticks would be too coarse, an outlier (an interrupt) does not count.
 */
static double middle(uint64_t *values, size_t n)
{
    double sum = 0;
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = n / 4; i < n - n / 4; i++)
        sum += (double)values[i];
    return sum / (double)(n - n / 4 - n / 4);
}

struct round {
    double inside, outside;
};

static struct round evaluate(const uint64_t *words, uint64_t *scratch)
{
    const uint64_t mask = (UINT64_C(1) << RING_TICKS_BITS) - 1;
    struct round round;
    for (size_t i = 0; i < PAIRS_PER_ROUND; i++)
        scratch[i] = (words[2 * i + 1] - words[2 * i]) & mask;
    round.inside = middle(scratch, PAIRS_PER_ROUND);
    for (size_t i = 0; i + 1 < PAIRS_PER_ROUND; i++)
        scratch[i] = (words[2 * i + 2] - words[2 * i + 1]) & mask;
    round.outside = middle(scratch, PAIRS_PER_ROUND - 1);
    return round;
}

int calibrate(JNIEnv *jni, double *inside_ticks, double *outside_ticks, struct err *err)
{
    jmethodID loop = (*jni)->GetStaticMethodID(jni, classes_probe(), "calibrate", "(II)V");
    uint64_t *words = calloc((size_t)PAIRS_PER_ROUND * 3, sizeof *words);
    struct ring *ring = aligned_alloc(_Alignof(struct ring), sizeof *ring);
    if (loop == NULL || words == NULL || ring == NULL) {
        (*jni)->ExceptionClear(jni);
        free(words);
        free(ring);
        return err_set(err, "the probes cannot be calibrated: out of memory in the target");
    }
    double best = 0;
    int n_since_best = 0;
    for (int i = 0; i < MAX_ROUNDS && n_since_best < SETTLED_ROUNDS; i++) {
        probe_enter_private(ring, words, 2 * PAIRS_PER_ROUND, AGENT_EPOCH_MAX);
        (*jni)->CallStaticVoidMethod(jni, classes_probe(), loop, (jint)agent_token(AGENT_EPOCH_MAX, 1),
                                     PAIRS_PER_ROUND);
        probe_leave_private();
        struct round round = evaluate(words, words + 2 * PAIRS_PER_ROUND);
        n_since_best++;
        if (best == 0 || round.inside + round.outside < best * 0.98)
            n_since_best = 0;
        if (best == 0 || round.inside + round.outside < best) {
            best = round.inside + round.outside;
            *inside_ticks = round.inside;
            *outside_ticks = round.outside;
        }
    }
    free(words);
    free(ring);
    bool threw = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    return threw ? err_set(err, "the probes cannot be calibrated: the loop threw an exception") : 0;
}
