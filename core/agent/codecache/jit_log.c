/*
 * What the JIT compiler does with the methods that get probes: when they are compiled, what is inlined into them and
 * where they are inlined.
 *
 * HotSpot posts compiled methods from a thread of its own, after the compilation: no thread of the application waits
 * for it.  While the event is on, compilers keep more debug information (DebugNonSafepoints), in code compiled from
 * then on.
 */
#include "core/agent/codecache/code_out.h"

#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_names.h"
#include "core/base/ticks.h"
#include "core/base/vec.h"
#include "core/wire/jit_events.h"

#include <jvmticmlr.h>

#include <pthread.h>
#include <stdatomic.h>

#define NO_NUMBER UINT32_MAX

/* What an inlined frame is known by until it is clear that it will be logged. */
struct pair {
    jmethodID method, caller;
};

static struct jit_log_state *const state = &codecache.jit;

/* The agent asks what there is: the events come in its own thread. */
static _Thread_local bool asking;

/* ---- names ---- */

/* Of the thread that tells of code: it is the JVM's. */
static JNIEnv *current_jni(void)
{
    JNIEnv *jni = NULL;
    (*state->vm)->GetEnv(state->vm, (void **)&jni, JNI_VERSION_1_8);
    return jni;
}

static uint64_t key_of_phase(const struct agent_phase *phase)
{
    return method_names_key(wire_text(phase->class_name), wire_text(phase->name), wire_text(phase->descriptor));
}

/* The hash of a method's names, found once; 0 when it has none any more. */
static uint64_t key_of_method(jvmtiEnv *jvmti, jmethodID method)
{
    struct hash_slot *slot = hash_put(&state->ids, method_names_id_key(method));
    struct method_names names;
    uint64_t key = 0;
    if (slot == NULL)
        return 0;
    if (slot->value != 0)
        return state->keys[slot->value];
    if (vec_reserve(state->keys, state->n_keys_room, state->n_keys + 2) < 0)
        return 0;
    state->n_keys += state->n_keys == 0; /* 0 is none */
    if (method_names_get(jvmti, method, &names))
        key = method_names_key(names.class_name, wire_text(names.name), wire_text(names.descriptor));
    method_names_free(jvmti, current_jni(), &names);
    slot->value = state->n_keys++;
    return state->keys[slot->value] = key;
}

/* ---- the log ---- */

static void append(const struct jit_event *event)
{
    struct sink s = sink_into(state->bytes, sizeof state->bytes);
    jit_events_put(&s, event);
    size_t n = (size_t)(s.at - state->bytes);
    if (s.full || state->n_logged + n > JIT_LOG_BYTES || write(state->fd, state->bytes, n) != (ssize_t)n)
        state->n_logged = JIT_LOG_BYTES; /* nothing more */
    else
        state->n_logged += n;
}

static bool is_full(void)
{
    return state->n_logged >= JIT_LOG_BYTES || state->n_numbers >= JIT_MAX_METHODS;
}

static void describe(uint32_t number, struct wire_text class_name, const char *name, const char *descriptor)
{
    struct jit_event *event = &state->event;
    event->kind = JIT_METHOD;
    event->method = number;
    event->class_name = class_name;
    event->name = wire_text(name);
    event->descriptor = wire_text(descriptor);
    append(event);
}

/* A method's number, or NO_NUMBER when there is no room; *is_new: it is to be described. */
static uint32_t number_of_key(uint64_t key, bool *is_new)
{
    struct hash_slot *slot = key == 0 || is_full() ? NULL : hash_put(&state->numbers, key);
    *is_new = slot != NULL && slot->value == 0;
    if (*is_new)
        slot->value = ++state->n_numbers;
    return slot == NULL ? NO_NUMBER : slot->value - 1;
}

static uint32_t number_of_method(jvmtiEnv *jvmti, jmethodID method)
{
    struct method_names names;
    bool is_new;
    uint32_t number = number_of_key(key_of_method(jvmti, method), &is_new);
    if (!is_new)
        return number;
    if (method_names_get(jvmti, method, &names))
        describe(number, names.class_name, names.name, names.descriptor);
    method_names_free(jvmti, current_jni(), &names);
    return number;
}

/* ---- what is inlined ---- */

static bool is_watched(jvmtiEnv *jvmti, jmethodID method)
{
    uint64_t key = key_of_method(jvmti, method);
    return key != 0 && hash_get(&state->watched, key) != NULL;
}

/* It was logged before: in what it is compiled to next, a method that was inlined may be missing. */
static bool is_logged(jvmtiEnv *jvmti, jmethodID method)
{
    uint64_t key = key_of_method(jvmti, method);
    return key != 0 && hash_get(&state->numbers, key) != NULL;
}

static bool add_pair(struct pair *pairs, uint32_t *n, jmethodID method, jmethodID caller)
{
    for (uint32_t i = *n; i > 0; i--)
        if (pairs[i - 1].method == method && pairs[i - 1].caller == caller)
            return true;
    if (*n == JIT_MAX_INLINED)
        return false;
    pairs[(*n)++] = (struct pair){ method, caller };
    return true;
}

/* Of the frames at each of its instructions, innermost first, those with a watched method or caller. */
static uint32_t collect(jvmtiEnv *jvmti, const void *compile_info, struct pair *pairs, bool *is_cut)
{
    uint32_t n = 0;
    const jvmtiCompiledMethodLoadRecordHeader *header = compile_info;
    for (; header != NULL; header = header->next) {
        const jvmtiCompiledMethodLoadInlineRecord *record = (const void *)header;
        if (header->kind != JVMTI_CMLR_INLINE_INFO || header->majorinfoversion != JVMTI_CMLR_MAJOR_VERSION_1)
            continue;
        for (jint i = 0; i < record->numpcs; i++)
            for (jint k = 0; k + 1 < record->pcinfo[i].numstackframes; k++) {
                const jmethodID *frame = record->pcinfo[i].methods + k;
                if ((is_watched(jvmti, frame[0]) || is_watched(jvmti, frame[1])) &&
                    !add_pair(pairs, &n, frame[0], frame[1]))
                    *is_cut = true;
            }
    }
    return n;
}

static void log_compiled(jvmtiEnv *jvmti, jmethodID method, jint code_bytes, const struct pair *pairs, uint32_t n,
                         bool is_cut)
{
    struct jit_event *event = &state->event;
    uint32_t number = number_of_method(jvmti, method), n_inlined = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct jit_inlined pair = { number_of_method(jvmti, pairs[i].method),
                                    number_of_method(jvmti, pairs[i].caller) };
        if (pair.method != NO_NUMBER && pair.caller != NO_NUMBER)
            event->inlined[n_inlined++] = pair;
    }
    if (number == NO_NUMBER || is_full())
        return;
    event->kind = JIT_COMPILED;
    event->ticks = ticks_now();
    event->method = number;
    event->code_bytes = code_bytes > 0 ? (uint32_t)code_bytes : 0;
    event->flags = (asking ? JIT_WAS_THERE : 0u) | (is_cut ? JIT_IS_CUT : 0u);
    event->n_inlined = n_inlined;
    append(event);
}

void JNICALL jit_log_compiled(jvmtiEnv *jvmti, jmethodID method, jint code_bytes, const void *code, jint n_map,
                              const jvmtiAddrLocationMap *map, const void *compile_info)
{
    struct pair pairs[JIT_MAX_INLINED];
    bool is_cut = false;
    (void)code, (void)n_map, (void)map;
    if (!atomic_load(&state->active))
        return;
    pthread_mutex_lock(&state->lock);
    if (atomic_load(&state->active) && !is_full()) {
        uint32_t n = collect(jvmti, compile_info, pairs, &is_cut);
        if (n > 0 || is_watched(jvmti, method) || is_logged(jvmti, method))
            log_compiled(jvmti, method, code_bytes, pairs, n, is_cut);
    }
    pthread_mutex_unlock(&state->lock);
}

/* The method may be gone with its class: only its id is used. */
void JNICALL jit_log_discarded(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
    (void)jvmti, (void)code;
    if (!atomic_load(&state->active))
        return;
    pthread_mutex_lock(&state->lock);
    const struct hash_slot *known = hash_get(&state->ids, method_names_id_key(method));
    uint64_t key = known == NULL || known->value == 0 ? 0 : state->keys[known->value];
    const struct hash_slot *number = key == 0 ? NULL : hash_get(&state->numbers, key);
    if (atomic_load(&state->active) && number != NULL && !is_full()) {
        state->event.kind = JIT_DISCARDED;
        state->event.ticks = ticks_now();
        state->event.method = number->value - 1;
        append(&state->event);
    }
    pthread_mutex_unlock(&state->lock);
}

/* ---- the session ---- */

static int switch_events(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    static const jvmtiEvent events[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD };
    return jvmti_env_switch(jvmti, mode, events, sizeof events / sizeof *events);
}

int jit_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, struct err *err)
{
    const jvmtiCapabilities wanted = { .can_generate_compiled_method_load_events = 1 };
    if (atomic_load(&state->active) || (*jni)->GetJavaVM(jni, &state->vm) != 0 ||
        (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE || switch_events(jvmti, JVMTI_ENABLE) < 0) {
        close(fd);
        return err_set(err, "the JVM does not report what it compiles (JVMTI)");
    }
    pthread_mutex_lock(&state->lock);
    state->fd = fd;
    state->n_logged = 0;
    atomic_store(&state->active, true);
    pthread_mutex_unlock(&state->lock);
    return 0;
}

static void watch(const struct agent_phase *phase)
{
    uint64_t key = key_of_phase(phase);
    bool is_new;
    if (hash_put(&state->watched, key) == NULL)
        return;
    uint32_t number = number_of_key(key, &is_new);
    if (is_new)
        describe(number, wire_text(phase->class_name), phase->name, phase->descriptor);
}

static void say_watched(const struct agent_phase *phase)
{
    const struct hash_slot *slot = hash_get(&state->numbers, key_of_phase(phase));
    if (slot == NULL || is_full())
        return;
    state->event.kind = JIT_WATCHED;
    state->event.ticks = ticks_now();
    state->event.method = slot->value - 1;
    append(&state->event);
}

void jit_log_watch(jvmtiEnv *jvmti, const struct agent_config *methods)
{
    if (!atomic_load(&state->active))
        return;
    pthread_mutex_lock(&state->lock);
    for (size_t i = 0; i < methods->n_phases; i++)
        watch(&methods->phases[i]);
    pthread_mutex_unlock(&state->lock);
    asking = true;
    (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
    asking = false;
    pthread_mutex_lock(&state->lock);
    for (size_t i = 0; i < methods->n_phases; i++)
        say_watched(&methods->phases[i]);
    pthread_mutex_unlock(&state->lock);
}

void jit_log_stop(jvmtiEnv *jvmti)
{
    if (!atomic_load(&state->active))
        return;
    switch_events(jvmti, JVMTI_DISABLE);
    pthread_mutex_lock(&state->lock);
    atomic_store(&state->active, false);
    close(state->fd);
    state->fd = -1;
    hash_free(&state->watched);
    hash_free(&state->numbers);
    hash_free(&state->ids);
    free(state->keys);
    state->keys = NULL;
    state->n_keys = state->n_keys_room = state->n_numbers = 0;
    pthread_mutex_unlock(&state->lock);
}
