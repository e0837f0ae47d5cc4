/*
 * Why perf_event_open refused: the errno in words, with the knob and its present value, and what to do about it.
 */
#ifndef CORE_PMU_PERF_WHY_H
#define CORE_PMU_PERF_WHY_H

#include "core/base/err.h"
#include "core/pmu/perf_open.h"

/*
 * Append ": REASON" and the next step to err's text.
 *
 * error   the errno
 * code    the event that was refused
 * pid     the process or thread it was for, 0 for the caller
 *
 * Tells by further openings whether it is the event or the machine, the process or the user.  Returns -1.
 */
int perf_why(int error, const struct counter_code *code, pid_t pid, struct err *err);

/* The value of kernel.perf_event_paranoid, or -100 when it cannot be read. */
int perf_paranoid(void);

#endif
