/* Where a command prints its text: on a terminal, with its width, colours and a pager; or anywhere else, as it is. */
#ifndef CMD_DISPLAY_H
#define CMD_DISPLAY_H

#include "core/base/options.h"
#include "report/format/table.h"

struct display {
    const char *color; /* "auto", "always" or "never"; borrowed */
    bool pages;        /* the text may be long: it goes through a pager, */
    bool no_pager;     /* unless the user does not want that */
    bool is_open;
    struct table_look look;
    pid_t pager; /* 0: none */
    int before;  /* the standard output, while there is a pager */
};

/* clang-format off */
#define DISPLAY_PLAIN     { .color = "auto", .before = -1 }
#define DISPLAY_OF_PAGES  { .color = "auto", .pages = true, .before = -1 }
#define DISPLAY_ROW(display) \
    { 0, "color", "WHEN", OPTION_TEXT, &(display)->color, "colours: auto (on a terminal), always or never (auto)" }
#define DISPLAY_PAGER_ROW(display) \
    { 0, "no-pager", NULL, OPTION_FLAG, &(display)->no_pager, "no pager on a terminal" }
/* clang-format on */

/*
 * Look what the standard output is, and start a pager: MMPROF_PAGER, PAGER or less, where it is a terminal.  It may be
 * called again.  Returns 0, or -1 with *err set: color is none of the three.
 */
int display_open(struct display *display, struct err *err);

/*
 * Wait until the user has left the pager; messages come after that.  rc is what printing returned.  Returns it, or -1
 * with *err set: the pager could not be started.
 */
int display_close(struct display *display, int rc, struct err *err);

#endif
