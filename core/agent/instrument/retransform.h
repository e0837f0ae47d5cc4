/* The passes over the loaded classes. */
#ifndef CORE_AGENT_RETRANSFORM_H
#define CORE_AGENT_RETRANSFORM_H

#include "core/agent/control/control.h"
#include "core/base/hash.h"
#include "core/wire/config.h"

#include <jvmti.h>
#include <stdatomic.h>

/* ---- retransform ---- */

/* One pass over the loaded classes. */
struct retransform_pass {
    uint32_t n_classes, n_batches, n_refused; /* classes: changed; that the JVM refused to change */
    double longest_batch_ms;                  /* RetransformClasses; the application runs most of the time */
    double longest_pause_ms;                  /* its stop, at most */
    double total_ms, cpu_ms; /* of the whole; of it, what CPUs worked: this thread, and the JVM's in the stops */
};

/*
 * Rewrite the loaded classes that the session wants, and from now on those being loaded.  A stop that the control
 * brings meanwhile leaves the rest of the classes alone.  Returns 0, or -1 with *err set.
 */
int retransform_first(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, bool names_classes,
                      struct retransform_pass *pass, struct err *err);

/*
 * Rewrite the loaded classes in which methods were added (or removed) last, but for those with a hot loop under way:
 * of these the phases (those that were added, or NULL) are deferred.  Ends early when *stopping.  Returns 0, or -1 with
 * *err set.
 */
int retransform_changed(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, const _Atomic bool *stopping,
                        const struct agent_config *phases, struct retransform_pass *pass, struct err *err);

/* Give all classes their own code back.  The flags are closed already. */
void retransform_last(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, struct retransform_pass *pass);

/* ---- active_loops ---- */

/*
 * Loops that run now.
 *
 * HotSpot compiles no code of a class from before it was changed: dependencies on its old version fail.  A loop that is
 * under way when its class is changed is interpreted until its call ends, ten to fifty times slower (17 and 25; also
 * when nothing changed in its own method).  So classes with hot loops are left alone while one of these is on a stack.
 *
 * One thread at a time uses this: the one that samples and changes classes.
 */

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
