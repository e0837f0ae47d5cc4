/* A histogram of calls' times. */
#include "phases/select/statistics.h"

#include "core/base/xalloc.h"

/* The middle of a step. */
static double value_of(uint32_t octave, uint32_t step)
{
    if (octave == 0)
        return step;
    double width = ldexp(1, (int)octave - 1);
    return (LATENCY_STEPS + step) * width + (width - 1) / 2;
}

uint32_t *latency_new_octave(struct latency *latency, uint32_t octave)
{
    return latency->octaves[octave] = xcalloc(LATENCY_STEPS, sizeof **latency->octaves);
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
