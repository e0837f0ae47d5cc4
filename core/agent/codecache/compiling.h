/*
 * What the optimizing compiler (C2) is at.
 *
 * A change of any class makes HotSpot throw away each compilation that is under way (ciEnv::jvmti_state_changed; seen
 * with 17); most take some ms, but those of the largest methods a second, and the program runs slow code for as long
 * again.  The best moment for a change is while the compiler has nothing to do.  In a program that warms up there is
 * none: when one compilation has ended, the next one is under way at once, and is thrown away whole.  At any moment
 * that is likely to be one of the long ones: of C2's time in four programs 0.5 to 1.5 s, where the mean of all
 * compilations was 44 to 107 ms (-XX:+PrintCompilation, one CPU).  Of a small method, when it has just begun, it is
 * some 10 ms.
 */
#ifndef CORE_AGENT_COMPILING_H
#define CORE_AGENT_COMPILING_H

#include "core/base/std.h"

#define COMPILING_OPTIMIZED 4u /* C2's tier */

/* A method was compiled, by the compiler of this tier. */
void compiling_note(uint32_t tier);

/* In ms. */
struct compiling_patience {
    uint32_t limit; /* the longest to wait */
    uint32_t
        interval;  /* the longest between two polls, which are a fifth of the time waited so far apart, 1 at least */
    bool for_calm; /* nothing else will do */
};

/*
 * Wait until C2 compiles nothing; or until it has just begun with a small method, and nothing larger is under way; in
 * the last quarter of the time until any of its compilations ends.  Where the JVM neither tells what it compiles nor
 * exports what its compilers are at (vm_compiler_read), only whether they are asleep is known.  A poll takes some 40 us
 * of CPU time.
 *
 * is_over  asked at each poll: whether to wait no more; or NULL
 *
 * Returns how long it took, in ms.
 */
double compiling_wait(struct compiling_patience patience, bool (*is_over)(const void *context), const void *context);

/*
 * The JVM's threads whose name begins so (15 bytes at most), as many as there is room for.  Returns how many; 0 also
 * where /proc is not.
 */
size_t own_threads_find(const char *name, pid_t *tids, size_t room);

#endif
