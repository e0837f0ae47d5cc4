/* The JVMs that come of a command. */
#ifndef CORE_JVM_STARTED_H
#define CORE_JVM_STARTED_H

#include "core/base/std.h"

/* Does a process run Java code, or is about to?  Its code cache, interpreter and stubs are there then. */
bool jvm_has_started(pid_t pid);

/*
 * The first such JVM among a process and those that it started, if it runs a program (jvm_flags_runs, and no tool such
 * as jcmd) and its command line has this name (NULL: any).  Cheap enough to be asked every few milliseconds.
 *
 * Returns its process id, or 0: there is none yet.
 */
pid_t jvm_started(pid_t pid, const char *name);

#define JVM_STARTED_MAX 64

/* Those that were seen so far. */
struct jvm_started_all {
    pid_t pids[JVM_STARTED_MAX];
    uint32_t n;
};

/* Add one that is known; or those that are there now.  What a JVM starts itself is not looked at. */
void jvm_started_put(struct jvm_started_all *all, pid_t pid);
void jvm_started_add(struct jvm_started_all *all, pid_t pid);

/* What a command's processes are told in the environment, for start_java.c. */

#define START_JAVA_LIBRARY "libmmprof-start.so"

/* In LD_PRELOAD: the library, as the last of those that are there. */
#define START_JAVA_PRELOAD "LD_PRELOAD"

/* Options of the JVM, a line each. */
#define START_JAVA_OPTIONS "MMPROF_START_OPTIONS"

/* A part of the command line of the JVM that gets them; not set: of any. */
#define START_JAVA_NAME "MMPROF_START_NAME"

#endif
