#include "phases/select/latency.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define STEP_BITS 6u /* of LATENCY_STEPS */

/* Where a number is: the octave, and its step there. */
static uint32_t octave_of(uint64_t ticks, uint32_t *step)
{
    uint32_t bits = ticks < LATENCY_STEPS ? 0 : 63u - (uint32_t)__builtin_clzll(ticks) - STEP_BITS;
    uint32_t octave = ticks < LATENCY_STEPS ? 0 : bits + 1;
    *step = (uint32_t)(ticks >> bits) & (LATENCY_STEPS - 1);
    return octave;
}

/* The middle of a step. */
static double value_of(uint32_t octave, uint32_t step)
{
    if (octave == 0)
        return step;
    double width = ldexp(1, (int)octave - 1);
    return (LATENCY_STEPS + step) * width + (width - 1) / 2;
}

int latency_add(struct latency *latency, uint64_t ticks)
{
    uint32_t step, octave = octave_of(ticks, &step);
    if (latency->octaves[octave] == NULL) {
        latency->octaves[octave] = calloc(LATENCY_STEPS, sizeof **latency->octaves);
        if (latency->octaves[octave] == NULL)
            return -1;
    }
    uint32_t *count = &latency->octaves[octave][step];
    *count += *count < UINT32_MAX;
    latency->n++;
    latency->longest = ticks > latency->longest ? ticks : latency->longest;
    return 0;
}

void latency_free(struct latency *latency)
{
    for (uint32_t i = 0; i < LATENCY_OCTAVES; i++)
        free(latency->octaves[i]);
    *latency = (struct latency){ .n = 0 };
}

double latency_quantile(const struct latency *latency, double part)
{
    double rank = fmax(ceil(part * (double)latency->n), 1), seen = 0;
    if (latency->n == 0)
        return NAN;
    for (uint32_t octave = 0; octave < LATENCY_OCTAVES; octave++)
        for (uint32_t step = 0; latency->octaves[octave] != NULL && step < LATENCY_STEPS; step++) {
            seen += latency->octaves[octave][step];
            if (seen >= rank)
                return fmin(value_of(octave, step), (double)latency->longest);
        }
    return (double)latency->longest;
}
