/*
 * What must be on the disk before something else is.
 */
#ifndef CORE_BASE_FILE_SYNC_H
#define CORE_BASE_FILE_SYNC_H

/* Bring a file's or a directory's content to the disk.  Returns 0, or -1 with errno set. */
int file_sync(const char *path);

#endif
