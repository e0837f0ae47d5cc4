#include "core/agent/stacks/sample_out.h"

#include "core/base/ticks.h"
#include "core/agent/codecache/own_vm.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/stacks/stacks.h"
#include "core/hotspot/vm_heap.h"

#include <stdatomic.h>
#include <sys/stat.h>

void sample_out_begin(struct sample_out *out, int fd)
{
    out->fd = fd;
    out->s = sink_into(out->buffer, SAMPLE_OUT_BYTES);
}

int sample_out_flush(struct sample_out *out)
{
    size_t n = (size_t)(out->s.at - out->buffer), done = 0;
    while (done < n && !out->s.full) {
        ssize_t wrote = write(out->fd, out->buffer + done, n - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        done += (size_t)wrote;
    }
    bool is_whole = !out->s.full;
    out->s = sink_into(out->buffer, SAMPLE_OUT_BYTES);
    return is_whole ? 0 : -1;
}

int sample_out_room(struct sample_out *out, size_t n)
{
    return (size_t)(out->s.end - out->s.at) >= n ? 0 : sample_out_flush(out);
}

bool sample_out_is_full(const struct sample_out *out)
{
    struct stat status;
    return fstat(out->fd, &status) == 0 && (uint64_t)status.st_blocks * 512 > POLL_LOG_BYTES;
}

/* ---- which sampled objects still live ---- */

#define SHIFT_MAX 31u

/* Xorshift: its bits are as good as coins here. */
static uint64_t draw(struct weak_objects *objects)
{
    objects->random ^= objects->random << 13;
    objects->random ^= objects->random >> 7;
    objects->random ^= objects->random << 17;
    return objects->random >> 8;
}

static int put(struct sample_out *out, uint64_t time_ns, enum poll_heap_kind kind, uint64_t number)
{
    if (sample_out_room(out, SAMPLE_OUT_STACK_BYTES) < 0)
        return -1;
    poll_log_put_heap(&out->s, &(struct poll_heap){ time_ns, kind, number });
    return 0;
}

void weak_objects_begin(struct weak_objects *objects)
{
    memset(objects, 0, sizeof *objects);
    objects->all = calloc(WEAK_OBJECTS_MAX, sizeof *objects->all);
    objects->is_on = true;
    objects->random = clock_ns(CLOCK_MONOTONIC_RAW) | 1;
}

/* The object at an index is not tracked any more; the last one takes its place. */
static int remove_object(struct weak_objects *objects, JNIEnv *jni, uint32_t i, uint64_t time_ns,
                         enum poll_heap_kind why, struct sample_out *out)
{
    uint32_t number = objects->all[i].number;
    (*jni)->DeleteWeakGlobalRef(jni, objects->all[i].ref);
    objects->all[i] = objects->all[--objects->n];
    return put(out, time_ns, why, number);
}

/* Make room: each has the same chance to stay. */
static int thin(struct weak_objects *objects, JNIEnv *jni, struct sample_out *out)
{
    objects->shift++;
    for (uint32_t i = objects->n; i-- > 0;)
        if ((draw(objects) & 1) != 0 &&
            remove_object(objects, jni, i, clock_ns(CLOCK_MONOTONIC_RAW), POLL_HEAP_DROPPED, out) < 0)
            return -1;
    return 0;
}

int weak_objects_add(struct weak_objects *objects, JNIEnv *jni, jweak ref, uint32_t number, struct sample_out *out)
{
    int rc = 0;
    if (objects->is_on && objects->n == WEAK_OBJECTS_MAX && objects->shift < SHIFT_MAX)
        rc = thin(objects, jni, out);
    bool is_drawn = (draw(objects) & ((UINT64_C(1) << objects->shift) - 1)) == 0;
    if (rc == 0 && ref != NULL && is_drawn && objects->all != NULL && objects->n < WEAK_OBJECTS_MAX) {
        objects->all[objects->n++] = (struct weak_object){ ref, number };
        return 0;
    }
    if (ref != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, ref);
    return rc < 0 || !objects->is_on ? rc : put(out, clock_ns(CLOCK_MONOTONIC_RAW), POLL_HEAP_DROPPED, number);
}

int weak_objects_check(struct weak_objects *objects, JNIEnv *jni, struct sample_out *out)
{
    if (!objects->is_on)
        return 0;
    uint64_t time_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    for (uint32_t i = objects->n; i-- > 0;)
        if ((*jni)->IsSameObject(jni, objects->all[i].ref, NULL) &&
            remove_object(objects, jni, i, time_ns, POLL_HEAP_FREED, out) < 0)
            return -1;
    return put(out, time_ns, POLL_HEAP_CHECKED, objects->shift);
}

void weak_objects_end(struct weak_objects *objects, JNIEnv *jni)
{
    for (uint32_t i = 0; i < objects->n; i++)
        (*jni)->DeleteWeakGlobalRef(jni, objects->all[i].ref);
    free(objects->all);
    memset(objects, 0, sizeof *objects);
}

/* ---- the heap before collections ---- */

static struct heap_before_state *const state = &stacks.heap;

static const jvmtiEvent kinds[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START };

void heap_before_begin(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities wanted = { .can_generate_garbage_collection_events = 1 };
    vm_heap_open(own_vm(), &state->heap);
    if (state->heap.n == 0 || (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE)
        return;
    atomic_store(&state->tail, atomic_load(&state->head));
    atomic_store(&state->is_on, true);
    if (jvmti_env_switch(jvmti, JVMTI_ENABLE, kinds, 1) < 0)
        atomic_store(&state->is_on, false);
}

void heap_before_end(jvmtiEnv *jvmti)
{
    if (!atomic_exchange(&state->is_on, false))
        return;
    jvmti_env_switch(jvmti, JVMTI_DISABLE, kinds, 1);
}

void heap_before_collection(void)
{
    uint64_t bytes;
    uint32_t head = atomic_load(&state->head);
    if (!atomic_load(&state->is_on) || head - atomic_load(&state->tail) == HEAP_BEFORE_ENTRIES ||
        !vm_heap_used(own_vm(), &state->heap, &bytes))
        return;
    state->entries[head % HEAP_BEFORE_ENTRIES] = (struct heap_before){ clock_ns(CLOCK_MONOTONIC_RAW), bytes };
    atomic_store(&state->head, head + 1);
}

int heap_before_put(struct sample_out *out)
{
    uint32_t tail = atomic_load(&state->tail);
    for (; tail != atomic_load(&state->head); tail++) {
        const struct heap_before *before = &state->entries[tail % HEAP_BEFORE_ENTRIES];
        if (put(out, before->time_ns, POLL_HEAP_BEFORE, before->bytes) < 0)
            return -1;
        atomic_store(&state->tail, tail + 1);
    }
    return 0;
}
