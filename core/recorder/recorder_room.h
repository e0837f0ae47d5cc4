/*
 * The memory that a recording may take.
 */
#ifndef CORE_RECORDER_RECORDER_ROOM_H
#define CORE_RECORDER_RECORDER_ROOM_H

#include "core/recorder/session.h"

struct recorder_room {
    uint64_t look_ns;      /* when to look again */
    uint64_t change_bytes; /* that changed classes may take in the target; UINT64_MAX: any */
    uint64_t own_bytes;    /* that we may allocate */
    bool is_less;          /* change_bytes is less than what metaspace has */
    bool is_one_group;     /* the JVM's and ours: what it has left, we have */
    char next[128];        /* what to do when memory runs out */
    char why[160];         /* whose memory is near a limit; "": nobody's */
};

/*
 * Before anything is made for a JVM (pid 0: of a command): what rings may take.  Returns 0, or -1 with *err set: the
 * JVM is too near a limit.
 */
int recorder_room_open(struct recorder_room *own, pid_t pid, struct ring_memory_plan *plan, struct err *err);

/* At the end, which is to find memory. */
void recorder_room_close(void);

/*
 * Is the JVM (pid 0: not known yet), or are we, so near a limit that the recording has to end?  Then own->why says it;
 * before that, segment->is_enough is set.
 */
bool recorder_room_is_low(struct recorder_room *own, pid_t pid, struct segment *segment);

#endif
