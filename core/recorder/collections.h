/*
 * Single garbage collections: when, how long, of what kind and why.  The JVM shows the latest one of each kind in the
 * counters that it keeps for others to read; they are looked at in each round and, which takes much less, between two
 * rounds, the faster the more of them there are.  It costs the JVM nothing.  Of several of one kind between two looks
 * only the last one is seen; how many were not is known.
 */
#ifndef CORE_RECORDER_COLLECTIONS_H
#define CORE_RECORDER_COLLECTIONS_H

#include "core/jvm/perf_data.h"
#include "core/recorder/clock.h"
#include "core/trace/trace.h"

#define COLLECTIONS_KINDS   4 /* of pauses that a JVM has names for */
#define COLLECTIONS_WAITING 32
#define COLLECTIONS_SPACES  8  /* of the heap */
#define COLLECTIONS_CAUSE   64 /* bytes */

/* One that was seen, and is not in the trace yet. */
struct collections_waiting {
    struct trace_collection collection; /* but for its start and its cause, which are: */
    uint64_t start_ns, read_ns;         /* CLOCK_MONOTONIC_RAW; read_ns: when its heap was read */
    bool is_concurrent;
    char cause[COLLECTIONS_CAUSE];
    uint64_t used[MISS_SPACES]; /* bytes of the heap after it; all 0: not known */
};

struct collections {
    bool is_ready;   /* the numbers' offsets are known */
    bool tells_heap; /* its use after collections is written: a simulation tells of it by itself */
    uint32_t n_kinds;
    struct {
        size_t n_at, entry_at, exit_at; /* offsets of numbers */
        uint64_t n, exit;               /* at the latest look */
        char name[64];
        bool is_concurrent; /* the JVM gives no cause for these */
    } kinds[COLLECTIONS_KINDS];
    uint32_t n_spaces;
    struct {
        size_t offset; /* of the bytes that are used */
        enum miss_space space;
    } spaces[COLLECTIONS_SPACES];
    size_t begin, end;           /* where all these offsets are */
    uint64_t looked_ns;          /* CLOCK_MONOTONIC, before the latest look */
    uint64_t found_ns, apart_ns; /* the latest look that found one, and how long after the one before */
    /* Its clock counts ns from a moment of CLOCK_MONOTONIC between these. */
    int64_t zero_low_ns, zero_high_ns;
    uint32_t n_waiting;
    struct collections_waiting waiting[COLLECTIONS_WAITING];
};

/* Two clocks at one moment. */
struct collections_now {
    uint64_t before_ns, after_ns; /* CLOCK_MONOTONIC, before and after the counters were read */
    uint64_t raw_ns;              /* CLOCK_MONOTONIC_RAW at after_ns */
};

/*
 * Find the counters in a reading of them, if the JVM has begun to work; collections from now on are seen.  Without them
 * there never are any.
 */
void collections_begin(struct collections *collections, const struct perf_data *data,
                       const struct collections_now *now);

/*
 * What a new reading says of one kind: returns whether a collection of it has ended since the one before.  *start_ns is
 * then its start, CLOCK_MONOTONIC_RAW; off by half the time between two looks at first, by less with each one seen.
 * The texts are those of collections, and of cause, COLLECTIONS_CAUSE bytes.
 */
bool collections_next(struct collections *collections, uint32_t kind, const struct perf_data *data,
                      const struct collections_now *now, struct trace_collection *collection, uint64_t *start_ns,
                      char *cause);

/*
 * How soon to look again, from low_ms to high_ms, so that those that come as fast as the latest ones are all seen;
 * high_ms where there is nothing to see.
 */
uint32_t collections_wait_ms(const struct collections *collections, uint32_t low_ms, uint32_t high_ms);

/* Look at all kinds, and keep what is new; begins when data can be read first.  Returns whether there is room for more.
 */
bool collections_look(struct collections *collections, struct perf_data *data);

/* Look once more, and write all that was seen.  Returns 0, or -1 with *err set. */
int collections_write(struct collections *collections, struct perf_data *data, struct trace_writer *writer,
                      const struct clock_point *first, const struct clock_point *last, struct err *err);

/*
 * Garbage collections, safepoints and class loading of the recording, from what the JVM counts by itself: what it says
 * at the end, less what it said at the start.
 */

#define PAUSES_COLLECTORS 4  /* kinds of pauses that a JVM has names for */
#define PAUSES_NUMBERS    16 /* others */

struct pauses {
    struct perf_data data;
    bool was_opened, is_new; /* is_new: since the JVM's start */
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
