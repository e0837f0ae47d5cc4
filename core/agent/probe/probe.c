/*
 * The native side of the probes.
 *
 * An enabled pair costs two calls through JNI (5 to 6 ns together), two timestamps (10 ns each in a virtual machine)
 * and two 8-byte stores into a buffer that is in the cache: the timestamps are the floor.
 *
 * Everything that a probe needs is in the thread's own probe_self, found in one instruction (initial-exec TLS).  What
 * is shared with the recorder is one ring per thread; the only shared writes are its head and tail.
 */
#include "core/agent/probe/probe_parts.h"

#include "core/agent/probe/virtual.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct probe_thread probe_self;
struct probe_session probe_session;

static uint32_t token_epoch(jint token)
{
    return (uint32_t)token >> RING_METHOD_BITS;
}

#define WAKE_PART 8 /* a small ring that holds one part of so many wakes the recorder */
#define FEW_RINGS 8 /* are left: the recorder prepares more */

/* ---- taking and giving back a ring: once in a thread's life ---- */

static void set_name(struct ring *ring)
{
    jvmtiThreadInfo info;
    jvmtiEnv *jvmti = atomic_load_explicit(&probe_session.jvmti, memory_order_relaxed);
    memset(&info, 0, sizeof info);
    if ((*jvmti)->GetThreadInfo(jvmti, virtual_carrier(jvmti), &info) != JVMTI_ERROR_NONE || info.name == NULL)
        return;
    size_t n = strnlen(info.name, RING_NAME_BYTES - 1);
    memcpy(ring->name, info.name, n);
    ring->name[n] = '\0';
    (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    atomic_store_explicit(&ring->name_set, 1, memory_order_release);
}

/* It has not come for a while: a thread that records 50 million words a second fills its ring in 20 ms. */
static void wake_recorder(struct segment *segment)
{
    if (atomic_load_explicit(&segment->is_waiting, memory_order_relaxed) != 0 &&
        atomic_exchange(&segment->is_waiting, 0) != 0)
        counting_say_full();
}

/* A free ring of the segment, or NULL when all are taken. */
static struct ring *claim(struct segment *segment, uint32_t *index)
{
    uint32_t n = atomic_load_explicit(&segment->n_prepared, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct ring *ring = segment_ring(segment, i);
        uint32_t state = RING_FREE;
        if (atomic_load_explicit(&ring->state, memory_order_relaxed) != RING_FREE)
            continue;
        if (!atomic_compare_exchange_strong(&ring->state, &state, RING_CLAIMED))
            continue;
        uint32_t seen = atomic_load(&segment->n_rings_seen);
        while (seen < i + 1 && !atomic_compare_exchange_weak(&segment->n_rings_seen, &seen, i + 1))
            continue;
        if (i + FEW_RINGS >= n && n < segment->n_rings)
            wake_recorder(segment);
        *index = i;
        return ring;
    }
    wake_recorder(segment);
    return NULL;
}

static struct segment *session_segment(void)
{
    return atomic_load_explicit(&probe_session.segment, memory_order_relaxed);
}

/* n is 0 where the session's memory has just been replaced by zeros. */
static void use_words(struct ring *ring, uint32_t n)
{
    probe_self.mask = n == 0 ? 0 : n - 1;
    atomic_store_explicit(&ring->size, n, memory_order_relaxed);
}

bool probe_take_ring(uint32_t epoch)
{
    struct segment *segment = session_segment();
    uint32_t index, handed = atomic_load_explicit(&segment->n_handed, memory_order_acquire);
    if (probe_self.refused_epoch == epoch && probe_self.refused_at == handed)
        return false;
    counting_close(&probe_self.counting);
    struct ring *ring = claim(segment, &index);
    if (ring == NULL) {
        probe_self.refused_epoch = epoch;
        probe_self.refused_at = handed;
        return false;
    }
    if (atomic_load(&probe_session.epoch) != epoch) { /* the thread stood still while its session ended */
        atomic_store(&ring->state, RING_FREE);
        return false;
    }
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    ring->limit = tail; /* find_room is next */
    probe_self.depth = probe_self.base = ring->n_lost_unrecorded = 0;
    probe_self.is_mounted = probe_self.is_deaf = false;
    probe_self.generation = atomic_load(&probe_session.generation) - 1;
    probe_self.check_ticks = UINT64_MAX;
    atomic_store_explicit(&ring->n_lost, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->name_set, 0, memory_order_relaxed);
    ring->tid = (int32_t)syscall(SYS_gettid);
    ring->start_ticks = ticks_now();
    set_name(ring);
    probe_self.n_counters = atomic_load_explicit(&probe_session.n_counters, memory_order_relaxed);
    /* Counters that do not open read as not counted. */
    counting_open(&probe_self.counting, ring, index);
    probe_self.ring = ring;
    probe_self.ring_number = index;
    probe_self.words = segment_words(segment, index);
    probe_self.stack = segment_stack(segment, index);
    use_words(ring, atomic_load_explicit(&ring->granted, memory_order_acquire));
    probe_self.epoch = epoch;
    probe_self.token_epoch = epoch & AGENT_EPOCH_MAX;
    atomic_store_explicit(&ring->state, RING_TAKEN, memory_order_release);
    return true;
}

void probe_thread_ended(void)
{
    uint32_t epoch = probe_self.epoch;
    probe_self.epoch = probe_self.token_epoch = 0;
    counting_close(&probe_self.counting);
    if (epoch == 0 || epoch != atomic_load(&probe_session.epoch))
        return;
    probe_self.ring->end_ticks = ticks_now();
    atomic_store_explicit(&probe_self.ring->state, RING_ENDED, memory_order_release);
}

/* ---- recording ---- */

/* Use more of the ring, if there is more and no word that waits would have another place then. */
static void use_granted(struct ring *ring, uint64_t head, uint64_t tail)
{
    uint32_t granted = atomic_load_explicit(&ring->granted, memory_order_acquire), size = probe_self.mask + 1;
    if (granted > size && (head == tail || (tail & (granted - 1)) + (head - tail) <= size))
        use_words(ring, granted);
}

/*
 * Where the next look is due, before head: when so many more words were written, and before the stack is full, which
 * each entry brings as near as the words that it writes and reserves.
 */
static uint64_t next_look(uint64_t head, uint64_t record_words, uint64_t wake_words)
{
    uint64_t depth = probe_self.depth + (uint64_t)PROBE_STACK_SPARE,
             stack_words = ring_stack_words(probe_self.mask + 1),
             pushes = depth < stack_words ? 2 * (stack_words - depth - 1) * record_words : 0;
    if (depth >= stack_words)
        return head;
    return head + depth * record_words + (wake_words > 0 && wake_words < pushes ? wake_words : pushes);
}

bool probe_find_room(struct ring *ring, uint64_t head, uint64_t record_words)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    struct segment *segment = session_segment();
    use_granted(ring, head, tail);
    uint64_t size = probe_self.mask + UINT64_C(1), end = tail + size,
             wake_words = segment->wake_words < size / WAKE_PART ? segment->wake_words : size / WAKE_PART,
             next = next_look(head, record_words, wake_words);
    ring->limit = next < end ? next : end;
    if (wake_words > 0 && head - tail >= wake_words)
        wake_recorder(segment);
    return has_room(ring, head, record_words);
}

/* The rare parts of an entry: no ring yet, a full ring, a gap to tell of, calls under way to find.  Returns whether
 * to record the entry. */
static __attribute__((noinline)) bool prepare(JNIEnv *jni, jint token)
{
    uint32_t epoch = atomic_load_explicit(&probe_session.epoch, memory_order_acquire);
    if (token_epoch(token) != (epoch & AGENT_EPOCH_MAX))
        return false;
    if (probe_self.epoch != epoch && !probe_take_ring(epoch)) {
        atomic_fetch_add_explicit(&session_segment()->n_lost_no_ring, 1, memory_order_relaxed);
        return false;
    }
    struct ring *ring = probe_self.ring;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t record_words = 1 + probe_self.n_counters;
    if (probe_self.is_deaf || (!has_room(ring, head, record_words) && !probe_find_room(ring, head, record_words))) {
        lose(ring, 1);
        return false;
    }
    if (ring->n_lost_unrecorded > 0)
        atomic_store_explicit(&ring->head, put_gap(ring, head), memory_order_release);
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (probe_check_is_due(frame))
        probe_check_stack(ring, jni, frame);
    return true;
}

/* The JVM finds these by name (classes.c). */
#define NATIVE __attribute__((visibility("default"))) JNIEXPORT
NATIVE jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token);
NATIVE void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token);
NATIVE void JNICALL Java_java_lang_MmprofProbe_unwind0(JNIEnv *jni, jclass probe, jint token);
NATIVE void JNICALL Java_java_lang_MmprofProbe_caught0(JNIEnv *jni, jclass probe, jint token);

/* And these, of class loaders' own classes. */
#define SAME_AS(function) NATIVE __attribute__((alias(#function)))
SAME_AS(Java_java_lang_MmprofProbe_enter0) jint JNICALL Java_mmprof_Probe_enter0(JNIEnv *jni, jclass probe, jint token);
SAME_AS(Java_java_lang_MmprofProbe_exit0) void JNICALL Java_mmprof_Probe_exit0(JNIEnv *jni, jclass probe, jint token);
SAME_AS(Java_java_lang_MmprofProbe_unwind0) void JNICALL Java_mmprof_Probe_unwind0(JNIEnv *j, jclass p, jint token);
SAME_AS(Java_java_lang_MmprofProbe_caught0) void JNICALL Java_mmprof_Probe_caught0(JNIEnv *j, jclass p, jint token);

/*
 * Entry.  Returns the token that the method keeps for its exits: 0 when nothing was recorded, so that the exit
 * records nothing either and the stream stays well nested.
 */
jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token)
{
    (void)probe;
    struct ring *ring = probe_self.ring;
    if (token_epoch(token) != probe_self.token_epoch || ring->n_lost_unrecorded > 0 ||
        probe_self.generation != atomic_load_explicit(&probe_session.generation, memory_order_relaxed) ||
        !has_room(ring, atomic_load_explicit(&ring->head, memory_order_relaxed), 1 + probe_self.n_counters)) {
        if (!prepare(jni, token))
            return 0;
        ring = probe_self.ring;
    }
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t method = (uint32_t)token & RING_METHOD_MAX;
    probe_self.stack[probe_self.depth++] = method;
    head = put_record(head, RING_ENTER, method);
    atomic_store_explicit(&ring->head, head, memory_order_release);
    return token;
}

/* An exit always has room: its entry reserved it. */
static inline void record_exit(struct ring *ring, enum ring_kind kind, uint32_t method)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (ring->n_lost_unrecorded > 0 && probe_find_room(ring, head, 1 + probe_self.n_counters))
        head = put_gap(ring, head);
    probe_self.depth--;
    head = put_record(head, kind, method);
    atomic_store_explicit(&ring->head, head, memory_order_release);
    if (probe_self.depth > probe_self.base && (probe_self.stack[probe_self.depth - 1] & OPEN_CALL) != 0)
        ring->limit = 0; /* it may end unseen: the next entry checks this first */
}

/*
 * Control is in the method with this token: what was entered since and is still open was left in a way that no probe
 * saw (a constructor by an exception out of super(...); a method whose probe had no stack left).  It ends here.
 * Returns false when the method is not open in this thread: its entry was not recorded here.
 */
static __attribute__((noinline)) bool unwind_to(struct ring *ring, uint32_t method)
{
    uint32_t at = probe_self.depth;
    while (at > probe_self.base && probe_self.stack[at - 1] != method)
        at--;
    if (at <= probe_self.base)
        return false;
    while (probe_self.depth > at) {
        uint32_t last = probe_self.stack[probe_self.depth - 1];
        record_exit(ring, (last & OPEN_CALL) != 0 ? RING_EXIT : RING_UNWIND, last);
    }
    return true;
}

static inline bool is_innermost(uint32_t method)
{
    return probe_self.depth > probe_self.base && probe_self.stack[probe_self.depth - 1] == method;
}

static inline void leave(jint token, enum ring_kind kind)
{
    struct ring *ring = probe_self.ring;
    uint32_t method = (uint32_t)token & RING_METHOD_MAX;
    if (token_epoch(token) == probe_self.token_epoch && has_ring_of_session() &&
        (is_innermost(method) || unwind_to(ring, method)))
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
    if (token_epoch(token) == probe_self.token_epoch && has_ring_of_session() && !is_innermost(method))
        unwind_to(probe_self.ring, method);
}

/* ---- the session ---- */

void probe_start(struct segment *segment, const struct counting_plan *plan, jvmtiEnv *jvmti, int socket)
{
    atomic_store_explicit(&probe_session.segment, segment, memory_order_relaxed);
    atomic_store_explicit(&probe_session.jvmti, jvmti, memory_order_relaxed);
    atomic_store_explicit(&probe_session.n_counters, counter_layout_columns(&plan->layout), memory_order_relaxed);
    counting_begin(plan, socket);
    atomic_fetch_add(&probe_session.generation, 1);
    atomic_store_explicit(&probe_session.epoch, segment->epoch, memory_order_release);
}

void probe_find_with(open_calls_find_fn *find)
{
    probe_session.find = find;
}

void probe_find_open(void)
{
    atomic_fetch_add(&probe_session.generation, 1);
}

void probe_stop(void)
{
    atomic_store_explicit(&probe_session.epoch, 0, memory_order_release);
    counting_end();
}

int probe_enter_private(struct ring *ring, uint64_t *words, uint32_t n_words, uint32_t epoch,
                        const struct counting_plan *plan, struct counters_failure *failure)
{
    static uint32_t stack[4]; /* one thread calibrates at a time, one call deep */
    memset(ring, 0, sizeof *ring);
    probe_self.depth = probe_self.base = 0;
    probe_self.stack = stack;
    ring->limit = UINT64_MAX;
    probe_self.ring = ring;
    probe_self.generation = atomic_load(&probe_session.generation);
    probe_self.check_ticks = UINT64_MAX;
    probe_self.words = words;
    probe_self.mask = n_words - 1;
    probe_self.n_counters = counter_layout_columns(&plan->layout);
    probe_self.epoch = probe_self.token_epoch = epoch;
    return probe_self.n_counters == 0 ? 0 : counting_open_private(&probe_self.counting, plan, failure);
}

void probe_leave_private(void)
{
    probe_self.epoch = probe_self.token_epoch = 0;
    probe_self.ring = NULL;
    counting_close(&probe_self.counting);
}
