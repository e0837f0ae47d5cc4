/* What code the JVM makes. */
#ifndef CORE_AGENT_CODE_EVENTS_H
#define CORE_AGENT_CODE_EVENTS_H

#include "core/base/err.h"

#include <jvmti.h>
#include <stdbool.h>

/*
 * From now on append what code the JVM makes, beginning with what there is, to a memory file (borrowed until
 * code_events_stop), as core/wire/code_log.h says; only_generated: not what it compiles.  Returns 0, or -1 with *err
 * set.
 */
int code_events_start(JNIEnv *jni, int fd, bool only_generated, struct err *err);
void code_events_stop(void);

#endif
