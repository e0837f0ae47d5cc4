#include "core/agent/lab/count_entries.h"

#include "core/agent/control/jvmti_env.h"
#include "core/base/pattern.h"

#include <stdatomic.h>

static struct {
    struct pattern method;
    uint32_t nth;
    const struct count_window_user *user;
    _Atomic uint32_t n_calls;
} window;

static void set_breakpoint(jvmtiEnv *jvmti, jmethodID method)
{
    char *name = NULL;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE &&
        pattern_matches_method(&window.method, name, strlen(name)))
        (*jvmti)->SetBreakpoint(jvmti, method, 0); /* fails where it has no bytecode */
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

static void look_at_class(jvmtiEnv *jvmti, jclass class_ref)
{
    char *signature = NULL;
    jmethodID *methods = NULL;
    jint n = 0;
    bool is_it = (*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE &&
                 signature[0] == 'L' &&
                 pattern_matches_class(&window.method, signature + 1, strlen(signature) - 2); /* "Lname;" */
    if (is_it && (*jvmti)->GetClassMethods(jvmti, class_ref, &n, &methods) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n; i++)
            set_breakpoint(jvmti, methods[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class_ref)
{
    (void)jni, (void)thread;
    look_at_class(jvmti, class_ref);
}

static void JNICALL on_breakpoint(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method, jlocation location)
{
    (void)thread, (void)method, (void)location;
    uint32_t n = atomic_fetch_add(&window.n_calls, 1) + 1;
    if (n == window.nth)
        window.user->open(jvmti, jni);
    if (n == window.nth + 1)
        window.user->close(jvmti, jni);
}

bool count_window_start(const char *method, uint32_t nth, const struct count_window_user *user,
                        jvmtiCapabilities *wanted, jvmtiEventCallbacks *callbacks)
{
    window.nth = nth;
    window.user = user;
    wanted->can_generate_breakpoint_events = 1;
    callbacks->ClassPrepare = on_class_prepare;
    callbacks->Breakpoint = on_breakpoint;
    return pattern_parse(&window.method, method) == 0 && window.method.names_methods;
}

void count_window_listen(jvmtiEnv *jvmti, JNIEnv *jni)
{
    static const jvmtiEvent events[] = { JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_BREAKPOINT };
    jclass *classes = NULL;
    jint n = 0;
    jvmti_env_switch(jvmti, JVMTI_ENABLE, events, sizeof events / sizeof *events);
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        look_at_class(jvmti, classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}
