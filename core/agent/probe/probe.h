/*
 * The native side of the probes: entries and exits of methods go into the thread's ring, with the thread's counters.
 *
 * No malloc, no locks; system calls when a thread's counters are opened and closed, and in reads by system call.
 */
#ifndef CORE_AGENT_PROBE_H
#define CORE_AGENT_PROBE_H

#include "core/pmu/outside.h"
#include "core/pmu/read.h"
#include "core/wire/config.h"
#include "core/wire/ring.h"

#include <jvmti.h>
#include <stdatomic.h>

/* ---- counting ---- */

struct counting_calls;

/* What a session counts; plain data. */
struct counting_plan {
    struct counter_layout layout; /* n_groups 0: nothing */
    bool by_call;                 /* read by system call, for which all descriptors stay open */
};

/* What a configuration wants counted.  Returns 0, or -1 with *err set: it is too much. */
int counting_plan_make(struct counting_plan *plan, const struct agent_config *config, struct err *err);

/* One thread's, in its own memory; zeroed: not open. */
struct counting_thread {
    struct counters_thread pages;        /* read in user space; or */
    struct counting_calls *calls;        /* by system call; owned mapping; or */
    struct simulated_thread simulated;   /* with the layout: */
    const struct counter_layout *layout; /* borrowed from the plan */
    /* While they do not open because somebody else's (the recorder's, for some ms) hold the counters: */
    uint32_t n_tries, tried_ms;
};

/* From now on threads count by this plan (copied) and hand their descriptors over to the socket (-1: to nobody). */
void counting_begin(const struct counting_plan *plan, int socket);

/* Tell the recorder that a ring fills; never waits. */
void counting_say_full(void);

/* Nobody uses the socket any more when this returns. */
void counting_end(void);

/*
 * Open the session's counters for the calling thread, whose ring has the given number, and hand them over; the ring
 * tells whether they are open.  What does not open now may open later, in counting_read.
 */
void counting_open(struct counting_thread *counting, struct ring *ring, uint32_t number);

/* By another plan and for nobody else.  Returns 0, or -1 with *failure set and nothing open. */
int counting_open_private(struct counting_thread *counting, const struct counting_plan *plan,
                          struct counters_failure *failure);

/* The values at 'ticks', now, as counter_layout_columns counts them.  Returns whether they are valid. */
bool counting_read(struct counting_thread *counting, struct ring *ring, uint32_t number, uint64_t ticks,
                   uint64_t *values);

/*
 * A simulator does not count what is between them, nor does it leave anything in the simulated caches.  Both in the
 * same function: a return without its call would be mispredicted.
 */
static inline void counting_pause(const struct counting_thread *counting)
{
    if (counting->simulated.slot != NULL)
        atomic_store_explicit(counting->simulated.is_paused, 1, memory_order_relaxed);
}

static inline void counting_resume(const struct counting_thread *counting)
{
    if (counting->simulated.slot != NULL)
        atomic_store_explicit(counting->simulated.is_paused, 0, memory_order_relaxed);
}

/* Does nothing when not open. */
void counting_close(struct counting_thread *counting);

/* ---- open_calls ---- */

/*
 * Calls that were under way when their methods got probes: main, a server's loop, a long computation.
 *
 * Such a call passed no probe when it began, and passes none when it ends: its frame runs the code without.  So a
 * thread checks its own stack, at its first probe after classes were changed, and from then on at times
 * (probe_open.c); what it finds there and has not recorded is a call under way.
 */

#define OPEN_CALLS_MAX 1024u /* of methods with probes on a stack; with more, nothing is found */

/* On a thread's stack of open calls: it was under way, no probe will tell its end. */
#define OPEN_CALL (UINT32_C(1) << 31)

struct open_calls {
    uint32_t generation; /* another number when other methods have probes */
    bool is_deferred;    /* nothing was found, for classes are being changed: it is to be tried again */
    /* On the stack, outermost first: methods with probes; with OPEN_CALL those that record now. */
    uint32_t n_found, found[OPEN_CALLS_MAX];
    /* What is to be open: the thread's first n_same calls, then these; is_known: they were open before. */
    uint32_t n, n_same, calls[OPEN_CALLS_MAX];
    bool is_known[OPEN_CALLS_MAX];
};

/*
 * From what was found, and the thread's open calls, outermost first: what is to be open.  Calls that were recorded
 * stay. Returns false when they are not on the stack: nothing can be said then.
 *
 * method_of  the method of a recorded call, which may be told apart by a value
 */
bool open_calls_merge(struct open_calls *calls, const uint32_t *open, uint32_t n_open, uint32_t (*method_of)(uint32_t));

/* Fill in what is found on the calling thread's stack; jni: its JNIEnv.  Returns false: it cannot be walked. */
typedef bool open_calls_find_fn(struct open_calls *calls, void *jni);

/* ---- probe ---- */

/*
 * Let probes with this epoch's tokens record into the segment (borrowed, stays mapped for ever), and hand their
 * counters over to the socket (borrowed until probe_stop; -1: to nobody).
 */
void probe_start(struct segment *segment, const struct counting_plan *plan, jvmtiEnv *jvmti, int socket);

/*
 * Methods have got probes, or lost them: each thread looks for calls under way at its next entry.  find: how; once,
 * before probe_start (NULL: it does not).
 */
void probe_find_with(open_calls_find_fn *find);
void probe_find_open(void);

/* From now on entries record nothing, and exits of earlier entries neither, and no probe uses the socket. */
void probe_stop(void);

/* The current thread ends: give its ring back. */
void probe_thread_ended(void);

/*
 * A virtual thread comes to the current thread, with calls that it left open (a handle of probe_parts.h, or 0).  It
 * goes: returns the handle of the calls that it leaves open, or 0.
 */
void probe_mount(uint32_t handle);
uint32_t probe_unmount(void);

/*
 * For calibration: let the current thread's probes write into n_words (a power of two) at words, over and over, until
 * probe_leave_private; tokens must have the given epoch.  They read the plan's counters, as they will in the session.
 *
 * Returns 0, or -1 with *failure set: the counters do not open, and records hold RING_NOT_COUNTED.
 */
int probe_enter_private(struct ring *ring, uint64_t *words, uint32_t n_words, uint32_t epoch,
                        const struct counting_plan *plan, struct counters_failure *failure);
void probe_leave_private(void);

/* ---- virtual ---- */

/*
 * Virtual threads (JDK 21 and later): the agent hears when one comes to a carrier and when it goes.
 *
 * By the JVM's own events, 50 ns each; they are HotSpot's extensions to JVMTI, posted in the carrier, the first after a
 * virtual thread's start and the last before its end.  What a virtual thread left open is found again by its JVMTI
 * thread-local storage.
 */

/*
 * Once in the JVM's life, when the environment is made: what it can tell of them, if it has any.  Then hear of them in
 * the session of an epoch, or no more (0).
 */
void probe_virtual_init(jvmtiEnv *jvmti);
void probe_virtual_listen(jvmtiEnv *jvmti, uint32_t epoch);

/* The carrier of the current thread as a local reference, or NULL: it is itself no virtual thread. */
jthread virtual_carrier(jvmtiEnv *jvmti);

/* Is the current thread virtual, or one of those that carry them?  Any thread, at any time. */
bool virtual_is_near(jvmtiEnv *jvmti, JNIEnv *jni);

/* The virtual thread on a carrier, now, as a local reference, or NULL: there is none. */
jthread virtual_mounted(jvmtiEnv *jvmti, jthread carrier);

#endif
