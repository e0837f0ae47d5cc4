/* Which classes are the program's own, and which are the JDK's, a server's or a framework's: by a list of patterns. */
#ifndef REPORT_FOLDING_H
#define REPORT_FOLDING_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "report/source.h"

struct folding_list; /* the arena's */

/*
 * Read the list: a pattern a line, '#' begins a comment.
 *
 * path   NULL: the list that comes with mmprof (report/frameworks.txt).
 *
 * Returns the list, or NULL with *err set: the file cannot be read, a line is no pattern.
 */
const struct folding_list *folding_read(const char *path, struct arena *arena, struct err *err);

/* Is a class, in internal form, in the list? */
bool folding_has(const struct folding_list *folding, const char *class_name);

/* Or this method of it? */
bool folding_has_method(const struct folding_list *folding, const struct method_name *name);

/* By method of the source's tree: is it in the list?  The arena's. */
const bool *folding_methods(const struct folding_list *folding, const struct report_source *source);

#endif
