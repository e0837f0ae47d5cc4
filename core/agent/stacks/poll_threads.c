#include "core/agent/stacks/stacks.h"

#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_threads.h"
#include "core/base/vec.h"

#define PATIENCE_NS 4000000 /* of CPU time that a thread used without being sampled */

/* 0 when the thread has ended, or the JVM does not tell. */
static uint64_t cpu_ns(jvmtiEnv *jvmti, jthread thread)
{
    jlong ns = 0;
    return (*jvmti)->GetThreadCpuTime(jvmti, thread, &ns) == JVMTI_ERROR_NONE && ns > 0 ? (uint64_t)ns : 0;
}

/* ---- the list ---- */

/* HotSpot lists threads in the order of their start: the next one is most often the one after the last one found. */
static struct poll_thread *find_polled(struct poll_threads *threads, JNIEnv *jni, jthread thread, uint32_t *hint)
{
    for (uint32_t k = 0; k < threads->n; k++) {
        uint32_t i = (*hint + k) % threads->n;
        if ((*jni)->IsSameObject(jni, threads->all[i].ref, thread)) {
            *hint = i + 1;
            return &threads->all[i];
        }
    }
    return NULL;
}

/* The system's number of a thread that has not ended; 0: not known. */
static int32_t tid_of(struct poll_threads *threads, JNIEnv *jni, jthread thread)
{
    if (threads->native == NULL) {
        jclass base = (*jni)->FindClass(jni, "java/lang/Thread");
        threads->native = base == NULL ? NULL : (*jni)->GetFieldID(jni, base, "eetop", "J");
        (*jni)->ExceptionClear(jni);
        (*jni)->DeleteLocalRef(jni, base);
    }
    return threads->native == NULL
               ? 0
               : vm_thread_tid(own_vm(), (uint64_t)(*jni)->GetLongField(jni, thread, threads->native));
}

static int add_polled(struct poll_threads *threads, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, bool is_new)
{
    if (threads->n_numbers == POLL_THREADS_MAX)
        return 0;
    if (vec_reserve(threads->all, threads->n_room, threads->n + 1) < 0)
        return -1;
    struct poll_thread *t = &threads->all[threads->n];
    memset(t, 0, sizeof *t);
    t->ref = (*jni)->NewGlobalRef(jni, thread);
    if (t->ref == NULL)
        return -1;
    t->number = threads->n_numbers++;
    t->is_seen = true;
    t->tid = tid_of(threads, jni, thread);
    t->counted_ns = t->now_ns = is_new ? 0 : cpu_ns(jvmti, thread);
    threads->n++;
    return 0;
}

static void drop_ended(struct poll_threads *threads, JNIEnv *jni)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->all[i].is_seen)
            threads->all[n++] = threads->all[i];
        else
            (*jni)->DeleteGlobalRef(jni, threads->all[i].ref);
    threads->n = n;
}

int poll_threads_refresh(struct poll_threads *threads, jvmtiEnv *jvmti, JNIEnv *jni)
{
    jint n = 0;
    jthread *list = NULL, self = NULL;
    bool is_first = threads->all == NULL;
    uint32_t hint = 0;
    int rc = 0;
    if ((*jvmti)->GetAllThreads(jvmti, &n, &list) != JVMTI_ERROR_NONE)
        return -1;
    (*jvmti)->GetCurrentThread(jvmti, &self);
    for (uint32_t i = 0; i < threads->n; i++)
        threads->all[i].is_seen = false;
    for (jint i = 0; i < n; i++) {
        struct poll_thread *known = find_polled(threads, jni, list[i], &hint);
        if (known != NULL)
            known->is_seen = true;
        else if (rc == 0 && !(*jni)->IsSameObject(jni, list[i], self))
            rc = add_polled(threads, jvmti, jni, list[i], !is_first);
        (*jni)->DeleteLocalRef(jni, list[i]);
    }
    (*jni)->DeleteLocalRef(jni, self);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)list);
    drop_ended(threads, jni);
    return rc;
}

void poll_threads_free(struct poll_threads *threads, JNIEnv *jni)
{
    for (uint32_t i = 0; i < threads->n; i++)
        (*jni)->DeleteGlobalRef(jni, threads->all[i].ref);
    free(threads->all);
    memset(threads, 0, sizeof *threads);
}

/* ---- their CPU times ---- */

void poll_threads_read(struct poll_threads *threads, jvmtiEnv *jvmti)
{
    for (uint32_t i = 0; i < threads->n; i++) {
        struct poll_thread *t = &threads->all[i];
        uint64_t now_ns = cpu_ns(jvmti, t->ref);
        t->has_run = now_ns > t->now_ns;
        if (t->has_run)
            t->now_ns = now_ns;
    }
}

/* In Java code: it has a CPU or waits for one. */
static bool is_runnable(const struct poll_thread *thread, jvmtiEnv *jvmti)
{
    jint state = 0;
    return (*jvmti)->GetThreadState(jvmti, thread->ref, &state) == JVMTI_ERROR_NONE &&
           (state & (JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE)) == JVMTI_THREAD_STATE_RUNNABLE;
}

/*
 * A thread whose CPU time goes on has a CPU.  One that waits for a CPU is left alone most times: to stop it is to wait
 * until it has one, and HotSpot waits busily (0.5 ms of CPU per sample on a machine with a load of 4 per CPU).  But a
 * thread that shares a CPU with this one never has it when this one asks.
 */
bool poll_thread_runs(const struct poll_thread *thread, jvmtiEnv *jvmti, bool is_single_cpu)
{
    bool runs = cpu_ns(jvmti, thread->ref) > thread->now_ns;
    bool is_due = is_single_cpu || thread->now_ns - thread->counted_ns >= PATIENCE_NS;
    return runs || (is_due && is_runnable(thread, jvmti));
}
