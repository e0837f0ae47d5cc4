#include "core/agent/lab/lab.h"

#include "core/agent/lab/count_entries.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/control/method_names.h"
#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/base/words.h"

#include <pthread.h>

#define FRAMES_MAX   8            /* of intrinsics, and one */
#define NOBODY_LOOKS (512 * 1024) /* the JVM's own interval */
#define FIRST_LINE   "mmprof-objects 1\n"

struct counted_site {
    char *text; /* owned: the line behind the numbers */
    uint64_t n, n_bytes;
};

enum { METHOD_PLAIN = 1, METHOD_INTRINSIC };

static struct count_objects_state {
    pthread_mutex_t lock; /* for all that follows */
    int fd;               /* -1: it is written, or was never opened */
    struct counted_site *sites;
    size_t n, room;
    struct hash_set by_site, methods; /* methods: METHOD_PLAIN or METHOD_INTRINSIC */
    uint64_t n_objects, n_bytes;
    bool is_window; /* only a part of the run counts */
} counts = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static _Thread_local bool has_told;

/* ---- whose objects C2 makes in their callers' names ---- */

static const struct {
    const char *class_name, *methods; /* methods: each with a blank before and behind */
} intrinsics[] = {
    { "java/util/Arrays", " copyOf copyOfRange " },
    { "java/lang/reflect/Array", " newInstance newArray " },
    { "java/lang/Object", " clone " },
    { "java/lang/StringUTF16", " toBytes " },
    { "jdk/internal/misc/Unsafe", " allocateInstance allocateUninitializedArray allocateUninitializedArray0 " },
};

static bool is_intrinsic(const struct method_names *names)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", names->name);
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
        if (strlen(intrinsics[i].class_name) == names->class_name.n &&
            memcmp(intrinsics[i].class_name, names->class_name.at, names->class_name.n) == 0)
            return strstr(intrinsics[i].methods, word) != NULL;
    return false;
}

/* With the lock. */
static bool is_method_intrinsic(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct hash_slot *slot = hash_put(&counts.methods, method_names_id_key(method));
    struct method_names names;
    if (slot == NULL || slot->value != 0)
        return slot != NULL && slot->value == METHOD_INTRINSIC;
    slot->value = method_names_get(jvmti, method, &names) && is_intrinsic(&names) ? METHOD_INTRINSIC : METHOD_PLAIN;
    method_names_free(jvmti, jni, &names);
    return slot->value == METHOD_INTRINSIC;
}

/* ---- sites ---- */

/* frame: NULL: not known.  Returns the text for free(); NULL: no memory. */
static char *site_text(jvmtiEnv *jvmti, JNIEnv *jni, const char *signature, const jvmtiFrameInfo *frame)
{
    struct method_names names = { .name = NULL };
    bool is_known = frame != NULL && method_names_get(jvmti, frame->method, &names);
    size_t room = strlen(signature) + 64;
    if (is_known)
        room += names.class_name.n + strlen(names.name) + strlen(names.descriptor);
    char *text = malloc(WORDS_GROWTH * room), *class_name = strdup(signature);
    if (text != NULL && class_name != NULL) {
        counted_file_plain_class(class_name);
        char *to = counted_file_word(text, class_name);
        if (is_known) {
            names.signature[1 + names.class_name.n] = '\0'; /* "Lname;" */
            to = counted_file_word(to, names.signature + 1);
        } else {
            to = counted_file_word(to, "-");
        }
        to = counted_file_word(to, is_known ? names.name : "-");
        to = counted_file_word(to, is_known ? names.descriptor : "-");
        snprintf(to, 40, "%" PRId32 " %" PRIu32, is_known ? (int32_t)frame->location : -1,
                 is_known ? all_objects_line(jvmti, frame->method, frame->location) : 0);
    }
    free(class_name);
    method_names_free(jvmti, jni, &names);
    return text;
}

/* With the lock; NULL: no memory. */
static struct counted_site *site_of(jvmtiEnv *jvmti, JNIEnv *jni, const char *signature, const jvmtiFrameInfo *frame)
{
    const uint64_t where[2] = { frame == NULL ? 0 : (uint64_t)(uintptr_t)frame->method,
                                frame == NULL ? 0 : (uint64_t)frame->location };
    uint64_t key = hash_text(hash_text(HASH_START, signature, strlen(signature)), (const char *)where, sizeof where);
    struct hash_slot *slot = hash_put(&counts.by_site, key | 1);
    if (slot == NULL || vec_reserve(counts.sites, counts.room, counts.n + 1) < 0)
        return NULL;
    if (slot->value == 0) {
        char *text = site_text(jvmti, jni, signature, frame);
        if (text == NULL)
            return NULL;
        counts.sites[counts.n] = (struct counted_site){ .text = text };
        slot->value = (uint32_t)++counts.n;
    }
    return &counts.sites[slot->value - 1];
}

/* With the lock: the innermost frame that is no intrinsic; NULL: not known. */
static const jvmtiFrameInfo *site_frame(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n)
{
    for (jint i = 0; i < n; i++)
        if (!is_method_intrinsic(jvmti, jni, frames[i].method))
            return &frames[i];
    return NULL;
}

/* ---- events ---- */

static void JNICALL on_object(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class_ref,
                              jlong n_bytes)
{
    jvmtiFrameInfo frames[FRAMES_MAX];
    char *signature = NULL;
    jint n = 0;
    (void)thread, (void)object;
    has_told = true;
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) != JVMTI_ERROR_NONE || !method_ids_enter())
        return;
    if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES_MAX, frames, &n) != JVMTI_ERROR_NONE)
        n = 0;
    method_ids_leave();
    pthread_mutex_lock(&counts.lock);
    struct counted_site *site = site_of(jvmti, jni, signature, site_frame(jvmti, jni, frames, n));
    if (site != NULL) {
        site->n++;
        site->n_bytes += (uint64_t)n_bytes;
    }
    counts.n_objects++;
    counts.n_bytes += (uint64_t)n_bytes;
    pthread_mutex_unlock(&counts.lock);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void write_sites(FILE *out)
{
    for (size_t i = 0; i < counts.n; i++)
        if (counts.sites[i].n > 0)
            fprintf(out, "%" PRIu64 " %" PRIu64 " %s\n", counts.sites[i].n, counts.sites[i].n_bytes,
                    counts.sites[i].text);
    fprintf(out, "end %" PRIu64 " %" PRIu64 "\n", counts.n_objects, counts.n_bytes);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    static const jvmtiEvent objects[] = { JVMTI_EVENT_SAMPLED_OBJECT_ALLOC };
    (void)jni;
    jvmti_env_switch(jvmti, JVMTI_DISABLE, objects, 1);
    pthread_mutex_lock(&counts.lock);
    FILE *out = counts.fd < 0 ? NULL : fdopen(counts.fd, "a");
    if (out != NULL) {
        write_sites(out);
        fclose(out);
        counts.fd = -1;
    }
    pthread_mutex_unlock(&counts.lock);
}

static void forget_sites(void)
{
    pthread_mutex_lock(&counts.lock);
    for (size_t i = 0; i < counts.n; i++)
        counts.sites[i].n = counts.sites[i].n_bytes = 0;
    counts.n_objects = counts.n_bytes = 0;
    pthread_mutex_unlock(&counts.lock);
}

static void count_from_now(jvmtiEnv *jvmti, JNIEnv *jni)
{
    static const jvmtiEvent objects[] = { JVMTI_EVENT_SAMPLED_OBJECT_ALLOC };
    jvmti_env_switch(jvmti, JVMTI_ENABLE, objects, 1);
    all_objects_wear_out_buffer(jni, &has_told);
    forget_sites(); /* this one's arrays */
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    static const jvmtiEvent end[] = { JVMTI_EVENT_VM_DEATH };
    (void)thread;
    jvmti_env_switch(jvmti, JVMTI_ENABLE, end, 1);
    if (counts.is_window)
        count_window_listen(jvmti, jni);
    else
        count_from_now(jvmti, jni);
}

/* Of a window: a collection takes the buffers that threads have, in which nobody looks on. */
static void open_window(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (*jvmti)->SetHeapSamplingInterval(jvmti, 0);
    (*jvmti)->ForceGarbageCollection(jvmti);
    count_from_now(jvmti, jni);
}

static void close_window(jvmtiEnv *jvmti, JNIEnv *jni)
{
    static const jvmtiEvent objects[] = { JVMTI_EVENT_SAMPLED_OBJECT_ALLOC };
    (void)jni;
    jvmti_env_switch(jvmti, JVMTI_DISABLE, objects, 1);
    (*jvmti)->SetHeapSamplingInterval(jvmti, NOBODY_LOOKS);
}

/* method: NULL: from the start to the end. */
static bool listen(jvmtiEnv *jvmti, const char *method, uint32_t nth)
{
    static const struct count_window_user user = { open_window, close_window };
    jvmtiCapabilities wanted = { .can_generate_sampled_object_alloc_events = 1, .can_get_line_numbers = 1 };
    jvmtiEventCallbacks callbacks = { .VMInit = on_vm_init, .VMDeath = on_vm_death, .SampledObjectAlloc = on_object };
    counts.is_window = method != NULL;
    if (counts.is_window && !count_window_start(method, nth, &user, &wanted, &callbacks))
        return false;
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetHeapSamplingInterval(jvmti, counts.is_window ? NOBODY_LOOKS : 0) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) == JVMTI_ERROR_NONE;
}

/* The JVM knows no such event, or another agent has it. */
static void refuse(const char *why)
{
    dprintf(counts.fd, "refused %s\n", why);
    close(counts.fd);
    counts.fd = -1;
}

void count_objects_start(JavaVM *vm, const char *path, const char *method, uint32_t nth)
{
    jvmtiEnv *jvmti;
    if ((counts.fd = counted_file_take(path, FIRST_LINE)) < 0)
        return;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) {
        refuse("old");
    } else if (!listen(jvmti, method, nth)) {
        (*jvmti)->DisposeEnvironment(jvmti);
        refuse("taken");
    }
}
