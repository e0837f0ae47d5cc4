#include "core/agent/lab/lab.h"

#include "core/agent/lab/count_entries.h"
#include "core/agent/codecache/codecache.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/control/method_names.h"
#include "core/base/hash.h"
#include "core/emu/run/simulated_read.h"
#include "core/wire/tracked.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static struct track_objects_state {
    pthread_mutex_t lock; /* for locations */
    jvmtiEnv *jvmti;      /* kept for ever */
    struct hash_set locations;
    uint32_t n_locations;
    jint interval;
} tracking = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The calling thread's, in the plugin; what it does between 1 and 0 is not the program's. */
static _Thread_local _Atomic uint32_t *paused;
static _Thread_local bool has_told; /* of an object */

static bool pause_thread(void)
{
    uint64_t address = 0;
    if (paused == NULL) {
        simulated_tell(TRACKED_ASK_PAUSE, &address);
        /* cppcheck-suppress intToPointerCast */
        paused = (_Atomic uint32_t *)(uintptr_t)address;
    }
    if (paused != NULL)
        atomic_store_explicit(paused, 1, memory_order_relaxed);
    return paused != NULL;
}

static void resume_thread(void)
{
    atomic_store_explicit(paused, 0, memory_order_relaxed);
}

/* ---- locations ---- */

static void copy_text(char to[TRACKED_TEXT_BYTES], const char *text, size_t n)
{
    n = n < TRACKED_TEXT_BYTES - 1 ? n : TRACKED_TEXT_BYTES - 1;
    memcpy(to, text, n);
    to[n] = '\0';
}

static void tell_location(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame, uint32_t number)
{
    struct tracked_location location = { .number = number,
                                         .line = all_objects_line(jvmti, frame->method, frame->location) };
    struct method_names names;
    char *source = NULL;
    if (method_names_get(jvmti, frame->method, &names)) {
        copy_text(location.class_name, names.class_name.at, names.class_name.n);
        copy_text(location.name, names.name, strlen(names.name));
        copy_text(location.descriptor, names.descriptor, strlen(names.descriptor));
        if ((*jvmti)->GetSourceFileName(jvmti, names.class_ref, &source) == JVMTI_ERROR_NONE)
            copy_text(location.source, source, strlen(source));
    }
    method_names_free(jvmti, jni, &names);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)source);
    simulated_tell(TRACKED_TELL_LOCATION, &location);
}

/* The number of a method and bytecode. */
static uint32_t location_of(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame)
{
    uint64_t key = (uint64_t)(uintptr_t)frame->method * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t number = TRACKED_NO_LOCATION;
    key = (key ^ key >> 32) + (uint64_t)frame->location * UINT64_C(0xbf58476d1ce4e5b9);
    key ^= key >> 29;
    pthread_mutex_lock(&tracking.lock);
    struct hash_slot *slot = hash_put(&tracking.locations, key);
    if (slot != NULL && slot->value == 0) {
        tell_location(jvmti, jni, frame, tracking.n_locations);
        slot->value = ++tracking.n_locations;
    }
    if (slot != NULL)
        number = slot->value - 1;
    pthread_mutex_unlock(&tracking.lock);
    return number;
}

/* ---- events ---- */

/* The line that the thread is at. */
static uint32_t location_now(jvmtiEnv *jvmti, JNIEnv *jni)
{
    jvmtiFrameInfo frame;
    jint n = 0;
    if (!method_ids_enter())
        return TRACKED_NO_LOCATION;
    jvmtiError error = (*jvmti)->GetStackTrace(jvmti, NULL, 0, 1, &frame, &n);
    method_ids_leave();
    return error == JVMTI_ERROR_NONE && n == 1 ? location_of(jvmti, jni, &frame) : TRACKED_NO_LOCATION;
}

static void JNICALL on_object(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class_ref,
                              jlong n_bytes)
{
    (void)thread, (void)class_ref, (void)n_bytes;
    if (!pause_thread())
        return;
    struct tracked_object told = { .location = location_now(jvmti, jni),
                                   .reference = (uint64_t)(uintptr_t)(*jni)->NewWeakGlobalRef(jni, object) };
    simulated_tell(TRACKED_TELL_OBJECT, &told);
    for (uint32_t i = 0; i < told.n_gone && i < TRACKED_GONE_MAX; i++)
        /* cppcheck-suppress intToPointerCast */
        (*jni)->DeleteWeakGlobalRef(jni, (jweak)(uintptr_t)told.gone[i]);
    has_told = true;
    resume_thread();
}

/* JVMTI tells of a load once for each loader that asks for the class, and of this once; of arrays never. */
static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class_ref)
{
    char name[TRACKED_TEXT_BYTES], *signature = NULL;
    (void)jni, (void)thread;
    if (!pause_thread())
        return;
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE && signature[0] == 'L') {
        copy_text(name, signature + 1, strlen(signature) - 2); /* without L and ; */
        simulated_tell(TRACKED_TELL_CLASS, name);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    resume_thread();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti, (void)jni;
    emulated_tell_end();
}

static void start_code(JNIEnv *jni)
{
    struct err err;
    int fd = memfd_create("mmprof-code", MFD_CLOEXEC);
    uint64_t told = (uint64_t)fd;
    if (fd >= 0 && code_events_start(jni, fd, false, &err) == 0)
        simulated_tell(TRACKED_TELL_CODE, &told);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    static const jvmtiEvent events[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
                                         JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_CLASS_PREPARE,
                                         JVMTI_EVENT_VM_DEATH };
    (void)thread;
    emulated_align_handlers(); /* those that came since the library was loaded */
    if (!pause_thread())
        return;
    start_code(jni);
    emulated_tell_tables();
    jvmti_env_switch(jvmti, JVMTI_ENABLE, events, sizeof events / sizeof *events);
    if (tracking.interval == 0)
        all_objects_wear_out_buffer(jni, &has_told);
    simulated_tell(TRACKED_TELL_START, NULL);
    resume_thread();
}

static bool listen(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities wanted = { .can_generate_sampled_object_alloc_events = 1,
                                       .can_generate_garbage_collection_events = 1,
                                       .can_get_line_numbers = 1,
                                       .can_get_source_file_name = 1 };
    const jvmtiEventCallbacks callbacks = { .VMInit = on_vm_init,
                                            .VMDeath = on_vm_death,
                                            .GarbageCollectionStart = emulated_collection_start,
                                            .GarbageCollectionFinish = emulated_collection_end,
                                            .SampledObjectAlloc = on_object,
                                            .ClassPrepare = on_class };
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetHeapSamplingInterval(jvmti, tracking.interval) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) == JVMTI_ERROR_NONE;
}

void track_objects_start(JavaVM *vm, jint interval)
{
    jvmtiEnv *jvmti;
    emulated_align_handlers();
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
        return;
    tracking.jvmti = jvmti;
    tracking.interval = interval;
    if (!listen(jvmti))
        (*jvmti)->DisposeEnvironment(jvmti);
}
