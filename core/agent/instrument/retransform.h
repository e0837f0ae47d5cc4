/* The passes over the loaded classes. */
#ifndef CORE_AGENT_RETRANSFORM_H
#define CORE_AGENT_RETRANSFORM_H

#include "core/wire/config.h"
#include "core/agent/control/control.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One pass over the loaded classes. */
struct retransform_pass {
    uint32_t n_classes, n_batches, n_refused; /* classes: changed; that the JVM refused to change */
    double longest_batch_ms;                  /* RetransformClasses; the application runs most of the time */
    double longest_pause_ms;                  /* its stop, at most */
    double total_ms, cpu_ms; /* of the whole; of it, what a CPU worked: this thread, and the JVM's in the stops */
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

#endif
