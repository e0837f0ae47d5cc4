/*
 * The calling thread's stack, as the JVM tells it, and which of its methods have probes.
 *
 * What a method is takes the JVM some microseconds; it is stored in a table of single words, without a lock.
 */
#include "core/agent/stacks/stacks.h"

#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/control/method_names.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/probe/probe.h"
#include "core/wire/ring.h"

#include <pthread.h>
#include <stdatomic.h>

#define FRAMES_MAX      METHOD_IDS_FRAMES
#define GENERATION_BITS 12      /* of a word: its high half is the method's hash, then the generation, then the id */
#define ROOM_BYTES      262144u /* of the thread's stack: the JVM's own functions want some */
#define OWN_FRAMES      3       /* enter0, enter, and the method that is being entered */

struct stacks stacks = { .poll.thread.lock = PTHREAD_MUTEX_INITIALIZER, .log.thread.lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local uintptr_t stack_end; /* of this thread; 0: not known yet */

/* ---- what a method is ---- */

static uint32_t look_up(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct method_names names;
    uint32_t id = 0;
    if (method_names_get(jvmti, method, &names))
        id = methods_id(names.class_name, wire_text(names.name), wire_text(names.descriptor));
    method_names_free(jvmti, jni, &names);
    return id;
}

static uint32_t id_of(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, uint32_t generation)
{
    uint64_t hash = (uint64_t)(uintptr_t)method * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = (hash & ~(uint64_t)UINT32_MAX) | (uint64_t)(generation & ((1u << GENERATION_BITS) - 1))
                                                        << RING_METHOD_BITS;
    _Atomic uint64_t *slot = &stacks.words[hash % STACK_SLOTS];
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
    if ((word & ~(uint64_t)RING_METHOD_MAX) == key)
        return (uint32_t)word & RING_METHOD_MAX;
    uint32_t id = look_up(jvmti, jni, method);
    atomic_store_explicit(slot, key | id, memory_order_relaxed);
    return id;
}

/* ---- the stack ---- */

bool stack_has_room(size_t room_bytes)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t n_bytes = 0;
    if (stack_end == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &n_bytes) == 0)
            stack_end = (uintptr_t)low;
        pthread_attr_destroy(&attributes);
    }
    return stack_end != 0 && (uintptr_t)__builtin_frame_address(0) - stack_end > room_bytes;
}

static bool take_frames(struct open_calls *calls, jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n)
{
    calls->n_found = 0;
    for (jint i = n; i-- > OWN_FRAMES;) {
        uint32_t id = id_of(jvmti, jni, frames[i].method, calls->generation);
        if (id == 0)
            continue;
        if (calls->n_found == OPEN_CALLS_MAX)
            return false;
        calls->found[calls->n_found++] = id | (classes_is_enabled(id) ? OPEN_CALL : 0);
    }
    return true;
}

/* Returns the number of frames, or -1. */
static jint walk(jvmtiEnv *jvmti, jvmtiFrameInfo *frames, bool *is_deferred)
{
    jint n = 0;
    if (!method_ids_enter()) {
        *is_deferred = true;
        return -1;
    }
    jvmtiError error = (*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES_MAX, frames, &n);
    method_ids_leave();
    return error == JVMTI_ERROR_NONE && n < FRAMES_MAX ? n : -1;
}

/* Not of virtual threads and their carriers: while one comes or goes the JVM has no stack to tell of. */
bool stack_find(struct open_calls *calls, void *jni)
{
    jvmtiEnv *jvmti = jvmti_env();
    if (!stack_has_room(ROOM_BYTES) || virtual_is_near(jvmti, jni))
        return false;
    jvmtiFrameInfo *frames = malloc(FRAMES_MAX * sizeof *frames);
    jint n = frames == NULL ? -1 : walk(jvmti, frames, &calls->is_deferred);
    bool found = n >= 0 && take_frames(calls, jvmti, jni, frames, n);
    free(frames);
    return found;
}
