/*
 * How a class comes to the classes that its probes refer to, without a question to its class loader.
 *
 * The JVM resolves a reference through the class' own loader: it asks the loader (runs the application's code in it)
 * unless the loader is known to have, or to have found, a class of that name.  Loaders of OSGi, of scripts and of
 * sandboxes know only what they were told; some throw for anything else, and the program would get that.  So each
 * loader but those of the JDK gets a class of probes of its own, and of flags, which no one can fail to find.  JNI's
 * DefineClass asks a loader for the superclass only: one is taken that it has found already, or, while a class is being
 * loaded, the superclass of that one, for which the JVM asks next anyway.
 */
#ifndef CORE_AGENT_LOADERS_H
#define CORE_AGENT_LOADERS_H

#include "core/agent/rewrite/rewrite.h"

#include <jvmti.h>

enum loaders_way {
    LOADERS_NONE, /* there is none: the class is left alone */
    LOADERS_BOOT, /* the JDK's loaders pass on what is in package java.lang */
    LOADERS_OWN   /* the loader's own */
};

/* A class that is to get probes. */
struct loaders_class {
    jobject loader; /* borrowed; NULL: the bootstrap loader */
    struct wire_text name;
    struct wire_text bytes; /* of a class that the calling thread is loading; else at == NULL */
};

/*
 * The way of a class, made where it was not there yet.  Any thread.  For a loaded class and a loader that the JVM locks
 * (not parallel capable), that waits for a quarter of a second at most while another thread holds the lock, once in a
 * while.
 */
enum loaders_way loaders_way(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about);

/* The flag of a method id of a class whose way is its loader's own.  Returns 0, or -1.  Any thread. */
int loaders_flag(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about, uint32_t id,
                 struct rewrite_flag *flag);

#endif
