#include "core/agent/control/jvmti_env.h"

static jvmtiEnv *agent_env;

jvmtiEnv *jvmti_env(void)
{
    return agent_env;
}

void jvmti_env_set(jvmtiEnv *jvmti)
{
    agent_env = jvmti;
}

static jthread make_thread(JNIEnv *jni)
{
    jclass class_ref = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID init = class_ref == NULL ? NULL : (*jni)->GetMethodID(jni, class_ref, "<init>", "(Ljava/lang/String;)V");
    jstring name = init == NULL ? NULL : (*jni)->NewStringUTF(jni, "mmprof agent");
    jthread thread = name == NULL ? NULL : (*jni)->NewObject(jni, class_ref, init, name);
    (*jni)->ExceptionClear(jni);
    return thread;
}

int jvmti_env_run_thread(JNIEnv *jni, jvmtiStartFunction function, void *argument)
{
    jthread thread = make_thread(jni);
    if (thread == NULL ||
        (*agent_env)->RunAgentThread(agent_env, thread, function, argument, JVMTI_THREAD_NORM_PRIORITY) !=
            JVMTI_ERROR_NONE)
        return -1;
    (*jni)->DeleteLocalRef(jni, thread);
    return 0;
}

int jvmti_env_switch(jvmtiEnv *jvmti, jvmtiEventMode mode, const jvmtiEvent *events, size_t n)
{
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        if ((*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL) != JVMTI_ERROR_NONE)
            rc = -1;
    return rc;
}

/* ---- events of compiled code ---- */

int events_env_make(struct events_env *env, JNIEnv *jni, const jvmtiCapabilities *wanted,
                    const jvmtiEventCallbacks *callbacks, struct err *err)
{
    jvmtiCapabilities all = *wanted;
    jvmtiEnv *jvmti;
    if (env->jvmti != NULL)
        return 0;
    if ((*jni)->GetJavaVM(jni, &env->vm) != 0 ||
        (*env->vm)->GetEnv(env->vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
        return err_set(err, "the JVM has no tool interface");
    all.can_generate_compiled_method_load_events = 1;
    if ((*jvmti)->AddCapabilities(jvmti, &all) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, callbacks, (jint)sizeof *callbacks) != JVMTI_ERROR_NONE) {
        (*jvmti)->DisposeEnvironment(jvmti);
        return err_set(err, "the JVM does not report what it compiles (JVMTI)");
    }
    env->jvmti = jvmti;
    return 0;
}

/* ---- threads ---- */

static void prepare(struct agent_thread *thread)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    thread->is_prepared = true;
}

static void has_ended(struct agent_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->runs = false;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    struct agent_thread *thread = argument;
    thread->function(jvmti, jni, thread->fd);
    close(thread->fd);
    has_ended(thread);
}

int agent_thread_start(struct agent_thread *thread, agent_thread_function *function, JNIEnv *jni, int fd,
                       struct err *err)
{
    pthread_mutex_lock(&thread->lock);
    if (!thread->is_prepared)
        prepare(thread);
    thread->function = function;
    thread->fd = fd;
    thread->ends = false;
    thread->runs = true;
    pthread_mutex_unlock(&thread->lock);
    if (jvmti_env_run_thread(jni, run, thread) == 0)
        return 0;
    has_ended(thread);
    return err_set(err, "the JVM has no thread for it");
}

bool agent_thread_is_running(struct agent_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool runs = thread->runs;
    pthread_mutex_unlock(&thread->lock);
    return runs;
}

bool agent_thread_is_ending(struct agent_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool ends = thread->ends;
    pthread_mutex_unlock(&thread->lock);
    return ends;
}

bool agent_thread_sleep_until(struct agent_thread *thread, uint64_t ns)
{
    const struct timespec until = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    pthread_mutex_lock(&thread->lock);
    while (!thread->ends && pthread_cond_timedwait(&thread->changed, &thread->lock, &until) != ETIMEDOUT)
        continue;
    bool goes_on = !thread->ends;
    pthread_mutex_unlock(&thread->lock);
    return goes_on;
}

void agent_thread_stop(struct agent_thread *thread, void (*wake)(void))
{
    pthread_mutex_lock(&thread->lock);
    thread->ends = true;
    if (thread->runs) {
        pthread_cond_broadcast(&thread->changed);
        if (wake != NULL)
            wake();
    }
    while (thread->runs)
        pthread_cond_wait(&thread->changed, &thread->lock);
    pthread_mutex_unlock(&thread->lock);
}
