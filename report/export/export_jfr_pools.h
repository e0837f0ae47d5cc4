/*
 * The constants of a JDK Flight Recorder file: events name symbols, classes, methods, stack traces and threads by
 * numbers, which one checkpoint event behind all of them explains.
 */
#ifndef REPORT_EXPORT_EXPORT_JFR_POOLS_H
#define REPORT_EXPORT_EXPORT_JFR_POOLS_H

#include "core/base/map.h"
#include "core/trace/trace.h"
#include "report/export/export_jfr_bytes.h"
#include "symbolize/vm_parts.h"

#define JFR_RUNNING  1u /* states of threads */
#define JFR_SLEEPING 2u

/* The entries of a type; their numbers are 1 to n. */
struct jfr_pool {
    struct jfr_bytes bytes;
    uint32_t n;
};

struct jfr_pools {
    const struct trace_reader *reader; /* borrowed */
    struct map symbol_numbers, class_numbers;
    struct hash_set stack_numbers;
    struct jfr_pool symbols, classes, stacks;
    bool has_sleeping; /* threads that wait are sampled, too */
    bool is_broken;    /* no memory */
};

/* arena and reader are borrowed until jfr_pools_close. */
void jfr_pools_open(struct jfr_pools *pools, const struct trace_reader *reader, struct arena *arena);
void jfr_pools_close(struct jfr_pools *pools);

/* The number of a class ("java/lang/String", "[B"); 0: it is not known ("" or NULL). */
uint32_t jfr_class(struct jfr_pools *pools, const char *name);

/* A thread's number; 0: TRACE_NO_THREAD. */
uint32_t jfr_thread(uint32_t index);

/* Where a thread was. */
struct jfr_site {
    uint32_t context; /* 0: in no Java method: then the stack is the part's name */
    int32_t index;
    enum trace_frame frame;
    uint8_t end;
    enum vm_part part;
};

/*
 * The number of a stack trace.  Of the innermost call it is known how it ran; its callers are written as compiled.
 */
uint32_t jfr_stack(struct jfr_pools *pools, const struct jfr_site *site);

/* Append the checkpoint event, when all of the trace has been read.  Without memory, to is broken. */
void jfr_put_pools(struct jfr_bytes *to, struct jfr_pools *pools);

#endif
