#include "core/agent/control/method_ids.h"

#include <stdatomic.h>

#define REPAIRED_IN 22     /* JDK */
#define AT_ONCE     64     /* threads: the JVM takes 16 bytes for each frame that there may be, of all of them */
#define STEP_NS     100000 /* between checks whether stacks are still asked for */
#define STEPS_MAX   5000   /* no stack takes as long, and the session must not wait for ever */

static struct method_ids_state {
    _Atomic bool is_blocked;
    _Atomic uint32_t n_inside; /* threads that ask for a stack */
} ids;

bool method_ids_enter(void)
{
    atomic_fetch_add(&ids.n_inside, 1);
    if (!atomic_load(&ids.is_blocked))
        return true;
    atomic_fetch_sub(&ids.n_inside, 1);
    return false;
}

void method_ids_leave(void)
{
    atomic_fetch_sub(&ids.n_inside, 1);
}

static bool is_repaired(jvmtiEnv *jvmti)
{
    jint version = 0;
    return (*jvmti)->GetVersionNumber(jvmti, &version) == JVMTI_ERROR_NONE &&
           ((version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR) >= REPAIRED_IN;
}

void method_ids_block(jvmtiEnv *jvmti)
{
    const struct timespec step = { 0, STEP_NS };
    if (is_repaired(jvmti))
        return;
    atomic_store(&ids.is_blocked, true);
    for (int i = 0; atomic_load(&ids.n_inside) > 0 && i < STEPS_MAX; i++)
        nanosleep(&step, NULL);
}

void method_ids_unblock(void)
{
    atomic_store(&ids.is_blocked, false);
}

/*
 * Of one thread alone it would be asked while the others run: it is named twice then.  The threads in the answer are
 * the caller's references.
 */
static void walk(jvmtiEnv *jvmti, const jthread *threads, jint n)
{
    const jthread twice[2] = { threads[0], threads[0] };
    jvmtiStackInfo *stacks = NULL;
    if ((*jvmti)->GetThreadListStackTraces(jvmti, n == 1 ? 2 : n, n == 1 ? twice : threads, METHOD_IDS_FRAMES,
                                           &stacks) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)stacks);
}

void method_ids_make(jvmtiEnv *jvmti, JNIEnv *jni)
{
    jthread *threads = NULL;
    jint n = 0;
    if (!atomic_load(&ids.is_blocked) || (*jvmti)->GetAllThreads(jvmti, &n, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i += AT_ONCE)
        walk(jvmti, threads + i, n - i < AT_ONCE ? n - i : AT_ONCE);
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, threads[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}
