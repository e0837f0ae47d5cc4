/* What the parts of a recorder share: what is recorded, where it goes, and how far it is.  The recorder writes it. */
#ifndef CORE_RECORDER_RECORDER_NOW_H
#define CORE_RECORDER_RECORDER_NOW_H

#include "core/recorder/clock.h"
#include "core/recorder/recorder.h"
#include "core/recorder/threads.h"

struct recorder_now {
    const struct recorder_plan *plan; /* borrowed */
    struct trace_writer *writer;      /* owned by the recorder; NULL: there is no trace yet */
    struct threads *threads;          /* of the recorder */
    struct clock_point first, latest; /* of the recording; of the round */
    pid_t target;                     /* the JVM; 0 until it is known */
    uint64_t cpu_start_ns, cpu_ns;    /* CPU time of the process, at these two */
    double stretch;                   /* rounds are so many times as far apart as they would be: 1 or more */
};

#endif
