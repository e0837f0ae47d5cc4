/*
 * The files of a process, as it sees them and as its user: what the process may not read is not read for it, even by
 * root, and no path leads out of its root directory.  See core/base/plain_file.h.
 */
#ifndef CORE_JVM_JVM_ROOT_H
#define CORE_JVM_JVM_ROOT_H

#include "core/base/plain_file.h"
#include "core/jvm/jvm_user.h"

struct jvm_root {
    int fd; /* of its root directory; -1: not open */
    struct jvm_user user;
    char prefix[PATH_MAX]; /* where /proc/PID/maps has that directory: "" but for a process in a chroot */
};

#define JVM_ROOT_NONE \
    {                 \
        .fd = -1      \
    }

/*
 * Open the root directory of a process.  Files in it can still be opened when the process has ended.  jvm_root_close is
 * to be called in both cases.  Returns 0, or -1 with errno set: it has ended, or is another user's.
 */
int jvm_root_open(struct jvm_root *root, pid_t pid);
void jvm_root_close(struct jvm_root *root);

/* This process' own, with its own rights. */
int jvm_root_own(struct jvm_root *root);

/* A file in one, that is open. */
struct jvm_file {
    const struct jvm_root *root;
    const char *path; /* in the root directory; NULL: not known */
    int fd;
};

/* As plain_file_find and plain_file_open do it, below that directory and as the process' user. */
int jvm_root_find(const struct jvm_root *root, const char *path, int flags);
int jvm_root_file(const struct jvm_root *root, const char *path);

/* A path of /proc/PID/maps as the process sees it; borrowed.  NULL: it is not below the root directory. */
const char *jvm_root_path(const struct jvm_root *root, const char *path);

#endif
