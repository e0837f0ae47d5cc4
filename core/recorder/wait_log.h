/*
 * What threads waited for, on its way into a trace: what goes on from visit to visit is one entry for each second.
 */
#ifndef CORE_RECORDER_WAIT_LOG_H
#define CORE_RECORDER_WAIT_LOG_H

#include "core/hotspot/vm_objects.h"
#include "core/recorder/sample_log.h"
#include "core/recorder/threads.h"

/* Of one thread. */
struct wait_pending {
    struct trace_wait wait; /* n 0: none; its class is 'class_name' */
    char class_name[VM_CLASS_NAME_BYTES];
    bool has_site; /* of the wait that goes on, whether it is pending or not: */
    uint32_t context, owner_context;
    int32_t index;
    uint8_t end;
    uint64_t run_since_ns;      /* when what follows began; 0: there is nothing */
    uint64_t run_ticks, n_run;  /* the latest visit that found it running, and how many did */
    int64_t run_ns;             /* the time these stand for, less ready_ns */
    uint64_t ready_ns, n_ready; /* that it could run, but had no CPU */
};

struct wait_log {
    struct wait_pending *all; /* owned; by the trace's index of a thread */
    uint32_t n;
    uint64_t n_written; /* waits */
};

/*
 * Add what a visit found of a thread (the trace's index), at a moment in ticks.
 *
 * contexts  where stacks go
 * owner     the trace's index of the thread that has what this one waits for; TRACE_NO_THREAD
 *
 * Returns 0, or -1 with *err set: no memory, or the trace cannot be written.
 */
int wait_log_add(struct wait_log *log, struct sample_log *contexts, struct trace_writer *writer,
                 const struct stack_wait *wait, uint32_t thread, uint32_t owner, uint64_t ticks, struct err *err);

/* Write all that is pending: at the end.  As above. */
int wait_log_flush(struct wait_log *log, struct trace_writer *writer, struct err *err);

/* A thread has ended, and its index is another's from now on; all that was pending is written. */
void wait_log_forget(struct wait_log *log, uint32_t thread);
void wait_log_free(struct wait_log *log);

#endif
