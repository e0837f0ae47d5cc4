/*
 * mmprof diff --until --record: the runs of each version are recorded, so that phases are compared, too.
 */
#ifndef CMD_DIFF_RECORD_H
#define CMD_DIFF_RECORD_H

#include "core/base/arena.h"
#include "core/base/err.h"

/*
 * Make the directory, if it is not there.  Returns 0, or -1 with *err set: it cannot be made, or has traces of runs
 * already, which would be lost.
 */
int diff_record_begin(const char *directory, struct err *err);

/* The trace of a version's run, from 1 on: "DIRECTORY/before-1.dat".  NULL: no memory. */
const char *diff_record_path(struct arena *arena, const char *directory, const char *version, size_t run);

/* A shell's command that runs a version's command and records it to path.  NULL: no memory. */
const char *diff_record_command(struct arena *arena, const char *path, const char *command);

#endif
