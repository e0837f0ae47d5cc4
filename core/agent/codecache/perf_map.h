/* The names of compiled code, for perf. */
#ifndef CORE_AGENT_PERF_MAP_H
#define CORE_AGENT_PERF_MAP_H

#include "core/agent/control/control.h"

#include <jvmti.h>

/*
 * From now on write the names of what the JVM compiles into /tmp/perf-PID.map for perf, beginning with what there is.
 * The recorder hears over the control connection (borrowed until perf_map_stop) where the file is, or why there is
 * none, or no more lines in it.  The file stays when it ends.
 */
void perf_map_start(JNIEnv *jni, const struct control *control);
void perf_map_stop(void);

#endif
