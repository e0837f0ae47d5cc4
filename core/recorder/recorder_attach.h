/*
 * Loading the agent into a JVM that runs.
 */
#ifndef CORE_RECORDER_RECORDER_ATTACH_H
#define CORE_RECORDER_RECORDER_ATTACH_H

#include "core/recorder/recorder.h"
#include "core/recorder/recorder_room.h"
#include "core/recorder/session.h"

/* A JVM of a command that runs without the agent. */
struct recorder_late {
    pid_t pid;
    uint64_t seen_ns; /* first, CLOCK_MONOTONIC */
    bool is_tried;
};

struct recorder_attaching {
    const struct recorder_plan *plan; /* borrowed, as all pointers are */
    struct session *session;
    struct jvm_process *process; /* the target, when attaching */
    struct recorder_room *room;
    bool follows_jvms; /* the command is not java itself: a JVM comes of it, or several */
    struct recorder_late late;
};

/* Load the agent into the plan's JVM.  Returns 0, or -1 with *err set. */
int recorder_attach(struct recorder_attaching *a, struct err *err);

/* What is said of a JVM (pid 0: of a command) that writes its classes into an archive, by this option.  Returns -1. */
int recorder_refuse_archive(pid_t pid, const char *option, struct err *err);

/* No JVM of the command has connected yet: attach to one that runs without the agent. */
void recorder_attach_late(struct recorder_attaching *a);

#endif
