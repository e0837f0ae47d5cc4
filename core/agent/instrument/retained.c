/*
 * What the JVM would retain for ever of a class that is changed.
 *
 * HotSpot keeps the version of a class before for as long as compiled code of it is there.  Since JDK 20 it never
 * discards the compiled entry of a native method: where one was compiled (Object.hashCode, Unsafe.park), all of the
 * class stays, at each change: 1.1 MB a session on JDK 25, until a JVM with -XX:MaxMetaspaceSize=64m died after some
 * fifty.  So classes with several native methods are left alone, unless the user names them, and of what is retained of
 * the others there is a limit.
 *
 * All old versions take metaspace until the second garbage collection after, which may be long; where it is limited,
 * the JVM would be out of it for classes of the program's own (seen after sixty sessions).
 */
#include "core/agent/instrument/retained.h"

#include "core/agent/instrument/instrument.h"

#include <stdlib.h>

#define FIRST_JAVA  20 /* that keeps them */
#define FEW_NATIVES 1  /* String and Throwable have one each, which most programs call rarely */
#define BYTES_A_METHOD \
    450u /* of metaspace, code, constants and line numbers included: measured on JDK 25's own classes */
#define LIMIT_BYTES ((uint64_t)8 << 20)
#define ACC_NATIVE  0x0100

/* Used by the session's threads only, one at a time. */
static struct retained_state {
    int java;                 /* the JVM's version; 0: not known yet */
    uint64_t retained_bytes;  /* in all sessions */
    uint64_t metaspace_bytes; /* that the session may still take */
} state;

static int java_of(jvmtiEnv *jvmti)
{
    char *text = NULL;
    int java = 0;
    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &text) == JVMTI_ERROR_NONE)
        java = atoi(text);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
    return java;
}

/* Returns how many methods a class has; *n_natives of them are native. */
static jint count_methods(jvmtiEnv *jvmti, jclass class_ref, jint *n_natives)
{
    jmethodID *methods = NULL;
    jint n = 0, modifiers;
    *n_natives = 0;
    if ((*jvmti)->GetClassMethods(jvmti, class_ref, &n, &methods) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n; i++)
        *n_natives += (*jvmti)->GetMethodModifiers(jvmti, methods[i], &modifiers) == JVMTI_ERROR_NONE &&
                      (modifiers & ACC_NATIVE) != 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return n;
}

void retained_begin(uint64_t metaspace_bytes)
{
    state.metaspace_bytes = metaspace_bytes;
}

bool retained_allows(jvmtiEnv *jvmti, jclass class_ref, bool is_named)
{
    jint n_natives;
    if (state.java == 0)
        state.java = java_of(jvmti);
    if (state.java < FIRST_JAVA && state.metaspace_bytes == UINT64_MAX)
        return true;
    /* Two versions: the one before the probes, and the one with them. */
    uint64_t bytes = (uint64_t)count_methods(jvmti, class_ref, &n_natives) * BYTES_A_METHOD * 2;
    bool is_retained = n_natives > 0 && state.java >= FIRST_JAVA;
    bool may_be_retained = (is_named || n_natives <= FEW_NATIVES) && state.retained_bytes + bytes <= LIMIT_BYTES;
    if ((is_retained && !may_be_retained) || bytes > state.metaspace_bytes) {
        instrument_count(!is_retained || may_be_retained ? SEGMENT_LEFT_METASPACE : SEGMENT_LEFT_NATIVES, 1);
        return false;
    }
    state.retained_bytes += is_retained ? bytes : 0;
    state.metaspace_bytes -= state.metaspace_bytes == UINT64_MAX ? 0 : bytes;
    return true;
}
