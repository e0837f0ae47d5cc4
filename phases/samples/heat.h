/*
 * How hot something is: what was sampled of it, each sample counting half as much after a half-life, a quarter after
 * two, ...  What is sampled no more goes cold.
 *
 * PEBSI lets it go cold by a threshold that grows with the number of samples (§5.1.4); here the threshold is a part of
 * all heat, which grows as samples come, and heat decays.
 */
#ifndef PHASES_SAMPLES_HEAT_H
#define PHASES_SAMPLES_HEAT_H

#include <stdint.h>

#define HEAT_HOT 0.01 /* with this part of all heat, or more, it is hot */

/* As of a moment; all zero: nothing was added. */
struct heat {
    double value; /* in the unit of what is added */
    uint64_t ns;
};

/* Add what is of a moment; in any order of moments.  half_life_ns: more than 0, the same always. */
void heat_add(struct heat *heat, uint64_t ns, double weight, uint64_t half_life_ns);

/* The part of 'all', to which all that is in 'some' was added, too; 0: there is none. */
double heat_share(const struct heat *some, const struct heat *all, uint64_t half_life_ns);

#endif
