/*
 * The text that an agent wrote what it had counted to (core/agent/lab/count_objects.h, count_receivers.h,
 * count_calls.h): a first line that says what it is, lines of words with blanks between them, and one that begins with
 * "end".
 */
#ifndef REPORT_JIT_COUNTED_TEXT_H
#define REPORT_JIT_COUNTED_TEXT_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTED_WORDS_MAX 20

enum counted_line { COUNTED_NO_MEMORY = -1, COUNTED_DAMAGED, COUNTED_TAKEN };

/* A line's words, as they are escaped.  is_end: the first of them is "end". */
typedef enum counted_line counted_line_fn(void *context, char **words, size_t n_words, bool is_end);

/*
 * Read n bytes of text, which is cut up; behind it there is a NUL.  name: of it, for messages.
 *
 * Returns 0, or -1 with *err set: it is damaged or cut, or there is no memory.
 */
int counted_text_read(char *text, size_t n, const char *first_line, const char *name, counted_line_fn *fn,
                      void *context, struct err *err);

/* A number of at most 2^56 - 1; false: it is none. */
bool counted_text_number(const char *word, uint64_t *number);

/* A bytecode's index, -1: not known; false: it is none. */
bool counted_text_index(const char *word, int32_t *index);

/* Unescape a word, in place; false: there is nothing in it. */
bool counted_text_word(char *word);

/*
 * A class' name without what changes from run to run, in place: "A$$Lambda" of "A$$Lambda$14/0x0000000800c03000",
 * "A$Hidden" of "A$Hidden+0x0000000800c03000".
 */
void counted_text_cut_hidden(char *name);

#endif
