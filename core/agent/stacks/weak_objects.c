#include "core/agent/stacks/weak_objects.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHIFT_MAX 31u

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

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
    objects->random = now_ns() | 1;
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
        if ((draw(objects) & 1) != 0 && remove_object(objects, jni, i, now_ns(), POLL_HEAP_DROPPED, out) < 0)
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
    return rc < 0 || !objects->is_on ? rc : put(out, now_ns(), POLL_HEAP_DROPPED, number);
}

int weak_objects_check(struct weak_objects *objects, JNIEnv *jni, struct sample_out *out)
{
    if (!objects->is_on)
        return 0;
    uint64_t time_ns = now_ns();
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
