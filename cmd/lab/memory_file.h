/*
 * A file in memory, without a name, into which a program that is started writes its result: it opens it by its path.
 */
#ifndef CMD_LAB_MEMORY_FILE_H
#define CMD_LAB_MEMORY_FILE_H

#include "core/base/arena.h"
#include "core/base/err.h"

struct memory_file {
    int fd;           /* owned; -1: none */
    const char *path; /* in /proc; the arena's */
};

/* Returns 0, or -1 with *err set; memory_file_close may be called then, too. */
int memory_file_open(struct memory_file *file, const char *name, struct arena *arena, struct err *err);

/*
 * What is in it, *n bytes and a zero, in the arena.  NULL: nothing, n_most bytes or more, or no memory.
 */
char *memory_file_read(const struct memory_file *file, size_t n_most, struct arena *arena, size_t *n);

void memory_file_close(struct memory_file *file);

#endif
