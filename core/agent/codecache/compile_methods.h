/*
 * Methods for the JIT compilers, by the JVM's own testing interface (WhiteBox), of a JVM that was started with
 * -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI.  Nothing is done before the first of them.
 */
#ifndef CORE_AGENT_COMPILE_METHODS_H
#define CORE_AGENT_COMPILE_METHODS_H

#include "core/wire/config.h"
#include "core/base/err.h"

#include <jvmti.h>

/*
 * Hand n methods to the compilers, each at its tier; it is not waited for their code.  *n_taken: those that the JVM
 * took; not those that are compiled like that already, wait for a compiler, cannot be compiled so, or are not loaded.
 * One thread at a time.
 *
 * Returns 0, or -1 with *err set: the JVM does not offer it.
 */
int compile_methods(jvmtiEnv *jvmti, JNIEnv *jni, const struct agent_compile *methods, size_t n, uint32_t *n_taken,
                    struct err *err);

#endif
