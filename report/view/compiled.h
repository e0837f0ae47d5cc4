/*
 * How methods ran while they were recorded: interpreted, in code of C1 or of C2, by samples; and how often C2 compiled
 * them and that code was discarded, by the JVM's own counts.
 */
#ifndef REPORT_VIEW_COMPILED_H
#define REPORT_VIEW_COMPILED_H

#include "report/view/view_pass.h"

#define COMPILED_PERIODS 3u /* of the recording, as long as each other */

enum compiled_by { COMPILED_NOT, COMPILED_C1, COMPILED_C2, COMPILED_ELSE, COMPILED_BY };

struct compiled_row {
    uint32_t method; /* of the samples: trace_samples_method */
    double all_ns, ns[COMPILED_BY];
    uint64_t n, n_compiled, n_discarded, n_traps;
    uint64_t discarded_in[COMPILED_PERIODS];
};

struct compiled_rows {
    struct compiled_row *all; /* with samples or counts; the arena's; most time not in C2's code first */
    size_t n_rows;
    double all_ns, known_ns, ns[COMPILED_BY]; /* of all samples; of those that know their frame */
    uint64_t n, n_traps;
    const char *counted; /* "counted", "not_exported"; NULL: not asked */
};

void compiled_find(const struct view_pass *pass, struct compiled_rows *rows);

/* "24 unstable_if, 1 null_check", by the most first; "" where there are none; *most: the first reason.  The arena's.
 * method: CALLTREE_NONE: of all. */
const char *compiled_reasons(const struct view_pass *pass, uint32_t method, const char **most);

int compiled_table(const struct view_pass *pass, const struct report_row_options *options, struct table *table,
                   struct err *err);

#endif
