/*
 * Texts of a trace for other tools: they are modified UTF-8 at best, and may come from anybody.
 */
#ifndef REPORT_EXPORT_TEXT_H
#define REPORT_EXPORT_TEXT_H

#include "core/base/arena.h"

#include <stdio.h>

/*
 * Well-formed UTF-8: pairs of surrogates become one character, what is not well-formed U+FFFD, control characters
 * blanks. Lives in the arena; NULL: no memory.
 */
const char *export_utf8(struct arena *arena, const char *text);

/* A JSON string with its quotes; the text is well-formed UTF-8. */
void export_json_text(FILE *out, const char *text);

#endif
