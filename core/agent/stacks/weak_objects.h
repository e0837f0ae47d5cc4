/*
 * Which of the sampled objects still live: a weak reference to each, looked at about once a second.
 *
 * At most WEAK_OBJECTS_MAX are tracked.  When there is no room for another, half of them, drawn at random, are not
 * tracked any more, and from then on half as many new ones are: each that is tracked stands for 2^shift samples.
 * All of it is of the thread that writes the log.
 */
#ifndef CORE_AGENT_WEAK_OBJECTS_H
#define CORE_AGENT_WEAK_OBJECTS_H

#include "core/agent/stacks/sample_out.h"

#include <jni.h>

#define WEAK_OBJECTS_MAX 8192u

struct weak_object {
    jweak ref;       /* owned */
    uint32_t number; /* of the sample in the log, from 0 on */
};

struct weak_objects {
    bool is_on;
    struct weak_object *all; /* owned, room for WEAK_OBJECTS_MAX */
    uint32_t n, shift;
    uint64_t random;
};

/* Begin to track.  Without memory, nothing is, which the log says. */
void weak_objects_begin(struct weak_objects *objects);

/*
 * Track a sample by its reference, which is taken over; NULL: the JVM has none.  Also where nothing is tracked.
 * Returns 0, or -1: the log cannot be written.
 */
int weak_objects_add(struct weak_objects *objects, JNIEnv *jni, jweak ref, uint32_t number, struct sample_out *out);

/* Look which have gone, and say so in the log.  As above. */
int weak_objects_check(struct weak_objects *objects, JNIEnv *jni, struct sample_out *out);

/* Give all references back. */
void weak_objects_end(struct weak_objects *objects, JNIEnv *jni);

#endif
