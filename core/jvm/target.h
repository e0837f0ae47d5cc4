/* Which running JVM somebody means: by its PID, its main class or jar, or a part of its command line. */
#ifndef CORE_JVM_TARGET_H
#define CORE_JVM_TARGET_H

#include "core/jvm/running.h"

/*
 * The one of n JVMs that a name means: that which it fits best.  Returns 0, or -1 with *err set: it fits none, or
 * several equally well; these, or all, are named.
 */
int jvm_target_choose(const struct jvm_running *all, size_t n, const char *name, pid_t *pid, struct err *err);

/*
 * The JVM that a name means, among all that run; a number is a PID, whatever it is of.  *start_ticks: when it started,
 * for jvm_process_check_start.
 *
 * Returns 0, or -1 with *err set, as jvm_target_choose does.
 */
int jvm_target_find(const char *name, pid_t *pid, uint64_t *start_ticks, struct err *err);

/* Nobody was named: set *err to what ("no JVM given to record"), and to the JVMs that run.  Returns -1. */
int jvm_target_none(const char *what, struct err *err);

#endif
