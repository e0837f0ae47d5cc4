/*
 * The options of mmprof sample.
 */
#ifndef CMD_SAMPLE_OPTIONS_H
#define CMD_SAMPLE_OPTIONS_H

#include "cmd/display.h"
#include "cmd/target_argument.h"

struct sample_options {
    struct target_argument target;
    struct display display;
    uint64_t pid, frequency, period, stack_bytes, tree_bytes, top;
    double seconds, min_share;            /* 0 s: until the end */
    double budget;                        /* of our CPU time, as a share of the JVM's; 0: none */
    char *const *command;                 /* or NULL */
    const char *events, *output, *folded; /* output, folded: patterns until they are checked, then the names below */
    char output_name[PATH_MAX], folded_name[PATH_MAX];
    const char *mechanism; /* "perf" or "polling"; NULL: perf, or else polling */
    const char *html;      /* NULL: no page */
    const char *fields;    /* "field", "" (the same) or "class"; NULL: no table of them */
    double decay_s;        /* half-life of heat; 0: none */
    bool csv, json, tree, call_sites, by_self, by_bytecode, by_class, is_wall, is_polled;
};

/*
 * Parse and check them; *done: help was printed.  Words are borrowed from argv.  Returns 0, or -1 with *err set.
 */
int sample_options_parse(struct sample_options *o, int argc, char **argv, bool *done, struct err *err);

/* May samples that are taken at safepoints replace those that are asked for? */
bool sample_options_may_poll(const struct sample_options *o);

#endif
