/*
 * The JVM gives its WhiteBox functions to a class of that name by JNI's RegisterNatives, one at a time.  The class that
 * is made here has none of the native methods but the one that asks for them: what is registered is heard, and the
 * functions are called by their addresses.
 */
#include "core/agent/codecache/code_out.h"

#include "core/base/utf8.h"

#define WHITEBOX_CLASS "jdk/test/whitebox/WhiteBox"
#define AT_ITS_START   (-1)   /* the bytecode that code begins at: not in a loop */
#define ACC_STATIC     0x0008 /* JVMS table 4.6-A */
#define ACC_NATIVE     0x0100

static struct whitebox *const whitebox = &codecache.whitebox;

/*
 * public class WhiteBox { private static native void registerNatives(); }
 *
 * Of Java 5's version.
 */
static const char class_file[] = "\xca\xfe\xba\xbe\x00\x00\x00\x31"
                                 "\x00\x07"
                                 "\x01\x00\x1a" WHITEBOX_CLASS "\x07\x00\x01"
                                 "\x01\x00\x10"
                                 "java/lang/Object"
                                 "\x07\x00\x03"
                                 "\x01\x00\x0f"
                                 "registerNatives"
                                 "\x01\x00\x03"
                                 "()V"
                                 "\x00\x21\x00\x02\x00\x04\x00\x00\x00\x00"
                                 "\x00\x01\x01\x0a\x00\x05\x00\x06\x00\x00"
                                 "\x00\x00";

/* ---- hearing of the functions ---- */

static void keep(const JNINativeMethod *method)
{
    const struct {
        const char *name;
        void *to;
    } wanted[] = { { "enqueueMethodForCompilation0", &whitebox->enqueue },
                   { "isMethodCompilable0", &whitebox->may_compile },
                   { "isMethodQueuedForCompilation0", &whitebox->is_queued },
                   { "getMethodCompilationLevel0", &whitebox->tier } };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(method->name, wanted[i].name) == 0)
            memcpy(wanted[i].to, &method->fnPtr, sizeof method->fnPtr);
}

/* In place of RegisterNatives, for all threads: other classes are registered as ever. */
static jint JNICALL hear(JNIEnv *jni, jclass class_ref, const JNINativeMethod *methods, jint n)
{
    if (!(*jni)->IsSameObject(jni, class_ref, whitebox->class_ref))
        return whitebox->registered(jni, class_ref, methods, n);
    for (jint i = 0; i < n; i++)
        keep(&methods[i]);
    return JNI_OK;
}

static void ask(jvmtiEnv *jvmti, JNIEnv *jni)
{
    jniNativeInterface *table = NULL;
    jmethodID method = (*jni)->GetStaticMethodID(jni, whitebox->class_ref, "registerNatives", "()V");
    if (method == NULL || (*jvmti)->GetJNIFunctionTable(jvmti, &table) != JVMTI_ERROR_NONE)
        return;
    whitebox->registered = (register_fn *)table->RegisterNatives;
    table->RegisterNatives = hear;
    if ((*jvmti)->SetJNIFunctionTable(jvmti, table) == JVMTI_ERROR_NONE) {
        (*jni)->CallStaticVoidMethod(jni, whitebox->class_ref, method);
        (*jni)->ExceptionClear(jni);
        table->RegisterNatives = (jint(JNICALL *)(JNIEnv *, jclass, const JNINativeMethod *, jint))whitebox->registered;
        (*jvmti)->SetJNIFunctionTable(jvmti, table);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)table);
}

static int find_functions(jvmtiEnv *jvmti, JNIEnv *jni, struct err *err)
{
    if (whitebox->class_ref == NULL) {
        jclass made = (*jni)->DefineClass(jni, WHITEBOX_CLASS, NULL, (const jbyte *)class_file, sizeof class_file - 1);
        (*jni)->ExceptionClear(jni);
        whitebox->class_ref = made == NULL ? NULL : (*jni)->NewGlobalRef(jni, made);
        if (whitebox->class_ref != NULL)
            ask(jvmti, jni);
    }
    if (whitebox->enqueue != NULL && whitebox->may_compile != NULL && whitebox->is_queued != NULL &&
        whitebox->tier != NULL)
        return 0;
    return err_set(err, "the JVM does not offer its WhiteBox interface (-XX:+WhiteBoxAPI)");
}

/* ---- methods ---- */

static bool is_wanted(jvmtiEnv *jvmti, jmethodID id, const struct agent_phase *method)
{
    char *name = NULL, *descriptor = NULL;
    bool is = (*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
              utf8_compare(method->name, name, strlen(name)) == 0 &&
              utf8_compare(method->descriptor, descriptor, strlen(descriptor)) == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    return is;
}

/* Never from a higher tier to a lower one; and what is at tier 1 is so small that the JVM leaves it there. */
static bool is_higher(jint now, jint tier)
{
    return now < tier && now != 1;
}

/* A class' initializer runs once, and has no reflected method. */
static bool compile(JNIEnv *jni, jclass class_ref, jmethodID id, bool is_static, jint tier)
{
    jobject method = (*jni)->ToReflectedMethod(jni, class_ref, id, is_static);
    jobject unused = whitebox->class_ref;
    bool is_taken = method != NULL && is_higher(whitebox->tier(jni, unused, method, JNI_FALSE), tier) &&
                    !whitebox->is_queued(jni, unused, method) &&
                    whitebox->may_compile(jni, unused, method, tier, JNI_FALSE) &&
                    whitebox->enqueue(jni, unused, method, tier, AT_ITS_START);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, method);
    return is_taken;
}

static bool compile_in(jvmtiEnv *jvmti, JNIEnv *jni, jclass class_ref, const struct agent_compile *wanted)
{
    jmethodID *ids = NULL;
    jint n = 0, modifiers = 0;
    bool is_taken = false;
    if (strcmp(wanted->method.name, "<clinit>") == 0 ||
        (*jvmti)->GetClassMethods(jvmti, class_ref, &n, &ids) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < n; i++)
        if (is_wanted(jvmti, ids[i], &wanted->method) &&
            (*jvmti)->GetMethodModifiers(jvmti, ids[i], &modifiers) == JVMTI_ERROR_NONE &&
            (modifiers & ACC_NATIVE) == 0)
            is_taken = compile(jni, class_ref, ids[i], (modifiers & ACC_STATIC) != 0, (jint)wanted->tier) || is_taken;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
    return is_taken;
}

/* Those of the class; several loaders may each have one of this name. */
static void compile_of_class(jvmtiEnv *jvmti, JNIEnv *jni, jclass class_ref, const struct agent_compile *methods,
                             size_t n, bool *are_taken)
{
    char *signature = NULL;
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE && signature[0] == 'L')
        for (size_t i = 0; i < n; i++)
            if (utf8_compare(methods[i].method.class_name, signature + 1, strlen(signature) - 2) == 0)
                are_taken[i] = compile_in(jvmti, jni, class_ref, &methods[i]) || are_taken[i];
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

int compile_methods(jvmtiEnv *jvmti, JNIEnv *jni, const struct agent_compile *methods, size_t n, uint32_t *n_taken,
                    struct err *err)
{
    jclass *classes = NULL;
    jint n_classes = 0;
    *n_taken = 0;
    if (find_functions(jvmti, jni, err) < 0)
        return -1;
    jvmtiError error = (*jvmti)->GetLoadedClasses(jvmti, &n_classes, &classes);
    if (error == JVMTI_ERROR_WRONG_PHASE) /* the JVM ends */
        return 0;
    bool *are_taken = calloc(n + 1, sizeof *are_taken);
    if (error != JVMTI_ERROR_NONE || are_taken == NULL) {
        (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
        free(are_taken);
        return err_set(err, "out of memory in the target");
    }
    for (jint i = 0; i < n_classes; i++) {
        compile_of_class(jvmti, jni, classes[i], methods, n, are_taken);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    for (size_t i = 0; i < n; i++)
        *n_taken += are_taken[i];
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    free(are_taken);
    return 0;
}
