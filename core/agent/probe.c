/*
 * The native side of the probes.
 *
 * An armed pair costs two calls through JNI (5 to 6 ns together), two timestamps (10 ns each in a virtual machine)
 * and two 8-byte stores into a buffer that is in the cache: the timestamps are the floor.
 *
 * Everything that a probe needs is in the thread's own 'self', found in one instruction (initial-exec TLS).  What is
 * shared with the recorder is one ring per thread; the only shared writes are its head and tail.
 */
#include "core/agent/agent.h"

#include "core/agent/parked.h"
#include "core/agent/virtual.h"
#include "core/base/ticks.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct probe_thread {
    uint32_t epoch; /* of the session whose ring this is; 0: no ring */
    uint32_t mask;  /* words in the ring minus one */
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
    uint32_t refused_epoch; /* of a session in which there was no ring for this thread */
    uint32_t ring_number;
    bool is_mounted; /* the ring says that a virtual thread has come */
    bool is_deaf;    /* it could not say so: until it goes, nothing is recorded */
    uint32_t handle; /* of the calls that it brought, or 0 */
    struct counting counting;
};

static _Thread_local struct probe_thread self;

/* The session; the epoch is published last. */
static struct {
    _Atomic uint32_t epoch; /* 0: nothing is recorded */
    struct segment *segment;
    jvmtiEnv *jvmti;
    uint32_t n_counters; /* values that follow each record */
} session;

static uint32_t token_epoch(jint token)
{
    return (uint32_t)token >> RING_METHOD_BITS;
}

/* ---- taking and giving back a ring: once in a thread's life ---- */

static void set_name(struct ring *ring)
{
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof info);
    if ((*session.jvmti)->GetThreadInfo(session.jvmti, virtual_carrier(session.jvmti), &info) != JVMTI_ERROR_NONE ||
        info.name == NULL)
        return;
    size_t n = strnlen(info.name, RING_NAME_BYTES - 1);
    memcpy(ring->name, info.name, n);
    ring->name[n] = '\0';
    (*session.jvmti)->Deallocate(session.jvmti, (unsigned char *)info.name);
    atomic_store_explicit(&ring->name_set, 1, memory_order_release);
}

/* A free ring of the segment, or NULL when all are taken. */
static struct ring *claim(struct segment *segment, uint32_t *index)
{
    for (uint32_t i = 0; i < segment->n_rings; i++) {
        struct ring *ring = segment_ring(segment, i);
        uint32_t state = RING_FREE;
        if (atomic_load_explicit(&ring->state, memory_order_relaxed) != RING_FREE)
            continue;
        if (!atomic_compare_exchange_strong(&ring->state, &state, RING_CLAIMED))
            continue;
        uint32_t seen = atomic_load(&segment->n_rings_seen);
        while (seen < i + 1 && !atomic_compare_exchange_weak(&segment->n_rings_seen, &seen, i + 1))
            continue;
        *index = i;
        return ring;
    }
    return NULL;
}

static bool take_ring(uint32_t epoch)
{
    struct segment *segment = session.segment;
    uint32_t index;
    if (self.refused_epoch == epoch)
        return false;
    counting_close(&self.counting);
    struct ring *ring = claim(segment, &index);
    if (ring == NULL) {
        self.refused_epoch = epoch;
        return false;
    }
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    ring->limit = tail; /* find_room is next */
    self.depth = self.base = ring->n_lost_unrecorded = 0;
    self.is_mounted = self.is_deaf = false;
    atomic_store_explicit(&ring->n_lost, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->name_set, 0, memory_order_relaxed);
    ring->tid = (int32_t)syscall(SYS_gettid);
    ring->start_ticks = ticks_now();
    set_name(ring);
    self.n_counters = session.n_counters;
    /* Counters that do not open read as not counted. */
    counting_open(&self.counting, ring, index);
    self.ring = ring;
    self.ring_number = index;
    self.words = segment_words(segment, index);
    self.stack = segment_stack(segment, index);
    self.mask = segment->ring_words - 1;
    self.epoch = epoch;
    atomic_store_explicit(&ring->state, RING_TAKEN, memory_order_release);
    return true;
}

void probe_thread_ended(void)
{
    uint32_t epoch = self.epoch;
    self.epoch = 0;
    counting_close(&self.counting);
    if (epoch == 0 || epoch != atomic_load(&session.epoch))
        return;
    self.ring->end_ticks = ticks_now();
    atomic_store_explicit(&self.ring->state, RING_ENDED, memory_order_release);
}

/* ---- recording ---- */

/*
 * There is one word for the record itself, one for a gap before it, one for the virtual thread that goes, and one for
 * each exit that is still to come; with counters, more.
 */
static inline bool has_room(const struct ring *ring, uint64_t head, uint64_t record_words)
{
    return head + (self.depth + UINT64_C(4)) * record_words <= ring->limit;
}

/* It has not come for a while: a thread that records 50 million words a second fills its ring in 20 ms. */
static void wake_recorder(struct segment *segment)
{
    if (atomic_load_explicit(&segment->is_waiting, memory_order_relaxed) != 0 &&
        atomic_exchange(&segment->is_waiting, 0) != 0)
        counting_say_full();
}

/* Is there room?  The next look comes when there may be none, or after wake_words. */
static bool find_room(struct ring *ring, uint64_t head, uint64_t record_words)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire), end = tail + self.mask + 1;
    uint64_t wake_words = session.segment->wake_words;
    ring->limit = end;
    if (wake_words > 0 && wake_words < end - head) {
        uint64_t next = head + (self.depth + UINT64_C(4)) * record_words + wake_words;
        ring->limit = next < end ? next : end;
    }
    if (wake_words > 0 && head - tail >= wake_words)
        wake_recorder(session.segment);
    return has_room(ring, head, record_words);
}

static inline void put(uint64_t head, uint64_t word)
{
    self.words[head & self.mask] = word;
}

/* One record: the timestamp is taken as late as possible at an entry, as early as possible at an exit. */
static uint64_t put_with_counters(uint64_t head, enum ring_kind kind, uint32_t method, uint64_t ticks)
{
    uint64_t values[RING_COUNTERS_MAX];
    if (!counting_read(&self.counting, self.ring, self.ring_number, ticks, values))
        for (uint32_t i = 0; i < self.n_counters; i++)
            values[i] = RING_NOT_COUNTED;
    put(head++, ring_word(kind, method, ticks));
    for (uint32_t i = 0; i < self.n_counters; i++)
        put(head++, values[i]);
    return head;
}

static uint64_t put_record(uint64_t head, enum ring_kind kind, uint32_t method)
{
    uint64_t ticks = ticks_now();
    if (self.n_counters > 0)
        return put_with_counters(head, kind, method, ticks);
    put(head, ring_word(kind, method, ticks));
    return head + 1;
}

static uint64_t put_gap(struct ring *ring, uint64_t head)
{
    uint32_t n = ring->n_lost_unrecorded < RING_METHOD_MAX ? ring->n_lost_unrecorded : RING_METHOD_MAX;
    ring->n_lost_unrecorded -= n;
    return put_record(head, RING_GAP, n);
}

static void lose(struct ring *ring, uint32_t n)
{
    atomic_fetch_add_explicit(&ring->n_lost, n, memory_order_relaxed);
    ring->n_lost_unrecorded += n < UINT32_MAX - ring->n_lost_unrecorded ? n : UINT32_MAX - ring->n_lost_unrecorded;
}

/* The rare parts of an entry: no ring yet, a full ring, a gap to tell of.  Returns whether to record the entry. */
static __attribute__((noinline)) bool prepare(jint token)
{
    uint32_t epoch = token_epoch(token);
    if (epoch != atomic_load_explicit(&session.epoch, memory_order_acquire))
        return false;
    if (self.epoch != epoch && !take_ring(epoch)) {
        atomic_fetch_add_explicit(&session.segment->n_lost_no_ring, 1, memory_order_relaxed);
        return false;
    }
    struct ring *ring = self.ring;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t record_words = 1 + self.n_counters;
    if (self.is_deaf || (!has_room(ring, head, record_words) && !find_room(ring, head, record_words))) {
        lose(ring, 1);
        return false;
    }
    if (ring->n_lost_unrecorded > 0)
        atomic_store_explicit(&ring->head, put_gap(ring, head), memory_order_release);
    return true;
}

/* The JVM finds these by name (classes.c). */
#define NATIVE __attribute__((visibility("default"))) JNIEXPORT
NATIVE jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token);
NATIVE void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token);
NATIVE void JNICALL Java_java_lang_MmprofProbe_unwind0(JNIEnv *jni, jclass probe, jint token);
NATIVE void JNICALL Java_java_lang_MmprofProbe_caught0(JNIEnv *jni, jclass probe, jint token);

/*
 * Entry.  Returns the token that the method keeps for its exits: 0 when nothing was recorded, so that the exit
 * records nothing either and the stream stays well nested.
 */
jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token)
{
    (void)jni;
    (void)probe;
    struct ring *ring = self.ring;
    if (token_epoch(token) != self.epoch || ring->n_lost_unrecorded > 0 ||
        !has_room(ring, atomic_load_explicit(&ring->head, memory_order_relaxed), 1 + self.n_counters)) {
        if (!prepare(token))
            return 0;
        ring = self.ring;
    }
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t method = (uint32_t)token & RING_METHOD_MAX;
    self.stack[self.depth++] = method;
    head = put_record(head, RING_ENTER, method);
    atomic_store_explicit(&ring->head, head, memory_order_release);
    return token;
}

/* An exit always has room: its entry reserved it. */
static inline void record_exit(struct ring *ring, enum ring_kind kind, uint32_t method)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (ring->n_lost_unrecorded > 0 && find_room(ring, head, 1 + self.n_counters))
        head = put_gap(ring, head);
    self.depth--;
    head = put_record(head, kind, method);
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

/*
 * Control is in the method with this token: what was entered since and is still open was left in a way that no probe
 * saw (a constructor by an exception out of super(...); a method whose probe had no stack left).  It ends here.
 * Returns false when the method is not open in this thread: its entry was not recorded here.
 */
static __attribute__((noinline)) bool unwind_to(struct ring *ring, uint32_t method)
{
    uint32_t at = self.depth;
    while (at > self.base && self.stack[at - 1] != method)
        at--;
    if (at <= self.base)
        return false;
    while (self.depth > at)
        record_exit(ring, RING_UNWIND, self.stack[self.depth - 1]);
    return true;
}

static inline bool is_innermost(uint32_t method)
{
    return self.depth > self.base && self.stack[self.depth - 1] == method;
}

static inline void leave(jint token, enum ring_kind kind)
{
    struct ring *ring = self.ring;
    uint32_t method = (uint32_t)token & RING_METHOD_MAX;
    if (token_epoch(token) == self.epoch && (is_innermost(method) || unwind_to(ring, method)))
        record_exit(ring, kind, method);
}

void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token)
{
    (void)jni;
    (void)probe;
    leave(token, RING_EXIT);
}

void JNICALL Java_java_lang_MmprofProbe_unwind0(JNIEnv *jni, jclass probe, jint token)
{
    (void)jni;
    (void)probe;
    leave(token, RING_UNWIND);
}

void JNICALL Java_java_lang_MmprofProbe_caught0(JNIEnv *jni, jclass probe, jint token)
{
    (void)jni;
    (void)probe;
    uint32_t method = (uint32_t)token & RING_METHOD_MAX;
    if (token_epoch(token) == self.epoch && !is_innermost(method))
        unwind_to(self.ring, method);
}

/* ---- virtual threads ---- */

/* The record before once more, as another one: it has been made at the same moment. */
static uint64_t put_again(uint64_t head, enum ring_kind kind, uint32_t method)
{
    uint64_t before = head - (1 + self.n_counters);
    put(head, ring_word(kind, method, self.words[before & self.mask]));
    for (uint32_t i = 1; i <= self.n_counters; i++)
        put(head + i, self.words[(before + i) & self.mask]);
    return head + 1 + self.n_counters;
}

/* Room for n calls and all that comes before and after them; also for the gap that is due. */
static bool has_room_for(struct ring *ring, uint32_t n)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t record_words = 1 + self.n_counters, n_words = record_words * (self.depth + 2 * (uint64_t)n + 5);
    find_room(ring, head, record_words); /* which may wake the recorder */
    return head + n_words <= atomic_load_explicit(&ring->tail, memory_order_acquire) + self.mask + 1;
}

static void mount(struct ring *ring, uint32_t handle, uint32_t n)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t *methods = self.stack + self.depth, ticket = n == 0 ? 0 : parked_fetch(handle, methods, n);
    if (ring->n_lost_unrecorded > 0)
        head = put_gap(ring, head);
    head = put_record(head, RING_MOUNT, ticket);
    for (uint32_t i = 0; i < n; i++)
        head = put_again(head, RING_RESUME, methods[i]);
    self.depth += n;
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

/*
 * There is nothing to say when neither the carrier nor the virtual thread has calls open: what it opens stands alone in
 * the ring.
 */
void probe_mount(uint32_t handle)
{
    uint32_t epoch = atomic_load_explicit(&session.epoch, memory_order_acquire), n = parked_n(handle);
    self.handle = 0;
    if (epoch == 0 || (self.epoch != epoch && (n == 0 || !take_ring(epoch)))) {
        parked_drop(handle);
        return;
    }
    self.base = self.depth;
    self.is_deaf = (n > 0 || self.depth > 0) && !has_room_for(self.ring, n);
    self.is_mounted = (n > 0 || self.depth > 0) && !self.is_deaf;
    if (self.is_mounted) {
        self.handle = handle;
        mount(self.ring, handle, n);
        return;
    }
    if (n > 0)
        lose(self.ring, n);
    if (self.is_deaf)
        self.ring->limit = 0; /* entries look at this first */
    parked_drop(handle);
}

/* Its entries and its coming reserved the room. */
uint32_t probe_unmount(void)
{
    uint32_t handle = self.handle, n = self.depth - self.base, epoch = atomic_load(&session.epoch), ticket = 0;
    struct ring *ring = self.ring;
    bool is_told = self.is_mounted || (n > 0 && !self.is_deaf);
    self.handle = 0;
    self.is_deaf = self.is_mounted = false;
    if (epoch == 0 || self.epoch != epoch)
        return 0;
    if (n > 0)
        ticket = parked_put(&handle, self.stack + self.base, n);
    if (n > 0 && ticket == 0)
        lose(ring, n);
    if (n == 0) {
        parked_drop(handle);
        handle = 0;
    }
    if (is_told) {
        uint64_t head = put_record(atomic_load_explicit(&ring->head, memory_order_relaxed), RING_UNMOUNT, ticket);
        atomic_store_explicit(&ring->head, head, memory_order_release);
    }
    self.depth = self.base;
    self.base = 0;
    return handle;
}

/* ---- the session ---- */

void probe_start(struct segment *segment, const struct agent_config *config, jvmtiEnv *jvmti, int socket)
{
    session.segment = segment;
    session.jvmti = jvmti;
    session.n_counters = counter_layout_columns(&config->counting.layout);
    counting_begin(&config->counting, socket);
    atomic_store_explicit(&session.epoch, segment->epoch, memory_order_release);
}

void probe_stop(void)
{
    atomic_store_explicit(&session.epoch, 0, memory_order_release);
    counting_end();
}

int probe_enter_private(struct ring *ring, uint64_t *words, uint32_t n_words, uint32_t epoch,
                        const struct agent_config *config, struct counters_failure *failure)
{
    static uint32_t stack[4]; /* one thread calibrates at a time, one call deep */
    memset(ring, 0, sizeof *ring);
    self.depth = self.base = 0;
    self.stack = stack;
    ring->limit = UINT64_MAX;
    self.ring = ring;
    self.words = words;
    self.mask = n_words - 1;
    self.n_counters = counter_layout_columns(&config->counting.layout);
    self.epoch = epoch;
    return self.n_counters == 0 ? 0 : counting_open_private(&self.counting, &config->counting, failure);
}

void probe_leave_private(void)
{
    self.epoch = 0;
    self.ring = NULL;
    counting_close(&self.counting);
}
