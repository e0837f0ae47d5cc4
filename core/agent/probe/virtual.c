#include "core/agent/probe/virtual.h"

#include "core/agent/probe/unmounted.h"
#include "core/agent/probe/probe.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

/* jvmtiCapabilities.can_support_virtual_threads: the headers of earlier JDKs have no name for it. */
#define CAPABILITY_BYTE 5
#define CAPABILITY_BIT  0x10

static struct virtual_state {
    jint mount, unmount; /* HotSpot's numbers of its extension events; 0: it has none */
    jvmtiExtensionFunction get_carrier, get_mounted;
    _Atomic uint32_t epoch;
} known;

/* What the virtual thread on this carrier had in its storage when it came: epoch and handle of the calls left open. */
static _Thread_local uint64_t stored;

static uint32_t stored_handle(uint64_t value, uint32_t epoch)
{
    return value >> 32 == epoch ? (uint32_t)value : 0;
}

static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
    void *value = NULL;
    uint32_t epoch = atomic_load_explicit(&known.epoch, memory_order_acquire);
    if ((*jvmti)->GetThreadLocalStorage(jvmti, NULL, &value) != JVMTI_ERROR_NONE)
        value = NULL;
    stored = (uint64_t)(uintptr_t)value;
    probe_mount(stored_handle(stored, epoch));
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
    uint32_t epoch = atomic_load_explicit(&known.epoch, memory_order_acquire), handle = probe_unmount();
    uint64_t value = handle == 0 ? 0 : (uint64_t)epoch << 32 | handle;
    if (value != stored)
        (*jvmti)->SetThreadLocalStorage(jvmti, NULL, (void *)(uintptr_t)value);
    stored = 0;
}

static void find_events(jvmtiEnv *jvmti)
{
    jvmtiExtensionEventInfo *events = NULL;
    jint n = 0;
    if ((*jvmti)->GetExtensionEvents(jvmti, &n, &events) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        jint index = events[i].extension_event_index;
        if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadMount") == 0 &&
            (*jvmti)->SetExtensionEventCallback(jvmti, index, on_mount) == JVMTI_ERROR_NONE)
            known.mount = index;
        if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadUnmount") == 0 &&
            (*jvmti)->SetExtensionEventCallback(jvmti, index, on_unmount) == JVMTI_ERROR_NONE)
            known.unmount = index;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)events);
}

static void find_functions(jvmtiEnv *jvmti)
{
    jvmtiExtensionFunctionInfo *functions = NULL;
    jint n = 0;
    if ((*jvmti)->GetExtensionFunctions(jvmti, &n, &functions) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        if (strcmp(functions[i].id, "com.sun.hotspot.functions.GetCarrierThread") == 0)
            known.get_carrier = functions[i].func;
        if (strcmp(functions[i].id, "com.sun.hotspot.functions.GetVirtualThread") == 0)
            known.get_mounted = functions[i].func;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)functions);
}

void virtual_init(jvmtiEnv *jvmti)
{
    jvmtiCapabilities capabilities;
    unsigned char bytes[sizeof capabilities];
    memset(&capabilities, 0, sizeof capabilities);
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE)
        return;
    memcpy(bytes, &capabilities, sizeof bytes);
    if ((bytes[CAPABILITY_BYTE] & CAPABILITY_BIT) == 0)
        return;
    memset(bytes, 0, sizeof bytes);
    bytes[CAPABILITY_BYTE] = CAPABILITY_BIT;
    memcpy(&capabilities, bytes, sizeof bytes);
    if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE)
        return;
    find_events(jvmti);
    find_functions(jvmti);
}

void virtual_listen(jvmtiEnv *jvmti, uint32_t epoch)
{
    jvmtiEventMode mode = epoch == 0 ? JVMTI_DISABLE : JVMTI_ENABLE;
    if (known.mount == 0 || known.unmount == 0)
        return;
    if (epoch != 0)
        unmounted_begin();
    atomic_store_explicit(&known.epoch, epoch, memory_order_release);
    (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)known.mount, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)known.unmount, NULL);
}

jthread virtual_mounted(jvmtiEnv *jvmti, jthread carrier)
{
    jthread mounted = NULL;
    if (known.get_mounted == NULL || known.get_mounted(jvmti, carrier, &mounted) != JVMTI_ERROR_NONE)
        return NULL;
    return mounted;
}

jthread virtual_carrier(jvmtiEnv *jvmti)
{
    jthread current = NULL, carrier = NULL;
    if (known.get_carrier == NULL || (*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE ||
        known.get_carrier(jvmti, current, &carrier) != JVMTI_ERROR_NONE)
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
    if (known.get_carrier == NULL)
        return false;
    if ((*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE || current == NULL)
        return true;
    bool is_near = (known.get_carrier(jvmti, current, &carrier) == JVMTI_ERROR_NONE && carrier != NULL) ||
                   is_carrier(jvmti, jni, current);
    if (carrier != NULL)
        (*jni)->DeleteLocalRef(jni, carrier);
    (*jni)->DeleteLocalRef(jni, current);
    return is_near;
}
