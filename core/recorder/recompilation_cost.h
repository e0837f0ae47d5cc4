/*
 * What changed classes cost the JVM's JIT compilers: when a class changes, HotSpot throws away all compiled code that
 * has code of it, its own methods' and that into which these were inlined.  All of that is in the map of its code
 * beforehand: what the JVM told of all code, or, where it tells of little, whose classes' code all of it has.
 *
 * Work is what it takes to compile code, in bytes of code of the quick compiler (C1).
 */
#ifndef CORE_RECORDER_RECOMPILATION_COST_H
#define CORE_RECORDER_RECOMPILATION_COST_H

#include "core/recorder/code_map.h"

#define RECOMPILATION_CLASSES 64u
#define RECOMPILATION_C2      20.0 /* of a byte of the optimizing one: h2 5.0 us, C1 0.25 us (-XX:+CITime, JDK 17) */

/* Code of these classes: a bit for each of those that were asked for. */
struct recompilation_cost {
    uint64_t classes;
    double work;
};

struct recompilation_costs {
    struct recompilation_cost *all; /* owned */
    size_t n, room;
    double compiled; /* the work of all code that was compiled so far, what is gone included; 0: none is known */
};

/*
 * The code that is there now and has code of one of these n classes (internal form; RECOMPILATION_CLASSES at most).
 * *costs is for recompilation_costs_free.
 */
void recompilation_costs_find(const struct code_map *map, const char *const *classes, size_t n,
                              struct recompilation_costs *costs);
void recompilation_costs_free(struct recompilation_costs *costs);

/* The work for the class with this bit that does not come with those that change anyway. */
double recompilation_costs_of(const struct recompilation_costs *costs, uint64_t class_bit, uint64_t with);

#endif
