#include "core/agent/count_receivers.h"

#include "core/agent/all_objects.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/control/method_names.h"
#include "core/agent/counted_file.h"
#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/base/words.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LEVELS          3
#define FRAMES          (2 + LEVELS) /* what is called, the call site, and contexts */
#define FIRST_LINE      "mmprof-receivers 1\n"
#define INVOKEVIRTUAL   0xb6
#define INVOKEINTERFACE 0xb9

/* A bytecode that calls. */
struct call_site {
    char *text; /* owned: the site's words; NULL: it is never that of a receiver, or not asked for yet */
    uint8_t opcode;
};

struct counted_receiver {
    char *class_name, *called; /* owned: words; called with the descriptor */
    uint32_t site, contexts[LEVELS];
    uint64_t n;
};

static struct count_receivers_state {
    pthread_mutex_t lock; /* for all that follows */
    int fd;               /* -1: it is written, or was never opened */
    uint32_t interval;
    struct call_site *sites;
    uint32_t n_sites, sites_room;
    struct counted_receiver *all;
    uint32_t n, room;
    struct hash_set by_site, by_receiver;
    uint64_t n_taken;
    _Atomic uint64_t n_seen;
} counts = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* Of the calling thread: calls to the next one that is taken, and those since the last. */
static _Thread_local uint32_t left, passed;
static _Thread_local uint64_t random_state;

/* About 'interval' calls: 1 to twice as many, so that no loop is in step with it. */
static uint32_t draw(void)
{
    if (counts.interval == 1)
        return 1;
    if (random_state == 0)
        random_state = (uint64_t)(uintptr_t)&random_state | 1;
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return 1 + (uint32_t)((random_state >> 16) % (2 * (uint64_t)counts.interval - 1));
}

/* ---- call sites, with the lock ---- */

static uint8_t opcode_at(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
    unsigned char *bytes = NULL;
    uint8_t opcode = 0;
    jint n = 0;
    if (frame->location >= 0 && (*jvmti)->GetBytecodes(jvmti, frame->method, &n, &bytes) == JVMTI_ERROR_NONE &&
        frame->location < n)
        opcode = bytes[frame->location];
    (*jvmti)->Deallocate(jvmti, bytes);
    return opcode;
}

/* Its number, from 1 on; 0: no memory. */
static uint32_t site_of(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
    const uint64_t where[2] = { (uint64_t)(uintptr_t)frame->method, (uint64_t)frame->location };
    struct hash_slot *slot = hash_put(&counts.by_site, hash_text(HASH_START, (const char *)where, sizeof where) | 1);
    if (slot == NULL || vec_reserve(counts.sites, counts.sites_room, counts.n_sites + 1) < 0)
        return 0;
    if (slot->value == 0) {
        counts.sites[counts.n_sites] = (struct call_site){ .opcode = opcode_at(jvmti, frame) };
        slot->value = ++counts.n_sites;
    }
    return slot->value;
}

static bool is_virtual(uint32_t site)
{
    return site > 0 &&
           (counts.sites[site - 1].opcode == INVOKEVIRTUAL || counts.sites[site - 1].opcode == INVOKEINTERFACE);
}

/* ---- texts: NULL: no memory, or the method has gone ---- */

static char *site_text(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame)
{
    struct method_names names;
    char *text = NULL;
    if (method_names_get(jvmti, frame->method, &names) && names.class_name.n > 0 &&
        (text = malloc(WORDS_GROWTH * (names.class_name.n + strlen(names.name) + strlen(names.descriptor)) + 64)) !=
            NULL) {
        names.signature[1 + names.class_name.n] = '\0'; /* "Lname;" */
        char *to = counted_file_word(text, names.signature + 1);
        to = counted_file_word(counted_file_word(to, names.name), names.descriptor);
        snprintf(to, 40, "%" PRId32 " %" PRIu32, (int32_t)frame->location,
                 all_objects_line(jvmti, frame->method, frame->location));
    }
    method_names_free(jvmti, jni, &names);
    return text;
}

static char *called_text(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct method_names names;
    char *text = NULL;
    if (method_names_get(jvmti, method, &names) &&
        (text = malloc(WORDS_GROWTH * (strlen(names.name) + strlen(names.descriptor)) + 16)) != NULL)
        counted_file_word(counted_file_word(text, names.name), names.descriptor)[-1] = '\0';
    method_names_free(jvmti, jni, &names);
    return text;
}

static char *class_text(char *signature)
{
    char *text = malloc(WORDS_GROWTH * strlen(signature) + 16);
    counted_file_plain_class(signature);
    if (text != NULL)
        counted_file_word(text, signature)[-1] = '\0';
    return text;
}

/* ---- counting, with the lock ---- */

static uint64_t key_of(const char *signature, jmethodID called, const uint32_t *numbers)
{
    uint64_t key = hash_text(HASH_START, signature, strlen(signature));
    key = hash_text(key, (const char *)&called, sizeof called);
    return hash_text(key, (const char *)numbers, (1 + LEVELS) * sizeof *numbers) | 1;
}

/* numbers: of the call site, and of contexts.  NULL: no memory. */
static struct counted_receiver *receiver_of(jvmtiEnv *jvmti, JNIEnv *jni, char *signature, const jvmtiFrameInfo *frames,
                                            const uint32_t *numbers)
{
    struct hash_slot *slot = hash_put(&counts.by_receiver, key_of(signature, frames[0].method, numbers));
    if (slot == NULL || vec_reserve(counts.all, counts.room, counts.n + 1) < 0)
        return NULL;
    if (slot->value == 0) {
        struct counted_receiver *new = &counts.all[counts.n];
        *new = (struct counted_receiver){ .site = numbers[0] };
        memcpy(new->contexts, numbers + 1, sizeof new->contexts);
        new->called = called_text(jvmti, jni, frames[0].method);
        new->class_name = class_text(signature);
        struct call_site *site = &counts.sites[numbers[0] - 1];
        if (site->text == NULL)
            site->text = site_text(jvmti, jni, &frames[1]);
        slot->value = ++counts.n;
    }
    return &counts.all[slot->value - 1];
}

static void count(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n, uint32_t site)
{
    uint32_t numbers[1 + LEVELS] = { site };
    jobject object = NULL;
    char *signature = NULL;
    /* Not with the lock: the JVM may stop all threads for it. */
    if ((*jvmti)->GetLocalInstance(jvmti, NULL, 0, &object) != JVMTI_ERROR_NONE || object == NULL)
        return;
    jclass class_ref = (*jni)->GetObjectClass(jni, object);
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE) {
        pthread_mutex_lock(&counts.lock);
        for (jint i = 2; i < n; i++)
            numbers[i - 1] = site_of(jvmti, &frames[i]);
        struct counted_receiver *receiver = receiver_of(jvmti, jni, signature, frames, numbers);
        if (receiver != NULL)
            receiver->n++;
        counts.n_taken++;
        pthread_mutex_unlock(&counts.lock);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, class_ref);
    (*jni)->DeleteLocalRef(jni, object);
}

static void JNICALL on_entry(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    jvmtiFrameInfo frames[FRAMES];
    jint n = 0;
    (void)thread, (void)method;
    passed++;
    if (left > 1) {
        left--;
        return;
    }
    atomic_fetch_add_explicit(&counts.n_seen, passed, memory_order_relaxed);
    passed = 0;
    left = draw();
    if (!method_ids_enter())
        return;
    jvmtiError error = (*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES, frames, &n);
    method_ids_leave();
    if (error != JVMTI_ERROR_NONE || n < 2)
        return;
    pthread_mutex_lock(&counts.lock);
    uint32_t site = site_of(jvmti, &frames[1]);
    bool is = is_virtual(site);
    pthread_mutex_unlock(&counts.lock);
    if (is)
        count(jvmti, jni, frames, n, site);
}

static void write_receivers(FILE *out)
{
    for (uint32_t i = 0; i < counts.n; i++) {
        const struct counted_receiver *r = &counts.all[i];
        const char *site = counts.sites[r->site - 1].text;
        if (r->class_name != NULL && r->called != NULL && site != NULL)
            fprintf(out, "%" PRIu64 " %s %s %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", r->n, r->class_name, r->called,
                    site, r->contexts[0], r->contexts[1], r->contexts[2]);
    }
    fprintf(out, "end %" PRIu64 " %" PRIu64 "\n", atomic_load(&counts.n_seen), counts.n_taken);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    static const jvmtiEvent entries[] = { JVMTI_EVENT_METHOD_ENTRY };
    (void)jni;
    jvmti_env_switch(jvmti, JVMTI_DISABLE, entries, 1);
    pthread_mutex_lock(&counts.lock);
    FILE *out = counts.fd < 0 ? NULL : fdopen(counts.fd, "a");
    if (out != NULL) {
        write_receivers(out);
        fclose(out);
        counts.fd = -1;
    }
    pthread_mutex_unlock(&counts.lock);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    static const jvmtiEvent events[] = { JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_VM_DEATH };
    (void)jni, (void)thread;
    jvmti_env_switch(jvmti, JVMTI_ENABLE, events, sizeof events / sizeof *events);
}

static bool listen(jvmtiEnv *jvmti)
{
    jvmtiCapabilities wanted;
    jvmtiEventCallbacks callbacks;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_method_entry_events = 1;
    wanted.can_access_local_variables = 1;
    wanted.can_get_bytecodes = 1;
    wanted.can_get_line_numbers = 1;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.VMInit = on_vm_init;
    callbacks.VMDeath = on_vm_death;
    callbacks.MethodEntry = on_entry;
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) == JVMTI_ERROR_NONE;
}

void count_receivers_start(JavaVM *vm, const char *path, uint32_t interval)
{
    jvmtiEnv *jvmti;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (counts.fd = counted_file_take(path, FIRST_LINE)) < 0)
        return;
    counts.interval = interval == 0 ? 1 : interval;
    if (!listen(jvmti))
        (*jvmti)->DisposeEnvironment(jvmti);
}
