/*
 * Privileges that this process has and its user does not: those of a set-user-ID or set-group-ID file, or capabilities
 * (capabilities(7)), which a file or whoever started it gave it.  Root is a user as any other: what root names, root
 * may load and run.
 *
 * What a user names, such as a library or a command, never gets them.
 */
#ifndef CORE_BASE_PRIVILEGES_H
#define CORE_BASE_PRIVILEGES_H

#include "core/base/std.h"
#include "core/base/err.h"

/*
 * To be called first.  Commands that are started inherit no capability from then on; of a file's capabilities only
 * CAP_PERFMON stays, which neither writes nor reads a file.
 *
 * Returns 0, or -1 with *err set: the file is set-user-ID or set-group-ID.
 */
int privileges_confine(struct err *err);

/* Give up all capabilities of this thread, and of those that it starts.  Returns 0, or -1 with *err set. */
int privileges_drop(struct err *err);

/* The file gave them, so whoever may run it has them (AT_SECURE): no variable of the environment may be trusted. */
bool privileges_are_of_file(void);

/* Where commands are looked for: PATH, or the system's directories where that is not set or not to be trusted. */
const char *privileges_path(void);

#endif
