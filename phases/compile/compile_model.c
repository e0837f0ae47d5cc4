#include "phases/compile/compile_model.h"

#include <math.h>

#define LIMIT 1.959964 /* of a standard normal distribution: 97.5 % are below it */

/*
 * Speeds: CPU time of an iteration of JLayer's MP3 decoder, JDK 17: 41 s with -Xint; with TieredStopAtLevel=1, 2 and 3
 * after the first iteration 1.7, 2.4 and 3.5 s, with 4 after the third 1.3 s.  Compilers: -XX:+CITime of h2, by the
 * bytes that they compile, what is inlined included.
 */
const struct compile_model compile_model_measured = {
    .speed = { 1, 24, 17, 12, 32 },
    .ns_per_byte = { 0, 250, 250, 250, 5000 },
};

double compile_least_events(double n)
{
    if (!(n > 0))
        return 0;
    double root = 1 - 1 / (9 * n) - LIMIT / (3 * sqrt(n));
    return root > 0 ? n * root * root * root : 0;
}

/* The tiers that a method may go to from each. */
static uint32_t next_tier(uint32_t tier)
{
    static const uint32_t next[COMPILE_TIERS] = { [0] = 3, [2] = 4, [3] = 4 };
    return tier < COMPILE_TIERS ? next[tier] : 0;
}

uint32_t compile_model_choose(const struct compile_model *model, uint32_t tier, double n_samples, double period_ns,
                              uint32_t code_bytes)
{
    uint32_t to = next_tier(tier);
    if (to == 0)
        return 0;
    double past_ns = compile_least_events(n_samples) * period_ns;
    double future_ns = past_ns * model->speed[tier] / model->speed[to];
    return past_ns - future_ns > model->ns_per_byte[to] * code_bytes ? to : 0;
}
