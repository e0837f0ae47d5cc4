#include "core/agent/control/method_names.h"

#include <string.h>

/* The name in a signature: "java/lang/String" of "Ljava/lang/String;"; else "". */
static struct wire_text class_of(const char *signature)
{
    size_t n = signature == NULL ? 0 : strlen(signature);
    return n > 2 && signature[0] == 'L' ? (struct wire_text){ signature + 1, n - 2 } : (struct wire_text){ "", 0 };
}

bool method_names_get(jvmtiEnv *jvmti, jmethodID method, struct method_names *names)
{
    memset(names, 0, sizeof *names);
    if ((*jvmti)->GetMethodName(jvmti, method, &names->name, &names->descriptor, NULL) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &names->class_ref) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetClassSignature(jvmti, names->class_ref, &names->signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    names->class_name = class_of(names->signature);
    return true;
}

void method_names_free(jvmtiEnv *jvmti, JNIEnv *jni, const struct method_names *names)
{
    (*jvmti)->Deallocate(jvmti, (unsigned char *)names->name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)names->descriptor);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)names->signature);
    if (names->class_ref != NULL)
        (*jni)->DeleteLocalRef(jni, names->class_ref);
}
