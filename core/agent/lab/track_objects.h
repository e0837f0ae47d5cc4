/*
 * The agent for tools that track objects and accesses from beneath the JVM (mmprof memtrace): it changes no code and
 * has no recorder, but tells the emulator's plugin what the JVM tells it (core/wire/tracked.h).
 */
#ifndef CORE_AGENT_LAB_TRACK_OBJECTS_H
#define CORE_AGENT_LAB_TRACK_OBJECTS_H

#include <jvmti.h>

/*
 * At the JVM's start.  interval: tell of an object about every so many bytes of what a thread allocates; 0: of all.
 * Where the JVM does not allow it, it starts all the same, and the plugin hears nothing.
 */
void track_objects_start(JavaVM *vm, jint interval);

#endif
