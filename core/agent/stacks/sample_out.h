/* A log of samples (core/wire/poll_log.h) on its way to the recorder: whole entries, by way of a buffer. */
#ifndef CORE_AGENT_SAMPLE_OUT_H
#define CORE_AGENT_SAMPLE_OUT_H

#include "core/wire/poll_log.h"

#include <jni.h>

/* ---- sample_out ---- */

#define SAMPLE_OUT_BYTES       ((size_t)2 << 20)
#define SAMPLE_OUT_STACK_BYTES (256 + (size_t)8 * POLL_FRAMES_MAX) /* of an entry that is no method and no class */

struct sample_out {
    int fd; /* borrowed */
    struct sink s;
    uint8_t buffer[SAMPLE_OUT_BYTES];
};

void sample_out_begin(struct sample_out *out, int fd);

/* Make room for an entry of n bytes at most; write what there is.  Each returns 0, or -1: it cannot be written. */
int sample_out_room(struct sample_out *out, size_t n);
int sample_out_flush(struct sample_out *out);

/* Has the recorder so much to read that nothing is to be added?  It gives the memory back of what it has read. */
bool sample_out_is_full(const struct sample_out *out);

/* ---- weak_objects ---- */

/*
 * Which of the sampled objects still live: a weak reference to each, looked at about once a second.
 *
 * At most WEAK_OBJECTS_MAX are tracked.  When there is no room for another, half of them, drawn at random, are not
 * tracked any more, and from then on half as many new ones are: each that is tracked stands for 2^shift samples.
 * All of it is of the thread that writes the log.
 */

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
