/*
 * Words that stand between blanks in a line, and may hold any character: blanks, control characters and '%' are written
 * as %20.  The agent reads them, too.
 */
#ifndef CORE_BASE_WORDS_H
#define CORE_BASE_WORDS_H

#include "core/base/std.h"

#define WORDS_GROWTH 3 /* a byte becomes so many at most */

/* Write a word and a NUL, WORDS_GROWTH * strlen(word) + 1 bytes at most.  Returns how many, without the NUL. */
size_t words_escape(char *to, const char *word);

/* Back, in place.  A '%' without two hexadecimal digits behind it, or with 00, stays as it is. */
void words_unescape(char *word);

/*
 * Append a word to a command line in room bytes, a blank before it unless the line is empty, in quotes where a shell
 * needs some.  A line that gets too long is cut and ends with "...", and takes no more.
 */
void words_append_quoted(char *line, size_t room, const char *word);

#endif
