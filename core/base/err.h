/*
 * The one error idiom: a function that can fail returns 0 or -1 and takes a 'struct err *' last.
 *
 * The text is complete enough to print as it is: what went wrong, the subject in quotes, and on a second line what
 * to do next.  Only main prints it and exits.
 */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#define ERR_TEXT_BYTES 2048

struct err {
    char text[ERR_TEXT_BYTES];
};

/* Replace the text.  Returns -1, so that a caller may 'return err_set(...)'. */
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append the line "  next: ..." that says what to do about it.  Returns -1. */
int err_next(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put "PREFIX: " in front of the text.  Returns -1. */
int err_prefix(struct err *err, const char *prefix);

#endif
