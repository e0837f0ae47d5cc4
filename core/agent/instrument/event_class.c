#include "core/agent/instrument/event_class.h"

#include <string.h>

#define DEPTH_MAX 16 /* classes above: events have two to four */

bool event_class_is_base(const char *name, size_t n)
{
    static const char *const bases[] = { "jdk/internal/event/Event", "jdk/jfr/Event" };
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strlen(bases[i]) == n && memcmp(name, bases[i], n) == 0)
            return true;
    return false;
}

/* Of the form "Ljdk/jfr/Event;". */
static bool has_base_name(jvmtiEnv *jvmti, jclass class_ref)
{
    char *signature = NULL;
    bool is = (*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE &&
              strlen(signature) > 2 && event_class_is_base(signature + 1, strlen(signature) - 2);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return is;
}

bool event_class_is(jvmtiEnv *jvmti, JNIEnv *jni, jclass class_ref)
{
    bool is = has_base_name(jvmti, class_ref);
    jclass at = class_ref;
    for (int depth = 0; !is && at != NULL && depth < DEPTH_MAX; depth++) {
        jclass above = (*jni)->GetSuperclass(jni, at);
        if (at != class_ref)
            (*jni)->DeleteLocalRef(jni, at);
        at = above;
        is = at != NULL && has_base_name(jvmti, at);
    }
    if (at != NULL && at != class_ref)
        (*jni)->DeleteLocalRef(jni, at);
    return is;
}
