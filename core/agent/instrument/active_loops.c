#include "core/agent/instrument/instrument_state.h"

#include "core/agent/control/method_names.h"
#include "core/agent/instrument/methods.h"

#define FRAMES_MAX 512
#define REST_MS    10  /* then twice as long each time, */
#define MAX_MS     300 /* at most: a loop that is entered every second is seen to have ended in one of the tries */
#define TRIES      12  /* 2.5 s; where other classes wait for it, */
#define TRIES_FEW  4   /* 150 ms */

static struct active_loops_state *const state = &instrumenting.loops;

static void put(struct hash_set *set, uint64_t key, uint64_t class_key)
{
    struct hash_slot *slot = hash_put(set, key);
    if (slot == NULL) /* no memory: it is not protected */
        return;
    slot->value = (uint32_t)class_key;
    slot->second = (uint32_t)(class_key >> 32);
}

static uint64_t class_key_of(const struct hash_slot *slot)
{
    return (uint64_t)slot->second << 32 | slot->value;
}

void active_loops_forget(void)
{
    hash_free(&state->loops);
    hash_free(&state->names);
    hash_free(&state->others);
}

void active_loops_note(const struct agent_phase *loops, size_t n)
{
    active_loops_forget();
    for (size_t i = 0; i < n; i++) {
        const struct agent_phase *loop = &loops[i];
        struct wire_text class_name = wire_text(loop->class_name);
        put(&state->names, method_names_key(class_name, wire_text(loop->name), wire_text(loop->descriptor)),
            method_names_class_key(class_name));
    }
}

/* Of a method that is on a stack; NULL: it is no loop that was noted. */
static const struct hash_slot *find_name(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct method_names names;
    uint64_t key = 0;
    if (method_names_get(jvmti, method, &names))
        key = method_names_key(names.class_name, wire_text(names.name), wire_text(names.descriptor));
    method_names_free(jvmti, jni, &names);
    return key == 0 ? NULL : hash_get(&state->names, key);
}

static const struct hash_slot *find_loop(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    const struct hash_slot *loop = hash_get(&state->loops, method_names_id_key(method));
    if (loop != NULL || state->names.n_used == 0 || hash_get(&state->others, method_names_id_key(method)) != NULL)
        return loop;
    loop = find_name(jvmti, jni, method);
    if (loop == NULL)
        hash_put(&state->others, method_names_id_key(method));
    else
        put(&state->loops, method_names_id_key(method), class_key_of(loop));
    return loop;
}

/* ---- what is on the stacks ---- */

/* Of classes that are to change, those with a loop on one of the stacks.  Returns how many such loops there are. */
static uint32_t find_active(jvmtiEnv *jvmti, JNIEnv *jni, struct hash_set *active)
{
    jvmtiStackInfo *stacks = NULL;
    jint n_stacks = 0;
    uint32_t n = 0;
    hash_free(active);
    if ((*jvmti)->GetAllStackTraces(jvmti, FRAMES_MAX, &stacks, &n_stacks) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n_stacks; i++) {
        for (jint k = 0; k < stacks[i].frame_count; k++) {
            const struct hash_slot *loop = find_loop(jvmti, jni, stacks[i].frame_buffer[k].method);
            if (loop == NULL || !methods_changed_key(class_key_of(loop)))
                continue;
            hash_put(active, class_key_of(loop));
            n++;
        }
        (*jni)->DeleteLocalRef(jni, stacks[i].thread);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)stacks);
    return n;
}

void active_loops_wait(jvmtiEnv *jvmti, JNIEnv *jni, const _Atomic bool *stopping, struct hash_set *active)
{
    long ms = REST_MS;
    memset(active, 0, sizeof *active);
    if (state->names.n_used == 0)
        return;
    for (int i = 0; find_active(jvmti, jni, active) > 0 && !atomic_load(stopping); i++) {
        if (i == (active->n_used < methods_n_changed() ? TRIES_FEW : TRIES))
            break;
        nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
        ms = 2 * ms < MAX_MS ? 2 * ms : MAX_MS;
    }
}

bool active_loops_include(const struct hash_set *active, const char *name, size_t n)
{
    return hash_get(active, hash_text(HASH_START, name, n)) != NULL;
}
