/*
 * What a command's processes are told in the environment, for start_java.c.
 */
#ifndef CORE_JVM_START_JAVA_H
#define CORE_JVM_START_JAVA_H

#define START_JAVA_LIBRARY "libmmprof-start.so"

/* In LD_PRELOAD: the library, as the last of those that are there. */
#define START_JAVA_PRELOAD "LD_PRELOAD"

/* Options of the JVM, a line each. */
#define START_JAVA_OPTIONS "MMPROF_START_OPTIONS"

/* A part of the command line of the JVM that gets them; not set: of any. */
#define START_JAVA_NAME "MMPROF_START_NAME"

#endif
