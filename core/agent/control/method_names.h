/* What JVMTI tells of a method's names, and keys by which they are found in sets (core/base/hash.h). */
#ifndef CORE_AGENT_METHOD_NAMES_H
#define CORE_AGENT_METHOD_NAMES_H

#include "core/base/hash.h"
#include "core/wire/code_log.h"
#include "core/wire/wire_text.h"

#include <jvmti.h>

struct method_names {
    char *name, *descriptor, *signature; /* the JVM's */
    jclass class_ref;                    /* a local reference */
    struct wire_text class_name;         /* in internal form; part of signature */
};

/* Returns false when its class may have been unloaded; method_names_free is to be called in both cases. */
bool method_names_get(jvmtiEnv *jvmti, jmethodID method, struct method_names *names);
void method_names_free(jvmtiEnv *jvmti, JNIEnv *jni, const struct method_names *names);

static inline uint64_t method_names_class_key(struct wire_text class_name)
{
    return hash_text(HASH_START, class_name.at, class_name.n);
}

static inline uint64_t method_names_key(struct wire_text class_name, struct wire_text name, struct wire_text descriptor)
{
    uint64_t key = method_names_class_key(class_name);
    return hash_text(hash_text(key, name.at, name.n), descriptor.at, descriptor.n);
}

static inline uint64_t method_names_id_key(jmethodID method)
{
    return hash_address((uint64_t)(uintptr_t)method);
}

/* Lines of Kotlin's inline functions become those that call them: core/wire/code_log.h.  source: the class's file.
 * The JVM knows them where the agent was there from its start. */
void method_names_take_calls(jclass of, const char *source, struct code_line *lines, uint32_t n_lines);

#endif
