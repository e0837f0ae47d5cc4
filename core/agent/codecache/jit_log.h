/* What the JIT compiler does with watched methods. */
#ifndef CORE_AGENT_JIT_LOG_H
#define CORE_AGENT_JIT_LOG_H

#include "core/wire/config.h"

#include <jvmti.h>

/*
 * From now on append what the JIT compiler does with watched methods to a memory file (taken over), as
 * core/wire/jit_events.h says; none is watched yet.  Returns 0, or -1 with *err set.
 */
int jit_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, struct err *err);

/* Watch the phases of a configuration, too, and log what code there is of them: before they get probes. */
void jit_log_watch(jvmtiEnv *jvmti, const struct agent_config *methods);
void jit_log_stop(jvmtiEnv *jvmti);

void JNICALL jit_log_compiled(jvmtiEnv *jvmti, jmethodID method, jint code_bytes, const void *code, jint n_map,
                              const jvmtiAddrLocationMap *map, const void *compile_info);
void JNICALL jit_log_discarded(jvmtiEnv *jvmti, jmethodID method, const void *code);

#endif
