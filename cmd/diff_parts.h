/* What mmprof diff is made of: runs that it measures, versions of a program, profiles, its page. */
#ifndef CMD_DIFF_PARTS_H
#define CMD_DIFF_PARTS_H

#include "cmd/display.h"
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/options.h"
#include "core/base/std.h"
#include "report/diff/compare.h"
#include "report/diff/diff.h"
#include "report/diff/versions.h"

#include <regex.h>

/* A command that is run and measured: CPU time, wall time, and the times of iterations that it prints. */

struct measured_run {
    double cpu_ns, wall_ns; /* of the command, and of those processes that it waited for */
    double *iterations;     /* what the expression matches in its output, in the order printed; owned */
    size_t n_iterations;
};

/*
 * Run a command in a shell, without input; its output is kept only for iterations and errors.
 *
 * iterations  a compiled extended regular expression whose first parentheses match a number, or NULL.
 *
 * Returns 0, to be freed by measured_run_free; or -1 with *err set: it cannot be run, or fails.
 */
int measured_run(const char *command, const regex_t *iterations, struct measured_run *run, struct err *err);

void measured_run_free(struct measured_run *run);

/* mmprof diff --until --record: the runs of each version are recorded, so that phases are compared, too. */

/*
 * Make the directory, if it is not there.  Returns 0, or -1 with *err set: it cannot be made, or has traces of runs
 * already, which would be lost.
 */
int diff_record_begin(const char *directory, struct err *err);

/* The trace of a version's run, from 1 on: "DIRECTORY/before-1.dat". */
const char *diff_record_path(struct arena *arena, const char *directory, const char *version, size_t run);

/* In quotes, as a shell takes it as one word. */
const char *diff_record_quoted(struct arena *arena, const char *text);

/* A shell's command that runs a version's command and records it to path. */
const char *diff_record_command(struct arena *arena, const char *path, const char *command);

/* mmprof diff --until: runs the versions in turns until the intervals of their differences are narrow enough. */

struct diff_until {
    double until;           /* half the interval, a fraction of the mean */
    const char *runs;       /* "LEAST:MOST" of each version */
    const char *iterations; /* an expression for the output, or NULL */
    const char *steady;     /* "ITERATIONS:COV" */
    const char *directory;  /* where traces of the runs go; NULL: they are not recorded */
    bool by_wall;           /* the intervals are of wall time, not CPU time */
    bool is_quiet;          /* no progress */
};

/* Sentences; the arena's. */
struct diff_until_end {
    const char *intervals; /* how many runs, and how wide their intervals are */
    const char *steady;    /* after how many iterations; NULL: no iterations were asked for */
    bool is_narrow, is_steady;
};

/* Run versions->what[]; sets the rest of *versions.  Returns 0, or -1 with *err set: malformed, a command fails, no
 * memory. */
int diff_until_run(const struct diff_until *options, struct versions *versions, struct diff_until_end *end,
                   struct err *err);

/* mmprof diff of more than two versions, or of commands that it runs itself. */

/* The versions named: before, after, and those of --side. */
struct diff_sides {
    const char *names[VERSIONS_MAX];
    struct options_list words[VERSIONS_MAX]; /* traces, or a command; borrowed */
    size_t n;
};

/* Begin with before and after. */
struct diff_sides diff_sides_begin(void);

/* "NAME=WORD" of --side: *side is its index, a new one where the name is new.  Returns 0, or -1 with *err set. */
int diff_sides_add(struct diff_sides *sides, const char *text, size_t *side, struct err *err);

int diff_sides_word(struct diff_sides *sides, size_t side, const char *word, struct err *err);

/*
 * Run commands.  Where the runs are recorded, the sides have their traces in place of the commands then.  gate: or
 * NULL.  Returns 0 and *table, or -1 with *err set.
 */
int diff_versions_run(struct diff_sides *sides, const struct diff_until *until, double least,
                      struct versions_gate *gate, bool is_text, struct arena *arena, struct table *table,
                      struct err *err);

/* Compare traces of more than two versions; those sides without any are none. */
int diff_versions_read(const struct diff_sides *sides, const struct diff_row_options *options,
                       struct versions_gate *gate, bool is_text, struct arena *arena, struct table *table,
                       struct err *err);

/* mmprof diff --profiles: how alike the profiles of several recordings are. */

struct diff_profiles {
    struct options_list words; /* traces and files of folded stacks */
    struct compare_options options;
    const char *from; /* "samples", "calls" or NULL */
    bool by_context;
};

/* clang-format off */
#define DIFF_PROFILES_BEGIN { .options = { .top_share = 0.2 } }
#define DIFF_PROFILES_ROWS(profiles) \
    OPTIONS_GROUP("How alike profiles are"), \
    { 0, "profiles", "PROFILE", OPTION_LIST, &(profiles)->words, \
      "compare traces or folded stacks, pair by pair; more may follow it" }, \
    { 0, "contexts", NULL, OPTION_FLAG, &(profiles)->by_context, "compare calling contexts, not methods" }, \
    { 0, "total", NULL, OPTION_FLAG, &(profiles)->options.is_total, "total time, with callees (default: self time)" }, \
    { 0, "top", "N", OPTION_NUMBER, &(profiles)->options.n_first, \
      "only the N methods with the most time in the first profile" }, \
    OPTIONS_RARE, \
    { 0, "hot", "SHARE", OPTION_FRACTION, &(profiles)->options.top_share, \
      "look for this share of the first profile's methods, the hottest (20%)" }, \
    { 0, "from", "WHAT", OPTION_TEXT, &(profiles)->from, "'samples' or 'calls' (samples, if a trace has any)" }, \
    { 0, "probed", NULL, OPTION_FLAG, &(profiles)->options.is_probed, \
      "only methods that had probes; callers get the other methods' time" }
/* clang-format on */

/* Print the table.  Returns 0, or -1 with *err set. */
int diff_profiles_print(struct diff_profiles *profiles, bool salvage, bool as_csv, bool as_json,
                        struct display *display, struct arena *arena, struct err *err);

/* The page of 'mmprof diff --html'. */

/*
 * Read the traces of both sides once more, for their call trees, and write the page.
 *
 * diff   compared
 * table  as text has it
 * runs   likewise, of the runs that were made for it; or NULL
 *
 * Returns 0, or -1 with *err set: a trace or the page cannot be had.
 */
int diff_page_print(const struct diff *diff, const struct table *table, const struct table *runs, const char *path,
                    struct err *err);

#endif
