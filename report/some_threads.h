/* A report of some threads only: those whose names match a pattern. */
#ifndef REPORT_SOME_THREADS_H
#define REPORT_SOME_THREADS_H

#include "phases/tree/calltree.h"
#include "symbolize/vm_parts.h"

/* Does a thread's name in Java (or else the kernel's) match a pattern, with '*' and '?'?  NULL: any does. */
bool threads_match(const struct trace_thread *thread, const char *pattern);

/*
 * Is it known by now whether a thread is one of the application's?  Its names may come later in the trace: in Java, and
 * the kernel's, by which it is one of the JVM's; before, it has that of the process.
 */
bool threads_are_named(const struct trace_reader *reader, uint32_t thread);

/* Whose it is, by its last name. */
enum vm_part threads_part(const struct trace_reader *reader, uint32_t thread);

/*
 * Does it wait outside Java for the JVM to end?  The process' first thread does, which has started the JVM in another
 * one, and that one after main; both have the process' name.
 */
bool threads_wait_for_end(const struct trace_reader *reader, uint32_t thread, uint32_t context);

/* Is it a wait of the application, other than such a one? */
bool threads_count_wait(const struct trace_reader *reader, const struct trace_wait *wait);

/*
 * Leave the roots of threads out of a tree (per_thread) that do not match, with all that is below them.
 *
 * Returns 0, or -1 with *err set: no thread of the trace matches.
 */
int threads_keep(const struct trace_reader *reader, const char *pattern, struct calltree *tree, struct err *err);

/* All who look at the calls of a trace while its call tree is built: they share one pass over it. */

#define OBSERVERS_MAX 8

struct observers {
    struct calltree_observer all[OBSERVERS_MAX]; /* in any order */
    size_t n;
};

#endif
