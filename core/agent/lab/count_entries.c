#include "core/agent/lab/count_entries.h"

#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/control/method_names.h"
#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/base/words.h"
#include "core/hotspot/bytecodes.h"

#include <pthread.h>
#include <stdatomic.h>

static struct count_entries_state {
    const struct count_entries_kind *kind;
    pthread_mutex_t lock; /* for all that follows */
    int fd;               /* -1: it is written, or was never opened */
    uint32_t interval;
    struct call_site *sites;
    uint32_t n_sites, room;
    struct hash_set by_site;
    uint64_t n_taken;
    _Atomic uint64_t n_seen;
} entries = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* Of the calling thread: calls to the next one that is taken, and those since the last. */
static _Thread_local uint32_t left, passed;
static _Thread_local uint64_t random_state;

void count_entries_lock(void)
{
    pthread_mutex_lock(&entries.lock);
}

void count_entries_unlock(void)
{
    pthread_mutex_unlock(&entries.lock);
}

/* About 'interval' calls: 1 to twice as many, so that no loop is in step with it. */
static uint32_t draw(void)
{
    if (entries.interval == 1)
        return 1;
    if (random_state == 0)
        random_state = (uint64_t)(uintptr_t)&random_state | 1;
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return 1 + (uint32_t)((random_state >> 16) % (2 * (uint64_t)entries.interval - 1));
}

/* ---- call sites, with the lock ---- */

/* Which of a method's calls is at an index; -1: it is no call. */
static int32_t ordinal_of(const uint8_t *code, size_t n, size_t index)
{
    int32_t n_calls = 0;
    for (size_t i = 0, step; i < index; i += step) {
        n_calls += opcode_is_call(code[i]);
        step = bytecodes_length(code, n, i);
        if (step == 0)
            return -1;
    }
    return opcode_is_call(code[index]) ? n_calls : -1;
}

static struct call_site describe(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
    struct call_site site = { .ordinal = -1 };
    unsigned char *bytes = NULL;
    jint n = 0;
    if (frame->location >= 0 && (*jvmti)->GetBytecodes(jvmti, frame->method, &n, &bytes) == JVMTI_ERROR_NONE &&
        frame->location < n) {
        site.opcode = bytes[frame->location];
        site.ordinal = ordinal_of(bytes, (size_t)n, (size_t)frame->location);
    }
    (*jvmti)->Deallocate(jvmti, bytes);
    return site;
}

uint32_t call_site_number(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
    const uint64_t where[2] = { (uint64_t)(uintptr_t)frame->method, (uint64_t)frame->location };
    struct hash_slot *slot = hash_put(&entries.by_site, hash_text(HASH_START, (const char *)where, sizeof where) | 1);
    if (slot == NULL || vec_reserve(entries.sites, entries.room, entries.n_sites + 1) < 0)
        return 0;
    if (slot->value == 0) {
        entries.sites[entries.n_sites] = describe(jvmti, frame);
        slot->value = ++entries.n_sites;
    }
    return slot->value;
}

const struct call_site *call_site_at(uint32_t number)
{
    return &entries.sites[number - 1];
}

static char *text_of(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame)
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

const char *call_site_text(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame, uint32_t number)
{
    struct call_site *site = &entries.sites[number - 1];
    if (site->text == NULL)
        site->text = text_of(jvmti, jni, frame);
    return site->text;
}

/* ---- events ---- */

/* Is a stack to be counted?  *site: of the call. */
static bool is_wanted(jvmtiEnv *jvmti, const jvmtiFrameInfo *frames, jint n, uint32_t *site)
{
    if (n < 2)
        return false;
    count_entries_lock();
    *site = call_site_number(jvmti, &frames[1]);
    bool is = *site > 0 && entries.kind->wants(call_site_at(*site)->opcode);
    count_entries_unlock();
    return is;
}

static void JNICALL on_entry(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    jvmtiFrameInfo frames[ENTRY_FRAMES_MAX];
    uint32_t site;
    jint n = 0;
    (void)thread, (void)method;
    passed++;
    if (left > 1) {
        left--;
        return;
    }
    atomic_fetch_add_explicit(&entries.n_seen, passed, memory_order_relaxed);
    passed = 0;
    left = draw();
    if (!method_ids_enter())
        return;
    jvmtiError error = (*jvmti)->GetStackTrace(jvmti, NULL, 0, entries.kind->n_frames, frames, &n);
    method_ids_leave();
    if (error != JVMTI_ERROR_NONE || !is_wanted(jvmti, frames, n, &site) ||
        !entries.kind->take(jvmti, jni, frames, n, site))
        return;
    count_entries_lock();
    entries.n_taken++;
    count_entries_unlock();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    static const jvmtiEvent events[] = { JVMTI_EVENT_METHOD_ENTRY };
    (void)jni;
    jvmti_env_switch(jvmti, JVMTI_DISABLE, events, 1);
    count_entries_lock();
    FILE *out = entries.fd < 0 ? NULL : fdopen(entries.fd, "a");
    if (out != NULL) {
        entries.kind->write(out);
        fprintf(out, "end %" PRIu64 " %" PRIu64 "\n", atomic_load(&entries.n_seen), entries.n_taken);
        fclose(out);
        entries.fd = -1;
    }
    count_entries_unlock();
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    static const jvmtiEvent events[] = { JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_VM_DEATH };
    (void)jni, (void)thread;
    jvmti_env_switch(jvmti, JVMTI_ENABLE, events, sizeof events / sizeof *events);
}

static bool listen(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities wanted = { .can_generate_method_entry_events = 1,
                                       .can_access_local_variables = entries.kind->has_receivers,
                                       .can_get_bytecodes = 1,
                                       .can_get_line_numbers = 1 };
    const jvmtiEventCallbacks callbacks = { .VMInit = on_vm_init, .VMDeath = on_vm_death, .MethodEntry = on_entry };
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) == JVMTI_ERROR_NONE;
}

void count_entries_start(JavaVM *vm, const struct count_entries_kind *kind, const char *path, uint32_t interval)
{
    jvmtiEnv *jvmti;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        (entries.fd = counted_file_take(path, kind->first_line)) < 0)
        return;
    entries.kind = kind;
    entries.interval = interval == 0 ? 1 : interval;
    if (!listen(jvmti))
        (*jvmti)->DisposeEnvironment(jvmti);
}
