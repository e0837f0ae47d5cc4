#include "core/agent/control/events_env.h"

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
