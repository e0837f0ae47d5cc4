/*
 * What a recording says on stderr when it has ended.
 */
#ifndef CMD_RECORDING_SUMMARY_H
#define CMD_RECORDING_SUMMARY_H

#include "core/recorder/recorder.h"
#include "phases/live/live_session.h"

/* What was recorded, and what could not be.  attached: the JVM ran before. */
void recording_tell_summary(const struct recorder_summary *summary, const struct recorder_plan *plan, bool attached);

/* What the recording in this trace cost the program; nothing where that is not known. */
void recording_tell_cost(const char *path);

/* What a live recording did, and could not. */
void recording_tell_live(const struct live_session *session);

/* At once: no class is changed, since the JVM would discard all its compiled code. */
void recording_tell_spared(const struct live_session *session);

/* What a live recording could not measure, why, and what to do. */
void recording_tell_limits(const struct live_session *session);

#endif
