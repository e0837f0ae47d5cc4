#include "core/agent/probe/argument_ids.h"

#include "core/agent/control/method_ids.h"
#include "core/base/hash.h"

#include <pthread.h>
#include <stdatomic.h>

#define ACCESSORS_MAX 64 /* a class' method is found once; with more it is looked for in each call */
#define SUPERS_MAX    32
#define NOT_NOW       '?'

/* ---- of the JDK ---- */

enum known_class { STRING, ENUM, NUMBER, BOOLEAN, CHARACTER, OBJECT, CLASS, N_CLASSES };

/* A class' method; once it is there it stays, for any session. */
struct accessor {
    uint64_t name_key;
    jweak class_ref;
    jmethodID method;
    char type; /* what its descriptor says it returns, in one letter; 0: the class has none */
};

/* References are global, kept for ever. */
static struct value_classes {
    jvmtiEnv *jvmti; /* the agent's */
    jclass classes[N_CLASSES];
    jmethodID to_string, enum_name, class_name;
    bool is_prepared;
    pthread_mutex_t lock; /* guards what is added */
    struct accessor accessors[ACCESSORS_MAX];
    _Atomic uint32_t n_accessors;
} jdk = { .lock = PTHREAD_MUTEX_INITIALIZER };

int value_text_prepare(jvmtiEnv *jvmti, JNIEnv *jni, struct err *err)
{
    static const char *const names[N_CLASSES] = { "java/lang/String",  "java/lang/Enum",      "java/lang/Number",
                                                  "java/lang/Boolean", "java/lang/Character", "java/lang/Object",
                                                  "java/lang/Class" };
    static const char string[] = "()Ljava/lang/String;";
    jdk.jvmti = jvmti;
    for (int i = 0; i < N_CLASSES && !jdk.is_prepared; i++) {
        jclass local = (*jni)->FindClass(jni, names[i]);
        jdk.classes[i] = local == NULL ? NULL : (*jni)->NewGlobalRef(jni, local);
        if (jdk.classes[i] == NULL) {
            (*jni)->ExceptionClear(jni);
            return err_set(err, "the JVM does not find %s", names[i]);
        }
    }
    jdk.to_string = (*jni)->GetMethodID(jni, jdk.classes[OBJECT], "toString", string);
    jdk.enum_name = (*jni)->GetMethodID(jni, jdk.classes[ENUM], "name", string);
    jdk.class_name = (*jni)->GetMethodID(jni, jdk.classes[CLASS], "getName", string);
    jdk.is_prepared = jdk.to_string != NULL && jdk.enum_name != NULL && jdk.class_name != NULL;
    (*jni)->ExceptionClear(jni);
    return jdk.is_prepared ? 0 : err_set(err, "the JVM does not find Object.toString");
}

/* ---- texts ---- */

void value_text_of_integer(int64_t number, char type, struct value_text *value)
{
    value->kind = VALUE_TEXT;
    if (type == 'Z')
        snprintf(value->text, sizeof value->text, "%s", number != 0 ? "true" : "false");
    else if (type == 'C' && number > ' ' && number < 0x7f)
        snprintf(value->text, sizeof value->text, "%c", (int)number);
    else
        snprintf(value->text, sizeof value->text, "%" PRId64, number);
    value->n = strlen(value->text);
}

void value_text_of_real(double number, struct value_text *value)
{
    value->kind = VALUE_TEXT;
    snprintf(value->text, sizeof value->text, "%.15g", number);
    value->n = strlen(value->text);
}

/* Cut between two characters. */
static void take_string(JNIEnv *jni, jstring string, struct value_text *value)
{
    jsize n = string == NULL ? 0 : (*jni)->GetStringLength(jni, string);
    value->kind = string == NULL ? VALUE_NULL : VALUE_TEXT;
    value->text[0] = '\0';
    (*jni)->GetStringUTFRegion(jni, string, 0, string == NULL ? 0 : n < VALUE_BYTES ? n : VALUE_BYTES, value->text);
    value->text[VALUE_ROOM - 1] = '\0';
    value->n = strlen(value->text);
    if (value->n > VALUE_BYTES)
        for (value->n = VALUE_BYTES; value->n > 0 && ((unsigned char)value->text[value->n] & 0xc0) == 0x80;)
            value->n--;
}

/* Returns whether it threw; no exception is left. */
static bool has_thrown(JNIEnv *jni, struct value_text *value)
{
    if (!(*jni)->ExceptionCheck(jni))
        return false;
    (*jni)->ExceptionClear(jni);
    value->kind = VALUE_EXCEPTION;
    return true;
}

static void call_for_string(JNIEnv *jni, jobject object, jmethodID method, struct value_text *value)
{
    jstring string = (*jni)->CallObjectMethod(jni, object, method);
    if (!has_thrown(jni, value))
        take_string(jni, string, value);
}

/* Of what an accessor returned, any text is wanted; else one that costs nothing, and tells nothing but its class. */
static void take_object(JNIEnv *jni, jobject object, bool any, struct value_text *value)
{
    if (object == NULL)
        value->kind = VALUE_NULL;
    else if ((*jni)->IsInstanceOf(jni, object, jdk.classes[STRING]))
        take_string(jni, object, value);
    else if ((*jni)->IsInstanceOf(jni, object, jdk.classes[ENUM]))
        call_for_string(jni, object, jdk.enum_name, value);
    else if (any || (*jni)->IsInstanceOf(jni, object, jdk.classes[NUMBER]) ||
             (*jni)->IsInstanceOf(jni, object, jdk.classes[BOOLEAN]) ||
             (*jni)->IsInstanceOf(jni, object, jdk.classes[CHARACTER]))
        call_for_string(jni, object, jdk.to_string, value);
    else
        call_for_string(jni, (*jni)->GetObjectClass(jni, object), jdk.class_name, value);
}

/* ---- accessors ---- */

/* A method of the class itself that is called so and takes nothing; its type, or 0. */
static char find_declared(jvmtiEnv *jvmti, jclass class_ref, const char *name, jmethodID *method)
{
    jmethodID *methods = NULL;
    jint n = 0;
    char type = 0;
    if ((*jvmti)->GetClassMethods(jvmti, class_ref, &n, &methods) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n && type == 0; i++) {
        char *found = NULL, *descriptor = NULL;
        jint flags = 0;
        if ((*jvmti)->GetMethodName(jvmti, methods[i], &found, &descriptor, NULL) == JVMTI_ERROR_NONE &&
            strcmp(found, name) == 0 && strncmp(descriptor, "()", 2) == 0 &&
            (*jvmti)->GetMethodModifiers(jvmti, methods[i], &flags) == JVMTI_ERROR_NONE && (flags & 0x0008) == 0) {
            type = descriptor[2];
            *method = methods[i];
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)found);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return type;
}

/* Class by class.  Returns its type; 0: there is none; NOT_NOW: that cannot be said while classes are changed. */
static char find_above(JNIEnv *jni, jclass class_ref, const char *name, jmethodID *method)
{
    char type = 0;
    if (!method_ids_enter())
        return NOT_NOW;
    if ((*jni)->PushLocalFrame(jni, SUPERS_MAX + 1) == 0) {
        for (int i = 0; type == 0 && class_ref != NULL && i < SUPERS_MAX; i++) {
            type = find_declared(jdk.jvmti, class_ref, name, method);
            class_ref = (*jni)->GetSuperclass(jni, class_ref);
        }
        (*jni)->PopLocalFrame(jni, NULL);
    }
    method_ids_leave();
    (*jni)->ExceptionClear(jni);
    return type;
}

/* By the descriptors that most have, which the JVM finds in superclasses and interfaces; else class by class. */
static char find_method(JNIEnv *jni, jclass class_ref, const char *name, jmethodID *method)
{
    static const char *const descriptors[] = { "()Ljava/lang/String;", "()I", "()J", "()Z", "()Ljava/lang/Object;" };
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++) {
        *method = (*jni)->GetMethodID(jni, class_ref, name, descriptors[i]);
        (*jni)->ExceptionClear(jni);
        if (*method != NULL)
            return descriptors[i][2];
    }
    return find_above(jni, class_ref, name, method);
}

static const struct accessor *known_accessor(JNIEnv *jni, jclass class_ref, uint64_t key)
{
    uint32_t n = atomic_load_explicit(&jdk.n_accessors, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (jdk.accessors[i].name_key == key && (*jni)->IsSameObject(jni, jdk.accessors[i].class_ref, class_ref))
            return &jdk.accessors[i];
    return NULL;
}

static struct accessor find_accessor(JNIEnv *jni, jclass class_ref, const char *name)
{
    struct accessor found = { .name_key = hash_text(HASH_START, name, strlen(name)) };
    const struct accessor *known = known_accessor(jni, class_ref, found.name_key);
    if (known != NULL)
        return *known;
    found.type = find_method(jni, class_ref, name, &found.method);
    found.class_ref = (*jni)->NewWeakGlobalRef(jni, class_ref);
    pthread_mutex_lock(&jdk.lock);
    uint32_t n = atomic_load(&jdk.n_accessors);
    if (n < ACCESSORS_MAX && found.class_ref != NULL && found.type != NOT_NOW) {
        jdk.accessors[n] = found;
        atomic_store_explicit(&jdk.n_accessors, n + 1, memory_order_release);
        found.class_ref = NULL;
    }
    pthread_mutex_unlock(&jdk.lock);
    if (found.class_ref != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, found.class_ref);
    (*jni)->ExceptionClear(jni);
    return found;
}

static void call_accessor(JNIEnv *jni, jobject object, const struct accessor *accessor, struct value_text *value)
{
    static const jvalue none[1];
    jmethodID method = accessor->method;
    jobject result = NULL;
    int64_t number = 0;
    double real = 0;
    switch (accessor->type) {
    case 'L':
    case '[':
        result = (*jni)->CallObjectMethodA(jni, object, method, none);
        break;
    case 'Z':
        number = (*jni)->CallBooleanMethodA(jni, object, method, none);
        break;
    case 'B':
        number = (*jni)->CallByteMethodA(jni, object, method, none);
        break;
    case 'C':
        number = (*jni)->CallCharMethodA(jni, object, method, none);
        break;
    case 'S':
        number = (*jni)->CallShortMethodA(jni, object, method, none);
        break;
    case 'I':
        number = (*jni)->CallIntMethodA(jni, object, method, none);
        break;
    case 'J':
        number = (*jni)->CallLongMethodA(jni, object, method, none);
        break;
    case 'F':
        real = (double)(*jni)->CallFloatMethodA(jni, object, method, none);
        break;
    case 'D':
        real = (*jni)->CallDoubleMethodA(jni, object, method, none);
        break;
    default:
        value->kind = VALUE_NO_METHOD;
        return;
    }
    if (has_thrown(jni, value))
        return;
    if (accessor->type == 'L' || accessor->type == '[')
        take_object(jni, result, true, value);
    else if (accessor->type == 'F' || accessor->type == 'D')
        value_text_of_real(real, value);
    else
        value_text_of_integer(number, accessor->type, value);
}

void value_text_of_object(JNIEnv *jni, jobject object, const char *accessor, struct value_text *value)
{
    value->kind = VALUE_NULL;
    value->n = 0;
    if (object == NULL)
        return;
    if (accessor == NULL) {
        take_object(jni, object, false, value);
        return;
    }
    const struct accessor found = find_accessor(jni, (*jni)->GetObjectClass(jni, object), accessor);
    call_accessor(jni, object, &found, value);
}
