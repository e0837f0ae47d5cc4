/* Stack samples by the JVM's tool interface, which leave the program's code alone. */
#ifndef CORE_AGENT_SAMPLE_H
#define CORE_AGENT_SAMPLE_H

#include "core/base/err.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Take stack samples: up to n rounds, about one every period_ms, in the calling thread, until the rounds are over or
 * their time (period times rounds) is, or *stopping; they are appended to a file (borrowed) as core/wire/samples.h
 * says.  What a round costs is measured: the next one is put off when that is over a twentieth of the time.
 *
 * A thread is held only while its own stack is walked (JDK 11: all are), and only if it uses a CPU.  A carrier's stack
 * is that of the virtual thread on it.
 *
 * Returns the number of samples, or -1 with *err set: the JVM tells no CPU times, or there is no memory.
 */
int sample_run(jvmtiEnv *jvmti, JNIEnv *jni, int log_fd, uint32_t period_ms, uint32_t n, const _Atomic bool *stopping,
               struct err *err);

#endif
