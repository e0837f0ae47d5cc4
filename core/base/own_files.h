/*
 * Files that mmprof brings along: beside its program in the build, or where 'make install' puts them.  The programs
 * that it starts, in libexec/mmprof, find the same ones.
 */
#ifndef CORE_BASE_OWN_FILES_H
#define CORE_BASE_OWN_FILES_H

#include "core/base/std.h"
#include "core/base/err.h"

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
