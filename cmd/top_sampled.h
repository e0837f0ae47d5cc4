/*
 * Below the phases of 'mmprof top': methods that samples found, and that have no probes.
 */
#ifndef CMD_TOP_SAMPLED_H
#define CMD_TOP_SAMPLED_H

#include "cmd/top_table.h"

/* What samples found; all 0: there are none yet. */
struct top_sampled {
    char *text;             /* owned: the table; NULL: there is nothing to show */
    uint64_t n_samples, ns; /* ns: in which they were taken */
};

/*
 * Both tables, of the interval that ends now, and of what samples know.  Returns the text, for free(), or NULL with
 * *err set.
 */
char *top_text(struct top_table *table, struct top_sampled *sampled, struct live_session *session, struct err *err);

#endif
