/*
 * Loops that run now.
 *
 * HotSpot compiles no code of a class from before it was changed: dependencies on its old version fail.  A loop that is
 * under way when its class is changed is interpreted until its call ends, ten to fifty times slower (17 and 25; also
 * when nothing changed in its own method).  So classes with hot loops are left alone while one of these is on a stack.
 *
 * One thread at a time uses this: the one that samples and changes classes.
 */
#ifndef CORE_AGENT_ACTIVE_LOOPS_H
#define CORE_AGENT_ACTIVE_LOOPS_H

#include "core/wire/config.h"
#include "core/base/hash.h"

#include <jvmti.h>
#include <stdatomic.h>

void active_loops_forget(void);

/* The recorder's samples found threads in the loops of these methods. */
void active_loops_note(const struct agent_phase *loops, size_t n);

/*
 * Wait until none of the classes that are to change has such a loop on a stack, for 2.5 s at most (150 ms where others
 * could change), or until *stopping.
 *
 * active  receives the keys of those that have; to be freed.
 */
void active_loops_wait(jvmtiEnv *jvmti, JNIEnv *jni, const _Atomic bool *stopping, struct hash_set *active);

/* Is a class (name in internal form) among them? */
bool active_loops_include(const struct hash_set *active, const char *name, size_t n);

#endif
