#include "core/agent/busy.h"

#include "core/agent/agent.h"

#include <string.h>
#include <time.h>

#define FRAMES_MAX 512
#define REST_MS    10  /* then twice as long each time, */
#define MAX_MS     300 /* at most: a loop that is entered every second is seen to have ended in one of the tries */
#define TRIES      12  /* 2.5 s; where other classes wait for it, */
#define TRIES_FEW  4   /* 150 ms */

/* By method: the set of loops, and their classes. */
static struct {
    struct hash_set loops; /* value, second: the class' key */
} state;

static uint64_t key_of(jmethodID method)
{
    return (uint64_t)(uintptr_t)method * UINT64_C(0x9e3779b97f4a7c15);
}

void busy_note(jmethodID method, uint64_t class_key)
{
    struct hash_slot *slot = hash_put(&state.loops, key_of(method));
    if (slot == NULL) /* no memory: it is not protected */
        return;
    slot->value = (uint32_t)class_key;
    slot->second = (uint32_t)(class_key >> 32);
}

void busy_forget(void)
{
    hash_free(&state.loops);
}

/* ---- what is on the stacks ---- */

/* Of classes that are to change, those with a loop on one of the stacks.  Returns how many such loops there are. */
static uint32_t find(jvmtiEnv *jvmti, JNIEnv *jni, struct hash_set *held)
{
    jvmtiStackInfo *stacks = NULL;
    jint n_stacks = 0;
    uint32_t n = 0;
    hash_free(held);
    if ((*jvmti)->GetAllStackTraces(jvmti, FRAMES_MAX, &stacks, &n_stacks) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n_stacks; i++) {
        for (jint k = 0; k < stacks[i].frame_count; k++) {
            const struct hash_slot *loop = hash_get(&state.loops, key_of(stacks[i].frame_buffer[k].method));
            uint64_t class_key = loop == NULL ? 0 : (uint64_t)loop->second << 32 | loop->value;
            if (loop == NULL || !methods_changed_key(class_key))
                continue;
            hash_put(held, class_key);
            n++;
        }
        (*jni)->DeleteLocalRef(jni, stacks[i].thread);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)stacks);
    return n;
}

void busy_wait(jvmtiEnv *jvmti, JNIEnv *jni, const _Atomic bool *stopping, struct hash_set *held)
{
    long ms = REST_MS;
    memset(held, 0, sizeof *held);
    if (state.loops.n_used == 0)
        return;
    for (int i = 0; find(jvmti, jni, held) > 0 && !atomic_load(stopping); i++) {
        if (i == (held->n_used < methods_n_changed() ? TRIES_FEW : TRIES))
            break;
        nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
        ms = 2 * ms < MAX_MS ? 2 * ms : MAX_MS;
    }
}

bool busy_holds(const struct hash_set *held, const char *name, size_t n)
{
    return hash_get(held, hash_text(HASH_START, name, n)) != NULL;
}
