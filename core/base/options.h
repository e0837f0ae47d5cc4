/*
 * Options are tables of locals: one row for parsing, help and completion.
 *
 *     struct options_row rows[] = {
 *         { 'o', "output", "FILE", OPTION_TEXT, &output, "write the trace to FILE (default trace.dat)" },
 *         OPTIONS_GROUP("Table"),
 *         { 0, "tree", NULL, OPTION_FLAG, &tree, "print the call tree" },
 *         OPTIONS_ROWS(others),
 *         OPTIONS_RARE,
 *         { 0, "salvage", NULL, OPTION_FLAG, &salvage, "skip damaged parts" },
 *         { 0 },
 *     };
 *
 * --name VALUE, --name=VALUE, -x VALUE, -xVALUE; "--" ends the options; the first word that is no option ends them
 * too, so that 'record java -d 1' leaves -d to java.
 */
#ifndef CORE_BASE_OPTIONS_H
#define CORE_BASE_OPTIONS_H

#include "core/base/std.h"
#include "core/base/err.h"

enum option_type {
    OPTION_FLAG,            /* bool *: set to true */
    OPTION_TEXT,            /* const char **: borrowed from argv */
    OPTION_MAYBE_TEXT,      /* const char **: what follows a '=', "" without one */
    OPTION_NUMBER,          /* uint64_t *: decimal */
    OPTION_SECONDS,         /* double *: a positive time, as options_seconds reads it, in seconds */
    OPTION_SECONDS_OR_NONE, /* double *: the same, or "0" for none */
    OPTION_MAYBE_SECONDS,   /* double *: the same after a '=', 0 without one */
    OPTION_FRACTION,        /* double *: "5%" or "0.05" gives 0.05, 0..1 */
    OPTION_SIZE,            /* uint64_t *: bytes, with K, M or G */
    OPTION_LIST,            /* struct options_list *: may be given several times */
    OPTION_OLD,             /* const char *: the name that this option has now; a note on stderr says it */
    OPTION_GROUP,           /* no option: a heading of the help */
    OPTION_RARE,            /* no option: what follows in its group and table is shown by --help-all only */
    OPTION_ROWS             /* no option: the rows of another table, borrowed, stand here */
};

/* clang-format off */
#define OPTIONS_GROUP(heading) { 0, "", NULL, OPTION_GROUP, NULL, heading }
#define OPTIONS_RARE           { 0, "", NULL, OPTION_RARE, NULL, NULL }
#define OPTIONS_ROWS(rows)     { 0, "", NULL, OPTION_ROWS, rows, NULL }
#define OPTIONS_OLD(name, now) { 0, name, NULL, OPTION_OLD, now, NULL }
/* clang-format on */

#define OPTIONS_LIST_MAX 64

struct options_list {
    const char *items[OPTIONS_LIST_MAX]; /* borrowed from argv */
    size_t n;
};

struct options_row {
    char letter;          /* or 0 */
    const char *name;     /* without "--"; NULL ends the table */
    const char *argument; /* as in the help, or NULL for a flag */
    enum option_type type;
    void *target;     /* borrowed */
    const char *help; /* NULL: the option is not shown */
};

/*
 * Parse argv[1..argc), setting the rows' targets; *n_parsed is the index of the first word that is no option.
 * Returns 0, or -1 with *err set (unknown option, missing or malformed value).
 */
int options_parse(const struct options_row *rows, int argc, char **argv, int *n_parsed, struct err *err);

/*
 * Print one line for each row, and the headings of groups that have any; rare ones with_rare only.  Returns how many
 * rows were left out.
 */
size_t options_help(FILE *out, const struct options_row *rows, bool with_rare);

/* Parse "2", "2s", "20ms", "5m" (or "5min"), "1h" or "30d" into a positive number of seconds.  Returns 0, or -1. */
int options_seconds(const char *text, double *seconds);

#endif
