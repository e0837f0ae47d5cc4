/*
 * The parts of the probes (probe.h), for their own files: each calls those above it only.
 *
 *     probe_ring.c     the thread's ring, the session
 *     probe_open.c     calls under way
 *     probe.c          entries and exits
 *     probe_virtual.c  virtual threads
 */
#ifndef CORE_AGENT_PROBE_PARTS_H
#define CORE_AGENT_PROBE_PARTS_H

#include "core/agent/probe/probe.h"
#include "core/base/ticks.h"

#include <stdatomic.h>

struct probe_thread {
    uint32_t token_epoch; /* what tokens have of the epoch */
    uint32_t mask;        /* words in the ring minus one */
    uint64_t *words;
    /*
     * The calls recorded and not left yet, and their methods.  The count is not in the ring: when a session's memory is
     * replaced by zeros under a thread in the middle of a probe, it must stay right.
     */
    uint32_t depth;
    uint32_t base; /* of them the carrier's, while a virtual thread is here */
    uint32_t *stack;
    struct ring *ring;
    uint32_t n_counters;
    uint32_t epoch;         /* of the session whose ring this is; 0: no ring */
    uint32_t refused_epoch; /* of a session in which there was no ring for this thread */
    bool is_left_out;       /* it is not to have one, by its name */
    uint32_t ring_number;
    bool is_mounted; /* the ring says that a virtual thread has come */
    bool is_deaf;    /* it could not say so: until it goes, nothing is recorded */
    uint32_t handle; /* of the calls that it brought, or 0 */
    /* Calls under way: when the stack was checked last, and is to be again. */
    uint32_t generation; /* probe_session.generation then */
    uint64_t check_ticks, open_since_ticks;
    uintptr_t checked_frame; /* the frame of the outermost probe that has seen them; the stack grows downwards */
    uint32_t refused_at;     /* the segment's n_handed when there was no ring for this thread */
    struct counting_thread counting;
};

extern _Thread_local struct probe_thread probe_self;

/* What counting.c has: while a thread uses it, it does not end. */
struct counting_session {
    struct counting_plan plan;
    _Atomic int socket; /* -1: none */
    _Atomic bool is_open;
    _Atomic uint32_t n_users;
};

/* HotSpot's extension events, by number, and functions; 0, NULL: it has none. */
struct virtual_session {
    jint mount, unmount;
    jvmtiExtensionFunction get_carrier, get_mounted;
    _Atomic uint32_t epoch;
};

/* What unmounted.c has. */
struct unmounted_calls {
    struct unmounted_block *blocks; /* mapped once, never unmapped: a virtual thread may leave at any time */
    _Atomic uint64_t free;          /* the first one's index; above it a number that changes with each use */
    _Atomic uint32_t n_used;
    _Atomic uint32_t next_ticket;
    _Atomic uint64_t tickets[(RING_METHOD_MAX + 1) / 64]; /* a bit for each that is taken */
};

/*
 * All that the probes' room writes to, but for the threads' own; first what each entry reads.  The epoch is published
 * last.  A thread may still read here what the session was when the next one begins: it checks the epoch once more when
 * it has a ring.
 */
struct probe_session {
    _Atomic uint32_t epoch; /* 0: nothing is recorded */
    struct segment *_Atomic segment;
    jvmtiEnv *_Atomic jvmti;
    _Atomic uint32_t n_counters; /* values that follow each record */
    _Atomic uint32_t generation; /* goes up when a session begins, when methods got probes, and when they lost them */
    open_calls_find_fn *find;
    uint32_t private_stack[4]; /* one thread calibrates at a time, one call deep */
    _Alignas(64) struct counting_session counting;
    struct virtual_session virtual;
    _Alignas(64) struct unmounted_calls unmounted;
};

/* Hidden: a probe reads it without a detour. */
extern __attribute__((visibility("hidden"))) struct probe_session probe_session;

/*
 * Is the thread's ring of the session that runs now?  A token with the epoch of its ring does not tell: sessions of
 * long ago had tokens with the same one.
 */
static inline bool has_ring_of_session(void)
{
    return probe_self.generation == atomic_load_explicit(&probe_session.generation, memory_order_relaxed) ||
           probe_self.epoch == atomic_load_explicit(&probe_session.epoch, memory_order_relaxed);
}

/* Take a ring of the session's segment.  Returns false: there is none for this thread, or it is_left_out. */
bool probe_take_ring(uint32_t epoch);

/*
 * There is one word for the record itself, one for a gap before it, one for the virtual thread that goes, and one for
 * each exit that is still to come; with counters, more.
 */
static inline bool has_room(const struct ring *ring, uint64_t head, uint64_t record_words)
{
    return head + (probe_self.depth + UINT64_C(4)) * record_words <= ring->limit;
}

/* Entries of the stack that stay free: has_room counts so many records, too. */
#define PROBE_STACK_SPARE 4

/* Is there room?  It is asked again when there may be none, or after wake_words. */
bool probe_find_room(struct ring *ring, uint64_t head, uint64_t record_words);

static inline void put(uint64_t head, uint64_t word)
{
    probe_self.words[head & probe_self.mask] = word;
}

/* One record: the timestamp is taken as late as possible at an entry, as early as possible at an exit. */
static inline uint64_t put_with_counters(uint64_t head, enum ring_kind kind, uint32_t method, uint64_t ticks)
{
    uint64_t values[RING_COUNTERS_MAX];
    counting_pause(&probe_self.counting);
    if (!counting_read(&probe_self.counting, probe_self.ring, probe_self.ring_number, ticks, values))
        for (uint32_t i = 0; i < probe_self.n_counters; i++)
            values[i] = RING_NOT_COUNTED;
    put(head++, ring_word(kind, method, ticks));
    for (uint32_t i = 0; i < probe_self.n_counters; i++)
        put(head++, values[i]);
    counting_resume(&probe_self.counting);
    return head;
}

static inline uint64_t put_record(uint64_t head, enum ring_kind kind, uint32_t method)
{
    uint64_t ticks = ticks_now();
    if (ticks >= probe_self.check_ticks)
        probe_self.ring->limit = 0; /* the next entry checks this first */
    if (probe_self.n_counters > 0)
        return put_with_counters(head, kind, method, ticks);
    put(head, ring_word(kind, method, ticks));
    return head + 1;
}

static inline uint64_t put_gap(struct ring *ring, uint64_t head)
{
    uint32_t n = ring->n_lost_unrecorded < RING_METHOD_MAX ? ring->n_lost_unrecorded : RING_METHOD_MAX;
    ring->n_lost_unrecorded -= n;
    return put_record(head, RING_GAP, n);
}

/* The record before once more, as another one: it has been made at the same moment. */
static inline uint64_t put_again(uint64_t head, enum ring_kind kind, uint32_t method)
{
    uint64_t before = head - (1 + probe_self.n_counters);
    put(head, ring_word(kind, method, probe_self.words[before & probe_self.mask]));
    for (uint32_t i = 1; i <= probe_self.n_counters; i++)
        put(head + i, probe_self.words[(before + i) & probe_self.mask]);
    return head + 1 + probe_self.n_counters;
}

/* Room for n calls and all that comes before and after them; also for the gap that is due. */
static inline bool has_room_for(struct ring *ring, uint32_t n)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t record_words = 1 + probe_self.n_counters,
             n_words = record_words * (probe_self.depth + 2 * (uint64_t)n + 5);
    probe_find_room(ring, head, record_words); /* which may wake the recorder */
    return head + n_words <= atomic_load_explicit(&ring->tail, memory_order_acquire) + probe_self.mask + 1 &&
           probe_self.depth + (uint64_t)n + PROBE_STACK_SPARE <= ring_stack_words(probe_self.mask + 1);
}

static inline void lose(struct ring *ring, uint32_t n)
{
    atomic_fetch_add_explicit(&ring->n_lost, n, memory_order_relaxed);
    ring->n_lost_unrecorded += n < UINT32_MAX - ring->n_lost_unrecorded ? n : UINT32_MAX - ring->n_lost_unrecorded;
}

/*
 * Have methods got probes since the thread looked for calls under way, is it time again, or has this entry's probe (its
 * frame) been called from further outside than those before?
 */
bool probe_check_is_due(uintptr_t frame);

/* Walk the thread's stack.  Where it cannot be walked, calls under way are not known. */
void probe_check_stack(struct ring *ring, JNIEnv *jni, uintptr_t frame);

/* ---- unmounted ---- */

/*
 * The calls that virtual threads left open when they left their carriers.
 *
 * Carriers store and fetch them without locks and without malloc: in blocks of one mapping that costs what was
 * used of it.
 */

#define UNMOUNTED_BLOCKS 262144u /* of 29 calls; 0 is none */

/* Forget all calls; handles from before are not to be used.  Without memory none are stored. */
void unmounted_begin(void);

/*
 * Store n calls, their methods from the outermost on.  *handle is 0 or that of calls of the same virtual thread that
 * were fetched; it receives the handle of these.
 *
 * Returns their ticket, unique among all that have not been fetched, or 0: there is no room for them, and *handle is 0.
 */
uint32_t unmounted_put(uint32_t *handle, const uint32_t *methods, uint32_t n);

uint32_t unmounted_n(uint32_t handle);

/* Fetch at most n methods.  Returns the ticket.  The handle stays valid until unmounted_drop. */
uint32_t unmounted_fetch(uint32_t handle, uint32_t *methods, uint32_t n);
void unmounted_drop(uint32_t handle);

/* Does the JVM have virtual threads?  Find out what it can tell of them. */
bool virtual_find(jvmtiEnv *jvmti);

#endif
