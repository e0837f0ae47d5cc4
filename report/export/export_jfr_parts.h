/* A JFR recording's bytes, its types and its pools of constants. */
#ifndef REPORT_EXPORT_EXPORT_JFR_PARTS_H
#define REPORT_EXPORT_EXPORT_JFR_PARTS_H

#include "core/base/arena.h"
#include "core/base/map.h"
#include "core/base/std.h"
#include "core/trace/trace.h"
#include "symbolize/vm_parts.h"

/*
 * The bytes of a JDK Flight Recorder file: numbers, texts, and entries that begin with their length.
 *
 * Source: jdk.jfr.internal.consumer.RecordingInput of JDK 17 and 25 is what reads them.
 */

/* Bytes that grow; all zero are none. */
struct jfr_bytes {
    uint8_t *bytes; /* owned */
    size_t n, room;
};

void jfr_bytes_free(struct jfr_bytes *to);

/* n bytes as they are, the first one highest. */
void jfr_put_fixed(struct jfr_bytes *to, uint64_t value, size_t n);

/* A number of seven bits a byte, the lowest first; nine bytes have room for all 64. */
void jfr_put_number(struct jfr_bytes *to, uint64_t value);

/* A text of UTF-8, or one that is not there (NULL). */
void jfr_put_text(struct jfr_bytes *to, const char *text);

/* What another has, at the end. */
void jfr_put_bytes(struct jfr_bytes *to, const struct jfr_bytes *from);

/* Begin an entry; returns where, for jfr_end, which puts its length there. */
size_t jfr_begin(struct jfr_bytes *to);
void jfr_end(struct jfr_bytes *to, size_t start);

/* What a JDK Flight Recorder file says of its own types: a table, from which the metadata event is made. */

/* The numbers by which a file names types: its own choice, but for the first two. */
enum jfr_type {
    JFR_METADATA,
    JFR_CHECKPOINT,
    /* values */
    JFR_BOOLEAN,
    JFR_INT,
    JFR_LONG,
    JFR_STRING,
    /* annotations */
    JFR_CONTENT_TYPE,
    JFR_LABEL,
    JFR_CATEGORY,
    JFR_TIMESTAMP,
    JFR_TIMESPAN,
    JFR_DATA_AMOUNT,
    /* of constants */
    JFR_CLASS_LOADER,
    JFR_PACKAGE,
    JFR_CLASS,
    JFR_THREAD,
    JFR_SYMBOL,
    JFR_METHOD,
    JFR_FRAME_TYPE,
    JFR_THREAD_STATE,
    JFR_STACK_FRAME,
    JFR_STACK_TRACE,
    /* events */
    JFR_JVM_INFORMATION,
    JFR_EXECUTION_SAMPLE,
    JFR_ALLOCATION_SAMPLE,
    JFR_MONITOR_ENTER,
    JFR_MONITOR_WAIT,
    JFR_THREAD_PARK,
    JFR_THREAD_SLEEP,
    JFR_OTHER_WAIT,
    JFR_COLLECTION,
    JFR_TYPES
};

/* Append the metadata event.  utc_offset_s: of the local time.  Without memory, to is broken. */
void jfr_put_metadata(struct jfr_bytes *to, long utc_offset_s, struct arena *arena);

/*
 * The constants of a JDK Flight Recorder file: events name symbols, classes, methods, stack traces and threads by
 * numbers, which one checkpoint event behind all of them explains.
 */

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

/* The number of a stack trace.  Of the innermost call it is known how it ran; its callers are written as compiled. */
uint32_t jfr_stack(struct jfr_pools *pools, const struct jfr_site *site);

/* Append the checkpoint event, when all of the trace has been read.  Without memory, to is broken. */
void jfr_put_pools(struct jfr_bytes *to, struct jfr_pools *pools);

#endif
