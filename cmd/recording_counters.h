/*
 * What a recording counts: the events, how they share the counters, and how these are read.
 */
#ifndef CMD_RECORDING_COUNTERS_H
#define CMD_RECORDING_COUNTERS_H

#include "core/pmu/selftest.h"
#include "core/recorder/recorder.h"

struct recording_counters {
    struct counter_set events;
    struct counter_layout layout;
    enum recorder_read read;
    char read_reason[512]; /* why it is not as usual, or "" */
    char notes[2048];      /* lines to tell when the recording has ended: what is not as the user may expect */
};

/*
 * Choose them.  The first pass counts nothing unless told to: time selects the phases.  A live one counts from the
 * start: few methods are enabled.
 *
 * list       -e, or NULL: the default set if it counts, else nothing.
 * how        --read: auto, user, syscall, none.
 * tells      print what counting will cost, on stderr.
 *
 * Returns 0, or -1 with *err set.
 */
int recording_choose(const char *list, bool counts, const char *how, pid_t pid, bool tells, struct arena *arena,
                     struct recording_counters *counters, struct err *err);

/* What reading them at a call's entry and exit costs, measured in this process, in ns; 0: not read, or not known. */
double recording_read_cost(const struct recording_counters *counters);

/* The g-th group alone, and with the first one what is not counted by hardware. */
void recording_one_group(const struct recording_counters *all, uint32_t g, struct recording_counters *one);

#endif
