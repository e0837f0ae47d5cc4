/*
 * mmprof diff of more than two versions, or of commands that it runs itself.
 */
#ifndef CMD_DIFF_VERSIONS_H
#define CMD_DIFF_VERSIONS_H

#include "cmd/diff_until.h"
#include "core/base/options.h"

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

#endif
