/*
 * What a trace defines: metadata, clock points, counters, threads and methods.
 *
 * Memory grows with the bytes read, not with the numbers that stand in them.
 */
#ifndef CORE_TRACE_TRACE_TABLES_H
#define CORE_TRACE_TRACE_TABLES_H

#include "core/base/arena.h"
#include "core/base/map.h"
#include "core/trace/chunks.h"
#include "core/trace/trace.h"

/* Pointers by a number below 2^20, in pages. */
struct trace_table {
    void ***pages; /* owned */
    uint32_t n;    /* all numbers seen are below it, defined or only named */
};

/* What was sampled (sample_tables.c). */
struct sample_tables {
    struct trace_context *contexts;       /* by number less 1; owned */
    struct trace_sampled_method *methods; /* by number; owned, what they point to is the arena's */
    size_t n_contexts, contexts_room, n_methods, methods_room;
    const char **classes; /* of allocated objects, by number; owned, the texts are the arena's */
    size_t n_classes, classes_room;
    uint64_t n_allocations;
    const char *change;                           /* what the latest change of code was, or NULL */
    uint64_t counters[TRACE_SAMPLE_COUNTERS_MAX]; /* of the sample that the listener is told of */
};

/* What threads waited for (wait_tables.c). */
struct wait_tables {
    const char **classes; /* by number less 1; owned, the texts are the arena's */
    size_t n_classes, room;
    const char *virtual_class; /* the latest one of virtual threads; NULL: none yet */
};

struct tables {
    struct arena arena;
    struct map info;                       /* key -> index */
    const char **info_keys, **info_values; /* owned; the texts are the arena's */
    uint32_t n_info, n_info_room;
    struct trace_counter counters[TRACE_COUNTERS_MAX];
    size_t n_counters, n_recorded;
    bool have_counters;
    struct trace_table methods, threads, values;
    struct trace_collection *collections; /* owned; the texts are the arena's */
    size_t n_collections, n_collections_room;
    struct sample_tables samples;
    struct wait_tables waits;
    uint64_t n_clock_points, first_clock[3], last_clock[3]; /* ticks, monotonic_ns, realtime_ns */
    struct jit_event jit;                                   /* the one that the listener is told of */
    struct location_entry location;                         /* the same */
    struct miss_entry miss;                                 /* the same */
    struct trace_listener listener;
};

void tables_init(struct tables *tables);
void tables_free(struct tables *tables);

enum tables_result { TABLES_OK, TABLES_DAMAGED, TABLES_TOO_DEEP };

/* Take up an INFO, CLOCK, COUNTERS, THREADS, METHODS, JIT, LOCATIONS, CPU_TIMES, COLLECTIONS, MISSES, STACKS, CONTEXTS,
 * SAMPLES, WAITS, VIRTUAL_WAITS, ALLOCATIONS, HEAP_EVENTS, PRESSURE, CODE or VALUES chunk. */
enum tables_result tables_take(struct tables *tables, const struct chunk *chunk);

/* All entries of a STACKS, CONTEXTS, SAMPLES, ALLOCATIONS, HEAP_EVENTS, PRESSURE or CODE chunk. */
enum tables_result sample_tables_take(struct tables *tables, enum chunk_type type, struct cursor *c);
void sample_tables_free(struct sample_tables *samples);

/* All entries of a WAITS or VIRTUAL_WAITS chunk. */
enum tables_result wait_tables_take(struct tables *tables, enum chunk_type type, struct cursor *c);
void wait_tables_free(struct wait_tables *waits);

/* A text without NULs, or NULL and *result set.  One equal to the hint (or NULL) is not stored again. */
const char *tables_text(struct tables *tables, struct cursor *c, const char *hint, enum tables_result *result);

/* The pointer under a number, or NULL. */
void *table_get(const struct trace_table *table, uint32_t i);

/* A number is named by an event. */
static inline void table_name(struct trace_table *table, uint32_t i)
{
    if (UNLIKELY(i >= table->n))
        table->n = i + 1;
}

#endif
