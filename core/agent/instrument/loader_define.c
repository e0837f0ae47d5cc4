#include "core/agent/instrument/loader_define.h"

#include "core/agent/control/jvmti_env.h"
#include "core/agent/instrument/class_bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_MS      250
#define MOST_WAITING 4 /* threads that wait for locks of loaders */

/* What a thread that may have to wait is to do; the one that comes last frees it. */
struct define_order {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool is_done, is_given_up;
    jobject loader; /* a global reference, as is the next */
    jclass made;
    const char *name; /* behind the bytes */
    size_t n_bytes;
    uint8_t bytes[CLASS_BYTES_MAX + REWRITE_NAME_BYTES];
};

static _Atomic int n_waiting;

static jclass define(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes, size_t n)
{
    jclass made = (*jni)->DefineClass(jni, name, loader, (const jbyte *)bytes, (jsize)n);
    (*jni)->ExceptionClear(jni);
    return made;
}

jclass loader_root_class(JNIEnv *jni, jclass class_ref)
{
    jclass root = (*jni)->NewLocalRef(jni, class_ref);
    for (jclass above = (*jni)->GetSuperclass(jni, root); above != NULL;) {
        jclass next = (*jni)->GetSuperclass(jni, above);
        (*jni)->DeleteLocalRef(jni, next == NULL ? above : root);
        root = next == NULL ? root : above;
        above = next;
    }
    return root;
}

/* As the JVM decides it (java_lang_ClassLoader::parallelCapable). */
static bool is_parallel_capable(JNIEnv *jni, jobject loader)
{
    jclass root = loader_root_class(jni, (*jni)->GetObjectClass(jni, loader));
    jfieldID field = (*jni)->GetFieldID(jni, root, "parallelLockMap", "Ljava/util/concurrent/ConcurrentHashMap;");
    (*jni)->ExceptionClear(jni);
    return field != NULL && (*jni)->GetObjectField(jni, loader, field) != NULL;
}

/* ---- in a thread of its own ---- */

static void free_order(JNIEnv *jni, struct define_order *order)
{
    (*jni)->DeleteGlobalRef(jni, order->loader);
    (*jni)->DeleteGlobalRef(jni, order->made);
    pthread_cond_destroy(&order->change);
    pthread_mutex_destroy(&order->lock);
    free(order);
}

static struct define_order *new_order(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes, size_t n)
{
    pthread_condattr_t attributes;
    struct define_order *order = calloc(1, sizeof *order);
    if (order == NULL)
        return NULL;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&order->lock, NULL);
    pthread_cond_init(&order->change, &attributes);
    pthread_condattr_destroy(&attributes);
    memcpy(order->bytes, bytes, n);
    order->n_bytes = n;
    order->name = (const char *)order->bytes + CLASS_BYTES_MAX;
    snprintf((char *)order->bytes + CLASS_BYTES_MAX, REWRITE_NAME_BYTES, "%s", name);
    order->loader = (*jni)->NewGlobalRef(jni, loader);
    return order;
}

static void JNICALL run_order(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    struct define_order *order = argument;
    (void)jvmti;
    jclass made = define(jni, order->loader, order->name, order->bytes, order->n_bytes);
    pthread_mutex_lock(&order->lock);
    order->made = made == NULL ? NULL : (*jni)->NewGlobalRef(jni, made);
    order->is_done = true;
    bool is_last = order->is_given_up;
    pthread_cond_signal(&order->change);
    pthread_mutex_unlock(&order->lock);
    if (is_last)
        free_order(jni, order);
    atomic_fetch_sub(&n_waiting, 1);
}

static jclass wait_for(JNIEnv *jni, struct define_order *order)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += WAIT_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&order->lock);
    while (!order->is_done && pthread_cond_timedwait(&order->change, &order->lock, &end) == 0)
        continue;
    bool is_last = order->is_done;
    order->is_given_up = !is_last;
    jclass made = order->made == NULL ? NULL : (*jni)->NewLocalRef(jni, order->made);
    pthread_mutex_unlock(&order->lock);
    if (is_last)
        free_order(jni, order);
    return made;
}

static jclass define_elsewhere(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes, size_t n)
{
    struct define_order *order = NULL;
    if (atomic_fetch_add(&n_waiting, 1) < MOST_WAITING)
        order = new_order(jni, loader, name, bytes, n);
    if (order != NULL && jvmti_env_run_thread(jni, run_order, order) == 0)
        return wait_for(jni, order);
    if (order != NULL)
        free_order(jni, order);
    atomic_fetch_sub(&n_waiting, 1);
    return NULL;
}

jclass loader_define(JNIEnv *jni, const struct loaders_class *about, const char *name, const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return NULL;
    if (about->bytes.at != NULL || is_parallel_capable(jni, about->loader))
        return define(jni, about->loader, name, bytes, n);
    return define_elsewhere(jni, about->loader, name, bytes, n);
}
