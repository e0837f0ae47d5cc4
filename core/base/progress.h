/* What goes on, for who waits: on a terminal one line that is written over, elsewhere a line now and then. */
#ifndef CORE_BASE_PROGRESS_H
#define CORE_BASE_PROGRESS_H

#include "core/base/std.h"

struct progress {
    FILE *out; /* borrowed; NULL: nobody wants to know */
    bool is_terminal;
    bool is_shown;              /* there is a line to be wiped off */
    uint64_t begin_ns, next_ns; /* the latter: when the next line is due */
};

/* The first line elsewhere than on a terminal comes after ten seconds: what is done before needs none. */
void progress_begin(struct progress *progress, FILE *out);

/* Is a line due?  Then make one with progress_line. */
bool progress_is_due(const struct progress *progress);

/* Show a line, without a newline in it: "mmprof: " is put in front elsewhere than on a terminal. */
void progress_line(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* If a line is due: how much of it is done (0..1), and how long the rest will take if it goes on like that. */
void progress_part(struct progress *progress, const char *what, double part);

/* Wipe the line off, before something else is said. */
void progress_end(struct progress *progress);

#endif
