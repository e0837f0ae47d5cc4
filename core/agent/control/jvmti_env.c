#include "core/agent/control/jvmti_env.h"

static jvmtiEnv *env;

jvmtiEnv *jvmti_env(void)
{
    return env;
}

void jvmti_env_set(jvmtiEnv *jvmti)
{
    env = jvmti;
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
        (*env)->RunAgentThread(env, thread, function, argument, JVMTI_THREAD_NORM_PRIORITY) != JVMTI_ERROR_NONE)
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
