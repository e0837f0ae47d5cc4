/*
 * What the optimizing compiler (C2) is at.
 *
 * A change of any class makes HotSpot throw away each compilation that is under way (ciEnv::jvmti_state_changed; seen
 * with 17); most take some ms, but those of the largest methods a second, and the program runs slow code for as long
 * again.  The best moment for a change is while the compiler has nothing to do: when one compilation has ended, the
 * next one is under way at once in a program that warms up, and is thrown away whole.
 */
#ifndef CORE_AGENT_COMPILING_H
#define CORE_AGENT_COMPILING_H

#include <stdbool.h>
#include <stdint.h>

#define COMPILING_OPTIMIZED 4u /* C2's tier */

/* A method was compiled, by the compiler of this tier. */
void compiling_note(uint32_t tier);

/*
 * Wait until C2 compiles nothing; after calm_ms until one of its compilations ends, too, and for limit_ms at most.
 * Where the JVM neither tells what it compiles nor exports what its compilers are at (vm_compilers.h), only whether
 * they are asleep is known.
 *
 * is_over  asked every 1 to 10 ms: whether to wait no more; or NULL
 *
 * Returns how long it took, in ms.
 */
double compiling_wait(uint32_t calm_ms, uint32_t limit_ms, bool (*is_over)(const void *context), const void *context);

#endif
