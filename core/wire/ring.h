/*
 * The memory that the target's probes fill and the recorder drains: one segment per session, one ring per thread.
 *
 * A record is one 64-bit word, followed by n_counters words with the thread's counters (cumulative values):
 *
 *     bits 63..61  kind (enum ring_kind)
 *     bits 60..41  method id, or a number of the same size (see the kinds)
 *     bits 40..0   low bits of the timestamp in ticks; they wrap after 2^41 ticks (12 minutes at 3 GHz), and the
 *                  recorder, which drains much more often, restores the rest
 *
 * Each ring has one writer (its thread) and one reader (the recorder).  head and tail count words since the ring was
 * made and never wrap.  Nobody waits: an entry that finds no room, or would take the room reserved for the exits of
 * the calls open at that moment, is dropped together with its exit, and counted (n_lost); the stream that remains is
 * well nested.  Everything here comes from another process: the reader checks it.
 *
 * A ring has address space for ring_words words and memory for the first granted ones.  The recorder allocates that
 * memory before it grants it, so that its own memory group is charged and no probe finds the memory full.  A thread
 * that fills its ring fast is granted more.  It begins to use that (size) where all words that wait are at the same
 * place in the ring of either size.
 *
 * Virtual threads have no ring: they write into that of the thread that carries them.  When one comes (RING_MOUNT), the
 * calls that are open in the ring are the carrier's and wait; its own, left open in some ring before, follow as
 * RING_RESUME.  When it goes (RING_UNMOUNT), all that were opened since go with it, and the carrier's go on.  What it
 * leaves open gets a number, its ticket, which its next RING_MOUNT has, too; a ticket is used again only after that.
 * An UNMOUNT without a MOUNT takes all open calls: the virtual thread had been there before the first record.
 *
 * Calls that were under way when their method got probes have no entry, and no exit: their thread finds them on its
 * stack (core/agent/probe/probe.h) and says RING_OPEN, and RING_EXIT some time after they have ended.  A recorded
 * call that turns out not to be inside of one has a RING_EXIT, and goes on with RING_RESUME.
 */
#ifndef CORE_WIRE_RING_H
#define CORE_WIRE_RING_H

#include "core/base/std.h"

#include <stdatomic.h>

#define RING_TICKS_BITS   41
#define RING_METHOD_BITS  20
#define RING_METHOD_MAX   ((1u << RING_METHOD_BITS) - 1)
#define RING_COUNTERS_MAX 81
#define RING_KIND_SHIFT   (RING_METHOD_BITS + RING_TICKS_BITS)

enum ring_kind {
    RING_ENTER = 0,
    RING_EXIT = 1,
    RING_UNWIND = 2,  /* an exit by an exception */
    RING_RESUME = 3,  /* a call that the virtual thread had left open, outermost first; or that goes on here */
    RING_OPEN = 4,    /* a call that was under way before; outermost first */
    RING_MOUNT = 5,   /* a virtual thread comes; its ticket, or 0: it left no call open */
    RING_UNMOUNT = 6, /* it goes; its ticket, or 0 */
    RING_GAP = 7      /* the number of calls lost, at most RING_METHOD_MAX */
};

static inline uint64_t ring_word(enum ring_kind kind, uint32_t method, uint64_t ticks)
{
    return (uint64_t)kind << RING_KIND_SHIFT | (uint64_t)(method & RING_METHOD_MAX) << RING_TICKS_BITS |
           (ticks & ((UINT64_C(1) << RING_TICKS_BITS) - 1));
}

static inline enum ring_kind ring_word_kind(uint64_t word)
{
    return (enum ring_kind)(word >> RING_KIND_SHIFT);
}

static inline uint32_t ring_word_method(uint64_t word)
{
    return (uint32_t)(word >> RING_TICKS_BITS) & RING_METHOD_MAX;
}

/* The full timestamp of a word that was written at or shortly before now (in ticks). */
static inline uint64_t ring_word_ticks(uint64_t word, uint64_t now)
{
    return now - ((now - word) & ((UINT64_C(1) << RING_TICKS_BITS) - 1));
}

/*
 * A token tells a method and a session: the method's id in the low bits, above it the low bits of the session's epoch;
 * 0 is 'disabled'.  Each session has an epoch that no session before had.  In a token two epochs may be the same: a
 * thread's latest session is compared by all bits (probe.c).  Calibration has the epoch AGENT_EPOCH_MAX.
 */
#define AGENT_EPOCH_MAX 2047u /* in a token */

static inline uint32_t agent_token(uint32_t epoch, uint32_t method)
{
    return (epoch & AGENT_EPOCH_MAX) << RING_METHOD_BITS | method;
}

/* In tokens it is neither 0 nor calibration's. */
static inline uint32_t agent_next_epoch(uint32_t epoch)
{
    do
        epoch++;
    while ((epoch & AGENT_EPOCH_MAX) == 0 || (epoch & AGENT_EPOCH_MAX) == AGENT_EPOCH_MAX);
    return epoch;
}

/* In place of a counter's value that could not be read; a counter does not get there in a century. */
#define RING_NOT_COUNTED UINT64_MAX

enum ring_state {
    RING_FREE = 0,    /* set by the recorder: may be taken */
    RING_CLAIMED = 1, /* set by a thread of the target that is about to fill in tid, start and name */
    RING_TAKEN = 2,   /* filled in: words may come */
    RING_ENDED = 3    /* set by the thread at its end: no word comes after this */
};

enum ring_counters {
    RING_COUNTERS_NONE = 0,   /* none are wanted, or they are not open yet */
    RING_COUNTERS_OPEN = 1,   /* the thread's records have values */
    RING_COUNTERS_FAILED = 2, /* they will not open */
    RING_COUNTERS_ALONE = 3   /* open, but the recorder could not be given their descriptors */
};

#define RING_NAME_BYTES 104

struct ring {
    /* Written by the target's thread. */
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t n_lost;    /* calls dropped since the ring was taken */
    uint64_t limit;             /* head stays below this: where there is room, and where the recorder is to be woken */
    uint32_t n_lost_unrecorded; /* calls dropped since the last RING_GAP */
    _Atomic uint32_t state;     /* enum ring_state */
    int32_t tid;                /* in the target's own PID namespace */
    _Atomic uint32_t counters;  /* enum ring_counters */
    _Atomic uint32_t size;      /* words in use, a power of two; written before head goes on */
    /* Written by the recorder. */
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint32_t granted; /* words that have memory, a power of two; does not shrink while a thread has the ring */
    /* Written once by the target's thread, before state becomes RING_TAKEN (the name: before name_set). */
    _Alignas(64) uint64_t start_ticks;
    uint64_t end_ticks; /* before state becomes RING_ENDED */
    _Atomic uint32_t name_set;
    char name[RING_NAME_BYTES]; /* the Java thread's name, modified UTF-8, ends with NUL; valid when name_set */
};

/* The name of a mapping that a process keeps when the agent has changed classes in it, for later recorders to see. */
#define RING_CHANGED "changed-by-mmprof"

#define SEGMENT_MAGIC   UINT32_C(0x6d706673)
#define SEGMENT_VERSION 19

#define SEGMENT_THREADS_BYTES 256 /* of a pattern, with a NUL */

/* A pattern of --include: what matched, and else the nearest name that did not, which may be unfinished. */
#define SEGMENT_INCLUDES 16
struct segment_include {
    _Atomic uint32_t has_class, has_method, has_wanted; /* matched; wanted: by a method that gets probes */
    _Atomic uint32_t has_compared;                      /* there was a method to be compared with */
    uint32_t distance;                                  /* of the name below; 0: there is none */
    char nearest[236];
};

/* How many classes, and methods of them, so far in the session. */
enum segment_count {
    SEGMENT_CLASSES, /* with probes */
    SEGMENT_METHODS,
    SEGMENT_TOO_LARGE,        /* methods left as they were */
    SEGMENT_LIMITS,           /* the same */
    SEGMENT_UNUSUAL,          /* the same */
    SEGMENT_FAILED,           /* classes that could not be rewritten; left as they were: */
    SEGMENT_LEFT_NATIVES,     /* the JVM would retain all versions of them */
    SEGMENT_LEFT_METASPACE,   /* there is not enough metaspace */
    SEGMENT_LEFT_EVENTS,      /* those of JFR's events */
    SEGMENT_LEFT_LATE,        /* SEGMENT_CHANGES_NO_MORE */
    SEGMENT_LEFT_LOADERS,     /* no way from their class loader to the probes */
    SEGMENT_LEFT_BREAKPOINTS, /* a debugger has breakpoints in them */
    SEGMENT_KEPT_BREAKPOINTS, /* the same at the end: their probes stay, disabled */
    SEGMENT_KEPT_MEMORY,      /* the same: SEGMENT_CHANGES_NONE */
    SEGMENT_UNSURE,           /* rewritten, they did not pass the check */
    SEGMENT_REFUSED,          /* the JVM did not change them */
    SEGMENT_SHARED_NAMES,     /* names with probes that classes of several loaders have */
    SEGMENT_N_COUNTS
};

/* Which loaded classes may change, from now on. */
enum segment_changes {
    SEGMENT_CHANGES_ALL,
    SEGMENT_CHANGES_NO_MORE, /* none gets probes */
    SEGMENT_CHANGES_NONE     /* nor is one changed back, which takes memory */
};

/* The first class of a count, and why: "pkg.Class: why"; there when is_set. */
struct segment_reason {
    _Atomic uint32_t is_set;
    char text[252];
};

struct segment {
    /* Written by the recorder before the target sees the segment. */
    uint32_t magic, version;
    uint32_t n_rings;    /* struct ring follow the header, then the rings' words, then the stacks */
    uint32_t ring_words; /* of address space for each ring: a power of two */
    uint32_t epoch;      /* of the session: probes ignore tokens of an earlier one */
    uint32_t n_counters;
    uint32_t wake_words; /* with so many waiting in its ring a thread wakes the recorder; 0: never */
    uint64_t rings_offset, words_offset, stacks_offset, size_bytes;
    uint64_t metaspace_bytes;            /* that may be taken for changed classes; UINT64_MAX: any */
    char threads[SEGMENT_THREADS_BYTES]; /* only threads whose names match record (fnmatch); "": all do */
    /* Set by the recorder before it waits, cleared by the thread that wakes it. */
    _Alignas(64) _Atomic uint32_t is_waiting;
    _Atomic uint32_t changes;    /* set by the recorder: enum segment_changes */
    _Atomic uint32_t n_prepared; /* rings below it have memory */
    _Atomic uint32_t n_handed;   /* goes up when rings are prepared or free again: a thread without one may try again */
    /* Written by the target. */
    _Alignas(64) _Atomic uint32_t n_rings_seen; /* rings above this were never taken */
    _Atomic uint64_t n_lost_no_ring;            /* calls dropped because all rings were taken */
    _Atomic int32_t calibrating_tid;            /* this thread needs the counters for itself now; 0: none does */
    _Atomic uint32_t is_calibrated;             /* the next four are set */
    _Atomic uint64_t inside_cost_ticks_x16;     /* from an entry's timestamp to its exit's, times 16 */
    _Atomic uint64_t outside_cost_ticks_x16;    /* the rest of a pair, times 16 */
    _Atomic uint64_t inside_cost_counters_x16[RING_COUNTERS_MAX]; /* the same of each counter */
    _Atomic uint64_t outside_cost_counters_x16[RING_COUNTERS_MAX];
    _Atomic uint32_t counters_refused; /* the target could not open its counters: a step of read.h plus 1; else 0 */
    _Atomic uint32_t counters_errno;   /* why: before counters_refused */
    _Atomic uint32_t counters_index;   /* which one */
    _Atomic uint32_t counts[SEGMENT_N_COUNTS];
    struct segment_reason unsure, refused;
    struct segment_include includes[SEGMENT_INCLUDES];
};

/*
 * Is vm.overcommit_memory 2?  Then the kernel accounts private memory, touched or not, refuses gigabytes of it, and a
 * thread that touches shared memory in vain gets SIGBUS.
 */
bool segment_memory_is_strict(void);

static inline struct ring *segment_ring(struct segment *segment, uint32_t i)
{
    return (struct ring *)((char *)segment + segment->rings_offset) + i;
}

/* Calls that may be open at a time in a thread whose ring has so many words. */
static inline uint32_t ring_stack_words(uint32_t size)
{
    return size <= 1024 ? size : size / 8 < 1024 ? 1024 : size / 8;
}

/* The methods that are open in a ring's thread, outermost first: the target's own. */
static inline uint32_t *segment_stack(struct segment *segment, uint32_t i)
{
    return (uint32_t *)((char *)segment + segment->stacks_offset) + (size_t)i * ring_stack_words(segment->ring_words);
}

static inline uint64_t *segment_words(struct segment *segment, uint32_t i)
{
    return (uint64_t *)((char *)segment + segment->words_offset) + (size_t)i * segment->ring_words;
}

#endif
