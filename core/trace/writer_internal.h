/* Shared by writer.c and writer_*.c; nobody else includes it. */
#ifndef CORE_TRACE_WRITER_INTERNAL_H
#define CORE_TRACE_WRITER_INTERNAL_H

#include "core/base/map.h"
#include "core/trace/encode.h"
#include "core/trace/trace.h"

#define OUT_BYTES        ((size_t)256 * 1024)
#define OUT_ROOM         (CHUNK_HEADER_BYTES + RECORDS_PAYLOAD_BYTES)
#define PENDING_BYTES    ((size_t)512 * 1024) /* the target and the largest entry, four strings */
#define PENDING_TARGET   ((size_t)64 * 1024)
#define N_PENDING        (CHUNK_VIRTUAL_WAITS + 1)
#define KERNEL_DELTA_MAX (UINT64_MAX >> (KERNEL_TAG_BITS + 1))

_Static_assert(LOCATION_ENTRY_BYTES < PENDING_BYTES - PENDING_TARGET, "a code location has room");

/* Names of locks' classes in the trace so far: a number each, from 1 on. */
struct wait_classes {
    struct arena arena;
    struct map by_name;
    uint32_t n;
};

struct trace_writer {
    int fd;
    char *path;
    bool failed;
    struct err error; /* the first one, when failed */
    uint64_t n_bytes, n_records;
    bool have_counters;
    size_t n_columns; /* values of a reading; the encoder knows those of a record */
    uint64_t kernel_ticks, reading_ticks, control_ticks, ip_sample_ticks, sample_ticks, wait_ticks, virtual_ticks,
        allocation_ticks, heap_event_ticks, pressure_ticks, code_ticks; /* of the latest pending one */
    uint64_t *last_ticks;                                               /* by thread index: of its latest record */
    size_t n_last_ticks;
    size_t out_used;
    size_t pending_used[N_PENDING]; /* by chunk type: they are written in the order of the types */
    uint32_t n_contexts, n_classes; /* n_classes: of allocated objects */
    uint64_t n_allocations;
    struct wait_classes wait_classes;
    struct writer_kept *kept; /* owned; NULL: there is one file */
    bool is_plain;            /* records are not predicted */
    struct encoder encoder;
    uint8_t out[OUT_BYTES];
    uint8_t pending[N_PENDING][PENDING_BYTES];
};

/* The header, END and all before it: into the file.  Each returns 0, or -1 with *err set. */
int writer_put_file_header(struct trace_writer *writer, struct err *err);
int writer_put_end(struct trace_writer *writer, uint64_t end_ticks, struct err *err);

/* All that is pending becomes chunks; and these go into the file.  Likewise. */
int writer_put_pending(struct trace_writer *writer, struct err *err);
int writer_drain(struct trace_writer *writer, struct err *err);

/* Returns 0, or -1 with *err set: writing has failed before, and there will be no other file. */
int writer_check(const struct trace_writer *writer, struct err *err);

/* An entry is encoded between begin and finish; there is always room for the largest.  As above. */
struct sink writer_begin(struct trace_writer *writer, enum chunk_type type);
int writer_finish(struct trace_writer *writer, enum chunk_type type, const struct sink *s, struct err *err);

/* Metadata; is_of_file: no later file has it. */
int writer_put_info(struct trace_writer *writer, const char *key, const char *value, bool is_of_file, struct err *err);

/* ---- writer_entries.c ---- */

int writer_put_thread(struct trace_writer *writer, const struct trace_thread *thread, struct err *err);
void writer_put_named(struct sink *s, const struct trace_sampled_method *method);

/* So many calling contexts may be named. */
uint32_t writer_n_contexts(const struct trace_writer *writer);

/* A longer text is cut, between two characters; none (NULL) is the empty one. */
void writer_text(struct sink *s, const char *text);

#endif
