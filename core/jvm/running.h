/* The JVMs that run on this machine, in containers, too, as far as this user may see them. */
#ifndef CORE_JVM_RUNNING_H
#define CORE_JVM_RUNNING_H

#include "core/base/arena.h"
#include "core/jvm/obstacle.h"

struct jvm_running {
    pid_t pid;
    uint64_t start_ticks; /* as jvm_process has it */
    uid_t uid;
    enum jvm_obstacle obstacle;
    const char *version; /* "17.0.21"; "": not known */
    const char *main;    /* the main class, module and class, or jar, as the JVM was told; "": not known */
    const char *command; /* its words, separated by spaces; cut if long */
    double uptime_s;     /* negative: not known */
    uint64_t cpu_ns;     /* of all its threads so far */
};

/*
 * All of them, by PID; texts and the list are the arena's, as UTF-8.
 *
 * A JVM is a process that has mapped libjvm.so; of another user's, whose mappings may not be read, one that shows
 * hsperfdata or is called java.  Returns 0, or -1 with *err set: no memory, or there is no /proc.
 */
int jvm_running_list(struct arena *arena, struct jvm_running **all, size_t *n, struct err *err);

#endif
