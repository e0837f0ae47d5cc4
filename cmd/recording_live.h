/*
 * What a live recording did, in its last lines.
 */
#ifndef CMD_RECORDING_LIVE_H
#define CMD_RECORDING_LIVE_H

#include "phases/live/live_session.h"

#include <stdio.h>

/* After recorder_run. */
void recording_tell_live(const struct live_session *session, const char *prefix, FILE *out);

#endif
