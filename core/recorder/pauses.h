/*
 * Garbage collections, safepoints and class loading of the recording, from what the JVM counts by itself: what it says
 * at the end, less what it said at the start.
 */
#ifndef CORE_RECORDER_PAUSES_H
#define CORE_RECORDER_PAUSES_H

#include "core/jvm/perf_data.h"
#include "core/trace/trace.h"

#define PAUSES_COLLECTORS 4  /* kinds of pauses that a JVM has names for */
#define PAUSES_NUMBERS    16 /* others */

struct pauses {
    struct perf_data data;
    bool was_opened;
    struct {
        uint64_t n, ticks;
    } collectors[PAUSES_COLLECTORS]; /* at the start */
    uint64_t numbers[PAUSES_NUMBERS];
    char why[256]; /* there is nothing, or "" */
};

void pauses_init(struct pauses *pauses);
void pauses_close(struct pauses *pauses);

/* The JVM is there; at the recording's start, if the JVM does not start itself only now.  */
void pauses_open(struct pauses *pauses, pid_t pid, pid_t inner_pid, bool is_new);

/* Classes that the JVM had loaded at the start; 0: not known. */
uint64_t pauses_classes(const struct pauses *pauses);

/* At the end: write them.  Returns 0, or -1 with *err set. */
int pauses_write(struct pauses *pauses, struct trace_writer *writer, struct err *err);

/* What comes is another file's: from what was written last. */
void pauses_next(struct pauses *pauses);

#endif
