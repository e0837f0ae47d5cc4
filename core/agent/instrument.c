/*
 * Which methods get probes, and the way they get them: RetransformClasses for what is loaded, the class file hook for
 * what comes later.
 *
 * A method's id depends on its class's name, its own name and descriptor only: the same class in a thousand loaders,
 * or retransformed again by somebody else, keeps its ids.
 */
#include "core/agent/agent.h"
#include "core/agent/classfile.h"
#include "core/agent/protocol.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Classes per RetransformClasses: each call stops the application once, and costs about 40 ms whatever it does; one
 * call for everything stops it for 300 ms.
 */
#define BATCH_CLASSES 500

/* ---- a set of 64-bit hashes with a number each ---- */

struct hash_slot {
    uint64_t key; /* 0: free */
    uint32_t value;
    uint32_t session; /* of a method: in which the recorder was told of it */
};

struct hash_set {
    struct hash_slot *slots; /* owned */
    size_t n_slots, n_used;
};

static uint64_t hash_text(uint64_t hash, const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)at[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ 0xff) * UINT64_C(0x100000001b3); /* the end: "ab" "c" is not "a" "bc" */
    return hash ^ hash >> 29;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

static struct hash_slot *hash_find(struct hash_slot *slots, size_t n_slots, uint64_t key)
{
    size_t i = key & (n_slots - 1);
    while (slots[i].key != 0 && slots[i].key != key)
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

static bool hash_has(const struct hash_set *set, uint64_t key)
{
    return set->n_slots > 0 && hash_find(set->slots, set->n_slots, key | 1)->key != 0;
}

/* The slot of a key; a new one has the value 0.  NULL when there is no memory. */
static struct hash_slot *hash_put(struct hash_set *set, uint64_t key)
{
    key |= 1;
    if (set->n_used * 2 >= set->n_slots) {
        size_t n_slots = set->n_slots == 0 ? 1024 : set->n_slots * 2;
        struct hash_slot *slots = calloc(n_slots, sizeof *slots);
        if (slots == NULL)
            return NULL;
        for (size_t i = 0; i < set->n_slots; i++)
            if (set->slots[i].key != 0)
                *hash_find(slots, n_slots, set->slots[i].key) = set->slots[i];
        free(set->slots);
        set->slots = slots;
        set->n_slots = n_slots;
    }
    struct hash_slot *slot = hash_find(set->slots, set->n_slots, key);
    set->n_used += slot->key == 0;
    slot->key = key;
    return slot;
}

static void hash_free(struct hash_set *set)
{
    free(set->slots);
    memset(set, 0, sizeof *set);
}

/* ---- the session's state; 'lock' guards all but the atomics ---- */

static struct {
    pthread_mutex_t lock;
    const struct agent_config *config; /* borrowed */
    const struct control *control;     /* borrowed */
    _Atomic bool active;
    _Atomic int n_hooks; /* threads in the hook */
    struct hash_set ids, classes;
    uint32_t next_id, session;
    struct instrument_counts counts;
    struct segment *segment; /* where counts are published; borrowed, or NULL */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .next_id = 1 };

/* The counts go to the recorder at once: the target may end at any time.  Called with the lock. */
static void publish(void)
{
    struct segment *segment = state.segment;
    if (segment == NULL)
        return;
    atomic_store_explicit(&segment->n_classes, state.counts.n_classes, memory_order_relaxed);
    atomic_store_explicit(&segment->n_methods, state.counts.n_methods, memory_order_relaxed);
    atomic_store_explicit(&segment->n_skipped_too_large, state.counts.n_skipped_too_large, memory_order_relaxed);
    atomic_store_explicit(&segment->n_skipped_limits, state.counts.n_skipped_limits, memory_order_relaxed);
    atomic_store_explicit(&segment->n_skipped_unusual, state.counts.n_skipped_unusual, memory_order_relaxed);
    atomic_store_explicit(&segment->n_failed_classes, state.counts.n_failed_classes, memory_order_relaxed);
}

void instrument_publish(struct segment *segment)
{
    pthread_mutex_lock(&state.lock);
    state.segment = segment;
    pthread_mutex_unlock(&state.lock);
}

static struct protocol_text log_text(struct rewrite_text text)
{
    struct protocol_text out = { text.at, text.n };
    return out;
}

/* Tell the recorder of a method, before any record can name it. */
static int log_method(uint32_t id, const struct rewrite_method *method)
{
    size_t n = 64 + method->class_name.n + method->name.n + method->descriptor.n + method->source.n;
    uint8_t *bytes = malloc(n);
    if (bytes == NULL)
        return -1;
    struct protocol_method entry = { id,
                                     method->first_line,
                                     method->code_bytes,
                                     method->has_loop,
                                     log_text(method->class_name),
                                     log_text(method->name),
                                     log_text(method->descriptor),
                                     log_text(method->source) };
    struct sink s = sink_into(bytes, n);
    protocol_put_method(&s, &entry);
    size_t length = (size_t)(s.at - bytes);
    bool whole = !s.full && write(state.control->methods_fd, bytes, length) == (ssize_t)length;
    free(bytes);
    return whole ? 0 : -1;
}

/*
 * A method keeps its id in later sessions: HotSpot's constant pools only grow, and with other gates each session would
 * leave new constants in each class.
 */
static uint32_t id_of(const struct rewrite_method *method)
{
    uint64_t key = hash_text(HASH_START, method->class_name.at, method->class_name.n);
    key = hash_text(key, method->name.at, method->name.n);
    key = hash_text(key, method->descriptor.at, method->descriptor.n);
    struct hash_slot *slot = hash_put(&state.ids, key);
    if (slot == NULL)
        return 0;
    uint32_t id = slot->value != 0 ? slot->value : state.next_id;
    if (slot->session == state.session)
        return id;
    if (id > RING_METHOD_MAX || log_method(id, method) < 0)
        return 0;
    state.next_id += slot->value == 0;
    slot->value = id;
    slot->session = state.session;
    return id;
}

static bool choose(void *context, const struct rewrite_method *method, struct rewrite_gate *gate)
{
    JNIEnv *jni = context;
    if (!config_wants_method(state.config, method))
        return false;
    pthread_mutex_lock(&state.lock);
    uint32_t id = atomic_load(&state.active) ? id_of(method) : 0;
    pthread_mutex_unlock(&state.lock);
    return id != 0 && classes_gate(jni, id, gate) == 0;
}

static void skipped(void *context, const struct rewrite_method *method, const struct rewrite_gate *gate,
                    enum rewrite_skip why)
{
    (void)context;
    (void)method;
    (void)gate;
    pthread_mutex_lock(&state.lock);
    state.counts.n_skipped_too_large += why == REWRITE_SKIP_TOO_LARGE;
    state.counts.n_skipped_limits += why == REWRITE_SKIP_LIMITS;
    state.counts.n_skipped_unusual += why == REWRITE_SKIP_UNUSUAL;
    pthread_mutex_unlock(&state.lock);
}

/* Returns the number of methods, or -1; *out is the JVM's to free. */
static int rewrite(jvmtiEnv *jvmti, JNIEnv *jni, const unsigned char *bytes, jint n_bytes, unsigned char **out,
                   jint *n_out)
{
    struct rewrite_policy policy = { AGENT_PROBE_CLASS, choose, skipped, jni };
    struct err err;
    uint8_t *made = NULL;
    size_t n_made = 0;
    int n = rewrite_class(bytes, (size_t)n_bytes, &policy, &made, &n_made, &err);
    unsigned char *copy = NULL;
    if (n > 0 && (n_made > INT32_MAX || (*jvmti)->Allocate(jvmti, (jlong)n_made, &copy) != JVMTI_ERROR_NONE))
        n = -1;
    if (n > 0) {
        memcpy(copy, made, n_made);
        *out = copy;
        *n_out = (jint)n_made;
    }
    free(made);
    return n;
}

/* Remember what was done, before the JVM sees the new class: a stop from now on will find it. */
static bool remember(const char *name, int n_methods)
{
    pthread_mutex_lock(&state.lock);
    struct hash_slot *slot = n_methods > 0 ? hash_put(&state.classes, hash_text(HASH_START, name, strlen(name))) : NULL;
    state.counts.n_failed_classes += n_methods < 0;
    if (slot != NULL) {
        state.counts.n_classes += slot->value == 0;
        state.counts.n_methods += slot->value == 0 ? (uint32_t)n_methods : 0;
        slot->value = 1;
    }
    publish();
    pthread_mutex_unlock(&state.lock);
    return slot != NULL;
}

/* Returns whether *out is a class with probes. */
static bool instrument(jvmtiEnv *jvmti, JNIEnv *jni, const char *name, const unsigned char *bytes, jint n_bytes,
                       jint *n_out, unsigned char **out)
{
    unsigned char *made = NULL;
    jint n_made = 0;
    if (!remember(name, rewrite(jvmti, jni, bytes, n_bytes, &made, &n_made))) {
        if (made != NULL)
            (*jvmti)->Deallocate(jvmti, made);
        return false;
    }
    *out = made;
    *n_out = n_made;
    return true;
}

/*
 * HotSpot merges the constants of a class' old and new version, and finds no NaN equal to another: each
 * retransformation doubles them (java.lang.Math passed 65535 in the 11th session, and took a minute).  For a class that
 * an agent changed it keeps the bytes from before, and merges those again: then there are a few more each time.  So
 * such a class is changed, into itself.
 */
static void keep_small(jvmtiEnv *jvmti, const unsigned char *bytes, jint n_bytes, jint *n_out, unsigned char **out)
{
    unsigned char *copy = NULL;
    if (!classfile_has_nan(bytes, (size_t)n_bytes) || (*jvmti)->Allocate(jvmti, n_bytes, &copy) != JVMTI_ERROR_NONE)
        return;
    memcpy(copy, bytes, (size_t)n_bytes);
    *out = copy;
    *n_out = n_bytes;
}

void JNICALL instrument_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                   jobject domain, jint n_bytes, const unsigned char *bytes, jint *n_out,
                                   unsigned char **out)
{
    (void)loader;
    (void)domain;
    if (name == NULL || jni == NULL || strncmp(name, AGENT_CLASS_START, strlen(AGENT_CLASS_START)) == 0)
        return;
    atomic_fetch_add(&state.n_hooks, 1);
    bool done = atomic_load(&state.active) && config_wants_class(state.config, name, strlen(name)) &&
                instrument(jvmti, jni, name, bytes, n_bytes, n_out, out);
    atomic_fetch_sub(&state.n_hooks, 1);
    if (!done && redefined != NULL)
        keep_small(jvmti, bytes, n_bytes, n_out, out);
}

/* ---- retransformation in batches ---- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A class that the JVM refuses (its message names none) is found by halving; it stays as it is. */
static void retransform(jvmtiEnv *jvmti, JNIEnv *jni, const jclass *classes, jint n)
{
    if (n == 0)
        return;
    double start = now_ms();
    jvmtiError error = (*jvmti)->RetransformClasses(jvmti, n, classes);
    double took = now_ms() - start;
    (*jni)->ExceptionClear(jni);
    state.counts.n_batches++;
    if (took > state.counts.longest_batch_ms)
        state.counts.longest_batch_ms = took;
    if (error == JVMTI_ERROR_NONE || error == JVMTI_ERROR_WRONG_PHASE)
        return;
    if (n == 1) {
        pthread_mutex_lock(&state.lock);
        state.counts.n_failed_classes++;
        publish();
        pthread_mutex_unlock(&state.lock);
        return;
    }
    retransform(jvmti, jni, classes, n / 2);
    retransform(jvmti, jni, classes + n / 2, n - n / 2);
}

/* Is it a class with this purpose: to get probes, or (when stopping) to lose them? */
static bool is_candidate(jvmtiEnv *jvmti, jclass class_ref, bool stopping)
{
    char *signature = NULL;
    jboolean modifiable = JNI_FALSE;
    jint status = 0;
    bool wanted = false;
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) != JVMTI_ERROR_NONE || signature == NULL)
        return false;
    size_t n = strlen(signature);
    if (signature[0] == 'L' && n > 2 && stopping)
        wanted = hash_has(&state.classes, hash_text(HASH_START, signature + 1, n - 2));
    else if (signature[0] == 'L' && n > 2)
        wanted = config_wants_class(state.config, signature + 1, n - 2);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    if (!wanted || (*jvmti)->IsModifiableClass(jvmti, class_ref, &modifiable) != JVMTI_ERROR_NONE || !modifiable ||
        (*jvmti)->GetClassStatus(jvmti, class_ref, &status) != JVMTI_ERROR_NONE)
        return false;
    /* A class that is not linked yet would be linked now: earlier than the program asks for. */
    return (status & JVMTI_CLASS_STATUS_ERROR) == 0 && (stopping || (status & JVMTI_CLASS_STATUS_PREPARED) != 0);
}

static int retransform_loaded(jvmtiEnv *jvmti, JNIEnv *jni, bool stopping)
{
    jint n = 0, n_batch = 0;
    jclass *classes = NULL, batch[BATCH_CLASSES];
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
        return -1;
    for (jint i = 0; i < n; i++) {
        if (is_candidate(jvmti, classes[i], stopping))
            batch[n_batch++] = classes[i];
        if (n_batch == BATCH_CLASSES || i + 1 == n) {
            retransform(jvmti, jni, batch, n_batch);
            n_batch = 0;
            if (!stopping && control_has_stop(state.control))
                break;
        }
    }
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    return 0;
}

int instrument_start(jvmtiEnv *jvmti, JNIEnv *jni, const struct agent_config *config, const struct control *control,
                     struct err *err)
{
    double start = now_ms();
    state.config = config;
    state.session++;
    state.control = control;
    pthread_mutex_lock(&state.lock);
    memset(&state.counts, 0, sizeof state.counts);
    pthread_mutex_unlock(&state.lock);
    atomic_store(&state.active, true);
    if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) !=
            JVMTI_ERROR_NONE ||
        retransform_loaded(jvmti, jni, false) < 0)
        return err_set(err, "the JVM does not let its classes be instrumented");
    state.counts.total_ms = now_ms() - start;
    return 0;
}

void instrument_stop(jvmtiEnv *jvmti, JNIEnv *jni)
{
    struct timespec pause = { 0, 1000000 };
    pthread_mutex_lock(&state.lock);
    atomic_store(&state.active, false);
    pthread_mutex_unlock(&state.lock);
    while (atomic_load(&state.n_hooks) > 0)
        nanosleep(&pause, NULL);
    uint32_t n_failed = state.counts.n_failed_classes;
    retransform_loaded(jvmti, jni, true);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    hash_free(&state.classes);
    /* When ids run short they are given again, if no code is left that reads their gates. */
    if (state.next_id > RING_METHOD_MAX / 2 && state.counts.n_failed_classes == n_failed) {
        hash_free(&state.ids);
        state.next_id = 1;
    }
}

void instrument_counts(struct instrument_counts *counts)
{
    pthread_mutex_lock(&state.lock);
    *counts = state.counts;
    pthread_mutex_unlock(&state.lock);
}
