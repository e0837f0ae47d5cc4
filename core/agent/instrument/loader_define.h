/* Defining a class into a class loader by JNI. */
#ifndef CORE_AGENT_LOADER_DEFINE_H
#define CORE_AGENT_LOADER_DEFINE_H

#include "core/agent/instrument/loaders.h"

/*
 * The JVM takes the loader's lock for that, unless the loader is parallel capable.  The thread that loads a class has
 * it; any other gives up after a quarter of a second (the class may come to be there later).
 *
 * name  internal form.
 *
 * Returns a local reference, or NULL, without an exception.
 */
jclass loader_define(JNIEnv *jni, const struct loaders_class *about, const char *name, const uint8_t *bytes, size_t n);

/* The last of a class and its superclasses before java.lang.Object: a local reference. */
jclass loader_root_class(JNIEnv *jni, jclass class_ref);

#endif
