/* The classes that rewritten code refers to, and their flags. */
#ifndef CORE_AGENT_CLASSES_H
#define CORE_AGENT_CLASSES_H

#include "core/agent/rewrite/rewrite.h"
#include "core/base/err.h"

#include <jvmti.h>
#include <stdbool.h>

#define CLASSES_FLAGS_PER_CLASS 256u
#define CLASSES_FLAGS_PER_BLOCK 32768u /* that an instruction 'sipush' reaches */

/* Define the probe class (once in the life of a JVM).  Returns 0, or -1 with *err set. */
int classes_define_probe(JNIEnv *jni, struct err *err);
jclass classes_probe(void);

/* The flag of a method id, made when it is not there yet.  Returns 0, or -1.  Any thread. */
int classes_flag(JNIEnv *jni, uint32_t id, struct rewrite_flag *flag);

/*
 * Link the native methods of a class of probes now, in the calling thread, before the application calls them.  Returns
 * false, maybe with an exception, when the JVM does not find them.
 */
bool classes_link_natives(JNIEnv *jni, jclass probe);

/* The flags of the ids from block * CLASSES_FLAGS_PER_BLOCK on: a global reference, or NULL.  Any thread. */
jintArray classes_flags(JNIEnv *jni, uint32_t block);

/* Enable all flags with tokens of an epoch, now and as more are made; epoch 0 disables all. */
void classes_enable_all(JNIEnv *jni, uint32_t epoch);

/* Enable or disable one flag, if it is there. */
void classes_enable(JNIEnv *jni, uint32_t id, bool enabled);

/* Was it not disabled last, since all were enabled?  Any thread. */
bool classes_is_enabled(uint32_t id);

#endif
