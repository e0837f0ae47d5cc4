/*
 * The text of source lines, for a listing of misses (thesis Table 2.4).
 */
#ifndef REPORT_VIEW_MISSES_LINES_H
#define REPORT_VIEW_MISSES_LINES_H

#include "core/base/arena.h"

#include <stdint.h>

struct misses_lines {
    const char *directory; /* in which sources are, as package/File.java; borrowed */
    struct arena *arena;   /* borrowed */
    char *path, *text;     /* owned: the file read last; text: NULL: there is none */
};

/* A line (from 1) of the source file of a class, "java/util/HashMap", without what it is indented by; NULL: not found.
 */
const char *misses_line(struct misses_lines *lines, const char *class_name, const char *file, uint32_t line);

void misses_lines_free(struct misses_lines *lines);

#endif
