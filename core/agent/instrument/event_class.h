/*
 * Classes of JFR's events, which are left alone: JFR writes code into them itself, and where another agent changes one
 * after JFR was used, the JVM says so on the program's output (JDK 25: "Unexpected error when adding instrumentation to
 * event class").
 */
#ifndef CORE_AGENT_EVENT_CLASS_H
#define CORE_AGENT_EVENT_CLASS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

/* Is a loaded class one, the program's own included?  No class is loaded for that. */
bool event_class_is(jvmtiEnv *jvmti, JNIEnv *jni, jclass class_ref);

/*
 * Is a name (internal form) that of the base of all of them?  Of a class that is being loaded only the class above is
 * known: one with a base of the program's own is found when it is loaded.
 */
bool event_class_is_base(const char *name, size_t n);

#endif
