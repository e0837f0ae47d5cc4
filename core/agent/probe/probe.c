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

#include "core/agent/probe/probe.h"

#include <sys/syscall.h>

static uint32_t token_epoch(jint token)
{
    return (uint32_t)token >> RING_METHOD_BITS;
}

/* The rare parts of an entry: no ring yet, a full ring, a gap to tell of, calls under way to find.  Returns whether
 * to record the entry. */
static __attribute__((noinline)) bool prepare(JNIEnv *jni, jint token)
{
    uint32_t epoch = atomic_load_explicit(&probe_session.epoch, memory_order_acquire);
    if (token_epoch(token) != (epoch & AGENT_EPOCH_MAX))
        return false;
    if (probe_self.epoch != epoch && !probe_take_ring(epoch)) {
        struct segment *segment = atomic_load_explicit(&probe_session.segment, memory_order_relaxed);
        if (!probe_self.is_left_out)
            atomic_fetch_add_explicit(&segment->n_lost_no_ring, 1, memory_order_relaxed);
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
    (void)jni, (void)probe;
    leave(token, RING_EXIT);
}

void JNICALL Java_java_lang_MmprofProbe_unwind0(JNIEnv *jni, jclass probe, jint token)
{
    (void)jni, (void)probe;
    leave(token, RING_UNWIND);
}

void JNICALL Java_java_lang_MmprofProbe_caught0(JNIEnv *jni, jclass probe, jint token)
{
    (void)jni, (void)probe;
    uint32_t method = (uint32_t)token & RING_METHOD_MAX;
    if (token_epoch(token) == probe_self.token_epoch && has_ring_of_session() && !is_innermost(method))
        unwind_to(probe_self.ring, method);
}
