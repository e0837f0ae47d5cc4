/*
 * A recording that outlives the JVM: it waits for the next one of the same name.
 */
#ifndef CMD_RECORD_FOLLOW_H
#define CMD_RECORD_FOLLOW_H

#include "core/jvm/running.h"

struct record_follow {
    const char *name; /* as jvm_target_choose takes it; borrowed */
    void *context;    /* borrowed; the first argument of record */
    /* Record a JVM.  *is_over: nothing more is to be recorded.  Returns 0, or -1 with *err set. */
    int (*record)(void *context, const struct jvm_running *jvm, bool *is_over, struct err *err);
};

/*
 * Record a JVM of that name after the other, until a signal comes.  What fails with one is told, and it is tried again;
 * but a first one that has run for a while is to be recorded, or it is an error.  Returns 0, or -1 with *err set.
 */
int record_follow(const struct record_follow *follow, struct err *err);

#endif
