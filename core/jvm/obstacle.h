/* Why no agent can be loaded into a running JVM, as far as files tell: nothing is sent to it. */
#ifndef CORE_JVM_OBSTACLE_H
#define CORE_JVM_OBSTACLE_H

#include "core/jvm/flags.h"
#include "core/jvm/process.h"

#define JVM_RELEASE_MIN 8

enum jvm_obstacle {
    JVM_OBSTACLE_NONE,
    JVM_OBSTACLE_USER,     /* it is another user's */
    JVM_OBSTACLE_OPENJ9,   /* it is not HotSpot */
    JVM_OBSTACLE_OLD,      /* before JVM_RELEASE_MIN */
    JVM_OBSTACLE_MUSL,     /* the agent needs glibc */
    JVM_OBSTACLE_LAB,      /* the laboratory's agent is in it, which has probes of its own */
    JVM_OBSTACLE_DISABLED, /* -XX:+DisableAttachMechanism */
    JVM_OBSTACLE_AGENTS,   /* -XX:-EnableDynamicAgentLoading */
    JVM_OBSTACLE_STOPPED,  /* by a signal or a debugger */
    JVM_OBSTACLE_SIGNAL    /* it handles no SIGQUIT: it is just starting, or its socket was removed (-Xrs) */
};

/* The first of them; release is NULL where it is not known.  Of another user's process nothing else has to be known. */
enum jvm_obstacle jvm_obstacle_find(const struct jvm_process *process, const struct jvm_flags *flags,
                                    const struct jvm_release *release);

/* In one word, as 'mmprof ps' prints it: "yes" for none. */
const char *jvm_obstacle_word(enum jvm_obstacle obstacle);

/*
 * Those that will not pass and that loading the agent would not tell well: -1 with *err set, and what to do.  0: none
 * of these; another is told when it is met.
 */
int jvm_obstacle_refuse(enum jvm_obstacle obstacle, pid_t pid, struct err *err);

/* It listens at its socket already, so that it needs no signal. */
bool jvm_listens(const struct jvm_process *process);

/* It runs on musl libc. */
bool jvm_is_on_musl(pid_t pid);

#endif
