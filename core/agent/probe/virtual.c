#include "core/agent/probe/probe_parts.h"

/* jvmtiCapabilities.can_support_virtual_threads: the headers of earlier JDKs have no name for it. */
#define CAPABILITY_BYTE 5
#define CAPABILITY_BIT  0x10

static struct virtual_session *const known = &probe_session.virtual;

static void find_functions(jvmtiEnv *jvmti)
{
    jvmtiExtensionFunctionInfo *functions = NULL;
    jint n = 0;
    if ((*jvmti)->GetExtensionFunctions(jvmti, &n, &functions) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        if (strcmp(functions[i].id, "com.sun.hotspot.functions.GetCarrierThread") == 0)
            known->get_carrier = functions[i].func;
        if (strcmp(functions[i].id, "com.sun.hotspot.functions.GetVirtualThread") == 0)
            known->get_mounted = functions[i].func;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)functions);
}

bool virtual_find(jvmtiEnv *jvmti)
{
    jvmtiCapabilities capabilities = { 0 };
    unsigned char bytes[sizeof capabilities];
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE)
        return false;
    memcpy(bytes, &capabilities, sizeof bytes);
    if ((bytes[CAPABILITY_BYTE] & CAPABILITY_BIT) == 0)
        return false;
    memset(bytes, 0, sizeof bytes);
    bytes[CAPABILITY_BYTE] = CAPABILITY_BIT;
    memcpy(&capabilities, bytes, sizeof bytes);
    if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE)
        return false;
    find_functions(jvmti);
    return true;
}

jthread virtual_mounted(jvmtiEnv *jvmti, jthread carrier)
{
    jthread mounted = NULL;
    if (known->get_mounted == NULL || known->get_mounted(jvmti, carrier, &mounted) != JVMTI_ERROR_NONE)
        return NULL;
    return mounted;
}

jthread virtual_carrier(jvmtiEnv *jvmti)
{
    jthread current = NULL, carrier = NULL;
    if (known->get_carrier == NULL || (*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE ||
        known->get_carrier(jvmti, current, &carrier) != JVMTI_ERROR_NONE)
        return NULL;
    return carrier;
}

/* The JVM's own carriers are of one class. */
static bool is_carrier(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    char *signature = NULL;
    jclass class_ref = (*jni)->GetObjectClass(jni, thread);
    bool is = (*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) != JVMTI_ERROR_NONE ||
              strcmp(signature, "Ljdk/internal/misc/CarrierThread;") == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, class_ref);
    return is;
}

bool virtual_is_near(jvmtiEnv *jvmti, JNIEnv *jni)
{
    jthread current = NULL, carrier = NULL;
    if (known->get_carrier == NULL)
        return false;
    if ((*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE || current == NULL)
        return true;
    bool is_near = (known->get_carrier(jvmti, current, &carrier) == JVMTI_ERROR_NONE && carrier != NULL) ||
                   is_carrier(jvmti, jni, current);
    if (carrier != NULL)
        (*jni)->DeleteLocalRef(jni, carrier);
    (*jni)->DeleteLocalRef(jni, current);
    return is_near;
}
