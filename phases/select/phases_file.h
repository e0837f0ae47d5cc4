/*
 * phases.json: the selected phases, from 'mmprof phases' to 'mmprof record --phases'.  mmprof-phases(1) lists its
 * fields.
 */
#ifndef PHASES_SELECT_PHASES_FILE_H
#define PHASES_SELECT_PHASES_FILE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/method_name.h"

#define PHASES_FILE_VERSION   1
#define PHASES_FILE_MAX_BYTES ((size_t)32 << 20)

struct phases_file_row {
    struct method_name names;
    double total_ns, per_call_ns;
    double share; /* of the program's time, 0..1 */
    uint64_t calls;
};

struct phases_file {
    const char *trace; /* the file that the phases were found in */
    const char *clock; /* "cpu" or "wall" */
    double total_ns;   /* the program's time: 100 % */
    double weight, grain, budget;
    double invocations_ratio, time_ratio; /* the estimates; negative: not known */
    double pair_ns;                       /* the calibrated cost of an entry and exit; 0: not known */
    struct phases_file_row *rows;
    size_t n_rows;
};

/* The file's text, with a closing newline; free() it. */
char *phases_file_text(const struct phases_file *phases);

/* Write a file; on failure the old one stays as it was.  Returns 0, or -1 with *err set. */
int phases_file_write(const struct phases_file *phases, const char *path, struct err *err);

/*
 * Read a file that anybody may have written: no field is trusted.  Of each phase class, method and descriptor are
 * required, and well-formed as such; numbers that are missing are 0.  name is the file's, for messages.
 *
 * Texts and rows live in the arena.  Returns 0, or -1 with *err set.
 */
int phases_file_parse(const char *text, size_t n_bytes, const char *name, struct arena *arena,
                      struct phases_file *phases, struct err *err);
int phases_file_read(const char *path, struct arena *arena, struct phases_file *phases, struct err *err);

#endif
