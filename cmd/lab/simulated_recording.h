/*
 * --simulate of record and profile, and what 'mmprof list' says of it.
 */
#ifndef CMD_LAB_SIMULATED_RECORDING_H
#define CMD_LAB_SIMULATED_RECORDING_H

#include "cmd/recording.h"
#include "cmd/recording_counters.h"

/* As parts.h has them. */
int simulated_recording(const struct recording *recording, struct recorder_plan *plan, struct arena *arena,
                        struct recording_counters *counters, struct err *err);
int simulated_models(bool all, const char *model, struct err *err);

#endif
