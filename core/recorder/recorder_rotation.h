/*
 * Which file of a recording in several files is written: its name, its beginning and when the next one is due.
 */
#ifndef CORE_RECORDER_RECORDER_ROTATION_H
#define CORE_RECORDER_RECORDER_ROTATION_H

#include "core/recorder/recorder_now.h"

struct recorder_file_names {
    char whole[PATH_MAX], part[PATH_MAX]; /* part: while it is written */
};

struct recorder_rotation {
    struct recorder_file_names names; /* part "": none is open */
    struct clock_point start;         /* of this file, also if it is the only one */
    uint64_t n;                       /* from 1 on */
    bool is_turning;                  /* it is the file's last round: all that waits is taken */
    bool has_failed;                  /* it cannot be written, and that was told */
};

/* Open the trace, or the first file of it, whose writer is *writer then.  Returns 0, or -1 with *err set. */
int recorder_rotation_open(struct recorder_rotation *files, const struct recorder_now *now, pid_t pid,
                           struct trace_writer **writer, struct err *err);

/* The next file's names; and once it is open, that it is the current one.  Each returns 0, or -1 with *err set. */
int recorder_rotation_name(const struct recorder_plan *plan, pid_t pid, struct recorder_file_names *names,
                           struct err *err);
int recorder_rotation_begin(struct recorder_rotation *files, const struct recorder_now *now,
                            const struct recorder_file_names *names, struct err *err);

/* The file is closed; why: it is not whole, or NULL. */
void recorder_rotation_end(struct recorder_rotation *files, const struct recorder_plan *plan, const struct err *why);

/* Is it time for the next one?  One that cannot be written is told once, when that turns out. */
bool recorder_rotation_is_due(struct recorder_rotation *files, const struct recorder_now *now);

/* How many ms until it may be; INT_MAX: never. */
int recorder_rotation_left_ms(const struct recorder_plan *plan);

#endif
