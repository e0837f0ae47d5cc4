/*
 * Characters of texts that other programs gave: UTF-8, or Java's modified UTF-8, in which a class file's names are (a
 * character beyond U+FFFF is two surrogates of three bytes each, U+0000 is C0 80), or bytes that are neither, such as a
 * thread's name that the kernel cut amid a character.
 */
#ifndef CORE_BASE_UTF8_H
#define CORE_BASE_UTF8_H

#include "core/base/std.h"

#define UTF8_REPLACEMENT 0xfffdu
#define UTF8_BYTES_MAX   4 /* of a character */
#define UTF8_GROWTH      3 /* a malformed byte becomes so many: U+FFFD */

/*
 * Take the next character; *at < end moves behind it.  A pair of surrogates is one character; a surrogate that stands
 * alone and U+0000, which no C string can hold, are U+FFFD, and so is each byte that is malformed.
 */
uint32_t utf8_take(const char **at, const char *end);

/* Append a character (no surrogate, at most U+10FFFF), without a NUL.  Returns the end. */
char *utf8_put(char *to, uint32_t character);

/* Compare text (well-formed UTF-8) with n bytes that are taken as utf8_take does.  As strcmp. */
int utf8_compare(const char *text, const char *bytes, size_t n);

/* What moves a terminal's cursor, changes its state, or turns the direction of what stands behind it. */
bool utf8_is_control(uint32_t character);

#endif
