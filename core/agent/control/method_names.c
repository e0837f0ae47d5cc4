#include "core/agent/control/method_names.h"

#include "core/agent/control/jvmti_env.h"

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

void method_names_take_calls(jclass of, const char *source, struct code_line *lines, uint32_t n_lines)
{
    jvmtiEnv *jvmti = jvmti_env(); /* which has the capability, if any has */
    char *smap = NULL;
    if (source == NULL || !smap_is_of(source, strlen(source)) ||
        (*jvmti)->GetSourceDebugExtension(jvmti, of, &smap) != JVMTI_ERROR_NONE)
        return;
    smap_take_calls(smap, strnlen(smap, SMAP_BYTES_MAX), lines, n_lines);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)smap);
}
