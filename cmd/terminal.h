/*
 * A terminal as a screen that is drawn again and again, and its keys.  Plain ANSI: the alternate screen, so that what
 * was there comes back.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include "core/base/std.h"

#include <termios.h>

struct terminal {
    FILE *out;       /* borrowed */
    bool is_entered; /* the alternate screen is shown */
    bool has_keys;   /* the standard input is the terminal, too */
    struct termios before;
};

/* Is out a terminal that a screen can be drawn on? */
bool terminal_is_one(FILE *out);

/* How wide a terminal is. */
size_t terminal_columns(FILE *out);

/* Show an empty screen; keys come at once and are not echoed.  Ctrl-C stays a signal, Ctrl-Z does nothing. */
void terminal_enter(struct terminal *terminal, FILE *out);

/* All as it was before; may be called again. */
void terminal_leave(struct terminal *terminal);

/* Draw text, cut to the screen's lines and columns. */
void terminal_draw(struct terminal *terminal, const char *text);

/*
 * Draw text over the *n_lines lines above the cursor, and set *n_lines: cut to the columns of out, and to fewer lines
 * than it has.
 */
void terminal_draw_over(FILE *out, const char *text, unsigned *n_lines);

/*
 * Print n bytes of a text that comes from the target, to a terminal or not: nothing in it may steer one, so that
 * control characters are shown by their numbers, like \x1b and \u202e.
 */
void terminal_text(FILE *out, const char *text, size_t n);

/* The next key, or 0 when none was pressed. */
int terminal_key(const struct terminal *terminal);

#endif
