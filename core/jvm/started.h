/*
 * The JVM that comes of a command, from when on its structures can be read.
 */
#ifndef CORE_JVM_STARTED_H
#define CORE_JVM_STARTED_H

#include <sys/types.h>

/*
 * The first JVM among a process and those that it started which has come so far that it runs Java code, or is about to:
 * its code cache, interpreter and stubs are there.  Cheap enough to be asked every few milliseconds.
 *
 * Returns its process id, or 0: there is none yet.
 */
pid_t jvm_started(pid_t pid);

#endif
