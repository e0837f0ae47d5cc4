/*
 * Opens files whose paths come from somebody who may be hostile: a profiled process, a trace.
 *
 * A path never leaves the directory that it is given with, and opening has no side effect and does not wait: a FIFO, a
 * device, a socket is looked at, found to be no regular file, and refused.  Read what was opened with read(2): whoever
 * owns the file may truncate it, and a mapped one would end this process with SIGBUS.
 */
#ifndef CORE_BASE_PLAIN_FILE_H
#define CORE_BASE_PLAIN_FILE_H

#include "core/base/err.h"
#include "core/base/std.h"

#define PLAIN_FILE_BYTES_MAX ((uint64_t)4 << 30) /* files with debug information have up to 1 GiB */

/*
 * What a path leads to, whatever that is: a descriptor (O_PATH) for fstat, openat and plain_file_reopen.
 *
 * root   the directory at which '/', '..' and absolute links end
 * flags  O_DIRECTORY, O_NOFOLLOW, both or 0
 *
 * Links of the kernel's own (/proc/PID/root) are not followed.  Without openat2(2) (before Linux 5.6) no link and no
 * '..' is.  Returns the descriptor, or -1 with errno set.
 */
int plain_file_find(int root, const char *path, int flags);

/*
 * The regular file behind such a descriptor, for reading.  Returns a descriptor, or -1 with errno set: EMEDIUMTYPE, it
 * is no regular file; EFBIG, it has more than PLAIN_FILE_BYTES_MAX.
 */
int plain_file_reopen(int found);

/* Both.  Returns a descriptor, or -1 with errno set as above. */
int plain_file_open(int root, const char *path);

/*
 * The regular file of at most PLAIN_FILE_SOURCE_MAX bytes at a path in a folder that the user named: links there are
 * the user's own and are followed, but a '..' in the path is refused (ELOOP).  Else as plain_file_open.
 */
#define PLAIN_FILE_SOURCE_MAX ((uint64_t)16 << 20)
int plain_file_source(const char *folder, const char *path);

/* At most n - 1 bytes from the beginning, with a NUL behind them.  Returns how many, or -1 with errno set. */
ssize_t plain_file_text(int fd, char *text, size_t n);

/*
 * Create a file to write to, or empty it; flags: O_NONBLOCK or 0.  In a directory of another user root follows only
 * links that root made, and empties no file that has another name: either may lead to any file of root's.
 *
 * Returns a descriptor, or -1 with errno set: ENOLINK, another user's link; EMLINK, it has another name.
 */
int plain_file_create(const char *path, int flags);

/* strerror, with words for what the functions above set. */
const char *plain_file_why(int error);

/* What must be on the disk before something else is. */

/* Bring a file's or a directory's content to the disk.  Returns 0, or -1 with errno set. */
int file_sync(const char *path);

/*
 * Files that mmprof brings along: beside its program in the build, or where 'make install' puts them.  The programs
 * that it starts, in libexec/mmprof, find the same ones.
 */

/* Folders, relative to that of mmprof, and to that of a program in libexec/mmprof, each with a slash; up to NULL. */
struct own_places {
    const char *const *from_mmprof, *const *from_others;
};

/*
 * The first of the places that has the file, in path[n]; mode: of access(2).  Returns 0, or -1 with *err set (reason
 * and next step).
 */
int own_file_find(const struct own_places *places, const char *name, int mode, char *path, size_t n, struct err *err);

#endif
