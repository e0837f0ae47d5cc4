/* The classes that rewritten code refers to, and their flags. */
#ifndef CORE_AGENT_CLASSES_H
#define CORE_AGENT_CLASSES_H

#include "core/agent/rewrite/rewrite.h"
#include "core/base/err.h"
#include "core/wire/config.h"

#include <jvmti.h>

/* ---- classes ---- */

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

/* ---- class_bytes ---- */

/*
 * The class files of mmprof's own classes, made here: those of the bootstrap loader, and their like for a class loader
 * that need not find these (below).
 */

#define AGENT_PROBE_CLASS CONFIG_OWN_BOOT "Probe"
#define AGENT_FLAG_CLASS  CONFIG_OWN_BOOT "Flags" /* and a number */

/* The same for class loaders that need not find those (below). */
#define AGENT_OWN_PROBE_CLASS CONFIG_OWN_LOADER "Probe"
#define AGENT_OWN_FLAGS_CLASS CONFIG_OWN_LOADER "Flags" /* and a number */
#define AGENT_OWN_FLAGS_FIELD "g"

#define CLASS_BYTES_MAX 16384

/* Each writes a class file to out (CLASS_BYTES_MAX bytes).  Returns its length, or 0 when there is no memory. */
size_t class_bytes_probe(uint8_t *out);
size_t class_bytes_flags(const char *name, uint8_t *out);

/* super_name  of the class' superclass, internal form. */
size_t class_bytes_own_probe(const char *super_name, uint8_t *out);
size_t class_bytes_own_flags(const char *name, uint32_t block, uint8_t *out);

/* ---- loaders ---- */

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
