/* A Java source file, by its lines. */
#ifndef REPORT_SOURCE_FILE_H
#define REPORT_SOURCE_FILE_H

#include "core/base/arena.h"
#include "core/base/options.h"

struct source_file {
    const char *path;
    const char **lines; /* without tabs */
    uint32_t n_lines;
};

/*
 * The first that is there of FOLDER/PACKAGE/NAME and FOLDER/NAME.
 *
 * class_name  in internal form: a/b/Outer$Inner
 * name        of the file, as the class file has it
 *
 * Returns false when there is none.  Everything lives in the arena.
 */
bool source_file_find(struct source_file *file, const struct options_list *folders, const char *class_name,
                      const char *name, struct arena *arena);

/* "" where there is none; lines begin with 1. */
const char *source_file_line(const struct source_file *file, uint32_t line);

#endif
