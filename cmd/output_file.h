/* A file that a command writes for its user, or the standard output. */
#ifndef CMD_OUTPUT_FILE_H
#define CMD_OUTPUT_FILE_H

#include "core/base/std.h"
#include "core/base/err.h"

struct output_file {
    FILE *out;
    const char *path, *option; /* of the command, by which it can be named; borrowed */
};

/*
 * The name that a user gave a file or directory to be written, with %p replaced by a JVM's process ID, %t by the time
 * (20261127-231500), %h by the machine's name and %% by a %; other characters behind a % stay as they are.
 *
 * option, pid  by which it was named, for the message; 0: not known, or there are several
 *
 * Returns 0, or -1 with *err set: it is too long, or has %p where there is no process ID.
 */
int output_file_name(const char *pattern, const char *option, pid_t pid, char name[PATH_MAX], struct err *err);

/* path: NULL or "-" is the standard output.  Returns 0, or -1 with *err set. */
int output_file_open(struct output_file *file, const char *path, const char *option, struct err *err);

/*
 * Close it.  rc: what writing returned; half a file is worse than none, and is removed.  Returns 0, or -1 with *err
 * set: writing had failed, or it turns out now.
 */
int output_file_close(struct output_file *file, int rc, struct err *err);

/* Whether all that was printed so far has got out.  Returns 0, or -1 with *err set. */
int output_check(struct err *err);

#endif
