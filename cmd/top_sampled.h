/*
 * Below the phases of 'mmprof top': methods that samples found, and that have no probes.
 */
#ifndef CMD_TOP_SAMPLED_H
#define CMD_TOP_SAMPLED_H

#include "cmd/live_session.h"

/*
 * Text of the table, for free(): "" where there is nothing to show.  Not while samples are taken.  Returns NULL with
 * *err set: no memory.
 */
char *top_sampled_text(struct live_session *session, struct err *err);

#endif
