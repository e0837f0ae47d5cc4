#include "core/trace/encode.h"

#include "core/trace/predict.h"

/* How many timestamps, from the first on, are whole units after it, in whole ticks. */
static size_t count_fit(const uint64_t *ticks, size_t n, uint32_t unit, uint32_t phase)
{
    uint64_t position = phase;
    for (size_t i = 1; i < n; i++) {
        uint64_t passed = ticks[i] - ticks[0], ahead = (passed << PHASE_BITS | 3) - position;
        position += ahead - ahead % unit;
        if (position >> PHASE_BITS != passed)
            return i;
    }
    return n;
}

uint32_t clock_unit_phase(const uint64_t *ticks, size_t n, uint32_t unit, size_t *n_fit)
{
    uint32_t best = 0;
    *n_fit = 0;
    for (uint32_t phase = 0; phase < 1u << PHASE_BITS && *n_fit < n; phase++) {
        size_t fit = count_fit(ticks, n, unit, phase);
        if (fit > *n_fit) {
            *n_fit = fit;
            best = phase;
        }
    }
    return best;
}

uint32_t clock_unit_find(const uint64_t *ticks, size_t n)
{
    size_t n_fit;
    for (uint32_t unit = UNIT_MAX; n >= CLOCK_UNIT_SAMPLES && unit > UNIT_TICK; unit--) {
        clock_unit_phase(ticks, n, unit, &n_fit);
        if (n_fit == n)
            return unit;
    }
    return UNIT_TICK;
}
