/*
 * A trace that is read once more for all who need what only its first reading told: they say what they listen to, and
 * share one pass.
 */
#ifndef REPORT_SECOND_PASS_H
#define REPORT_SECOND_PASS_H

#include "report/source.h"

#define SECOND_PASS_OBSERVERS_MAX 4

struct second_pass {
    struct calltree_observer observers[SECOND_PASS_OBSERVERS_MAX]; /* of calls and of time; in any order */
    size_t n_observers;
    struct trace_listener listener; /* of all else; one only */
    bool is_listening;
};

/*
 * Read the trace; nothing is read where nobody listens.
 *
 * source   of the first reading.
 *
 * Returns 0, or -1 with *err set: it cannot be read again, no memory, or what an observer said.
 */
int second_pass_run(const struct second_pass *pass, const struct report_source *source, bool salvage, struct err *err);

#endif
