/*
 * Is it worth compiling a method at a higher tier?  Its future time is taken to be its past time, which is known from
 * samples; compiled at another tier it takes that time over the quotient of both tiers' speeds, and the compiler's time
 * besides, by the size of the method's bytecode.
 *
 * Source: thesis §4.1.2 (after Arnold et al., OOPSLA 2000), for HotSpot's tiers.
 */
#ifndef PHASES_COMPILE_MODEL_H
#define PHASES_COMPILE_MODEL_H

#include <stdint.h>

#define COMPILE_TIERS 5u /* 0: interpreted; 1, 2, 3: C1 without, with some and with all profiling; 4: C2 */

struct compile_model {
    double speed[COMPILE_TIERS];       /* in units of the interpreter's */
    double ns_per_byte[COMPILE_TIERS]; /* of the compiler's CPU time, for a byte of bytecode with what is inlined */
};

extern const struct compile_model compile_model_measured;

/*
 * The number of events that is exceeded with a probability of 97.5 % where n of them happened by chance: the lower end
 * of a 95 % interval.  Source: the approximation of Wilson and Hilferty to the chi-square distribution.
 */
double compile_least_events(double n);

/*
 * The tier that saves most, where the saving is larger than the cost even if the samples were many by chance; 0: none.
 *
 * tier        of the method's code now; 4 is the highest
 * n_samples   of the method at that tier, each for period_ns of CPU time
 * code_bytes  of its bytecode
 *
 * A method that is interpreted is compiled with profiling (3) first: C2 needs what is counted there.
 */
uint32_t compile_model_choose(const struct compile_model *model, uint32_t tier, double n_samples, double period_ns,
                              uint32_t code_bytes);

#endif
