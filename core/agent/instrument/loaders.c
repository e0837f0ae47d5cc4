#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/instrument_state.h"

#include "core/agent/control/jvmti_env.h"
#include "core/agent/rewrite/classfile.h"

#include <pthread.h>
#include <stdatomic.h>

#define WAIT_MS      250
#define MOST_WAITING 4 /* threads that wait for locks of loaders */

/* What a thread that may have to wait is to do; the one that comes last frees it. */
struct define_order {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool is_done, is_given_up;
    jobject loader; /* a global reference, as is the next */
    jclass made;
    const char *name; /* behind the bytes */
    size_t n_bytes;
    uint8_t bytes[CLASS_BYTES_MAX + REWRITE_NAME_BYTES];
};

static jclass define(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes, size_t n)
{
    jclass made = (*jni)->DefineClass(jni, name, loader, (const jbyte *)bytes, (jsize)n);
    (*jni)->ExceptionClear(jni);
    return made;
}

/* The last of a class and its superclasses before java.lang.Object: a local reference. */
static jclass loader_root_class(JNIEnv *jni, jclass class_ref)
{
    jclass root = (*jni)->NewLocalRef(jni, class_ref);
    for (jclass above = (*jni)->GetSuperclass(jni, root); above != NULL;) {
        jclass next = (*jni)->GetSuperclass(jni, above);
        (*jni)->DeleteLocalRef(jni, next == NULL ? above : root);
        root = next == NULL ? root : above;
        above = next;
    }
    return root;
}

/* As the JVM decides it (java_lang_ClassLoader::parallelCapable). */
static bool is_parallel_capable(JNIEnv *jni, jobject loader)
{
    jclass root = loader_root_class(jni, (*jni)->GetObjectClass(jni, loader));
    jfieldID field = (*jni)->GetFieldID(jni, root, "parallelLockMap", "Ljava/util/concurrent/ConcurrentHashMap;");
    (*jni)->ExceptionClear(jni);
    return field != NULL && (*jni)->GetObjectField(jni, loader, field) != NULL;
}

static void free_order(JNIEnv *jni, struct define_order *order)
{
    (*jni)->DeleteGlobalRef(jni, order->loader);
    (*jni)->DeleteGlobalRef(jni, order->made);
    pthread_cond_destroy(&order->change);
    pthread_mutex_destroy(&order->lock);
    free(order);
}

static struct define_order *new_order(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes, size_t n)
{
    pthread_condattr_t attributes;
    struct define_order *order = calloc(1, sizeof *order);
    if (order == NULL)
        return NULL;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&order->lock, NULL);
    pthread_cond_init(&order->change, &attributes);
    pthread_condattr_destroy(&attributes);
    memcpy(order->bytes, bytes, n);
    order->n_bytes = n;
    order->name = (const char *)order->bytes + CLASS_BYTES_MAX;
    snprintf((char *)order->bytes + CLASS_BYTES_MAX, REWRITE_NAME_BYTES, "%s", name);
    order->loader = (*jni)->NewGlobalRef(jni, loader);
    return order;
}

static void JNICALL run_order(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    struct define_order *order = argument;
    (void)jvmti;
    jclass made = define(jni, order->loader, order->name, order->bytes, order->n_bytes);
    pthread_mutex_lock(&order->lock);
    order->made = made == NULL ? NULL : (*jni)->NewGlobalRef(jni, made);
    order->is_done = true;
    bool is_last = order->is_given_up;
    pthread_cond_signal(&order->change);
    pthread_mutex_unlock(&order->lock);
    if (is_last)
        free_order(jni, order);
    atomic_fetch_sub(&instrumenting.n_waiting, 1);
}

static jclass wait_for(JNIEnv *jni, struct define_order *order)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += WAIT_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&order->lock);
    while (!order->is_done && pthread_cond_timedwait(&order->change, &order->lock, &end) == 0)
        continue;
    bool is_last = order->is_done;
    order->is_given_up = !is_last;
    jclass made = order->made == NULL ? NULL : (*jni)->NewLocalRef(jni, order->made);
    pthread_mutex_unlock(&order->lock);
    if (is_last)
        free_order(jni, order);
    return made;
}

static jclass define_elsewhere(JNIEnv *jni, jobject loader, const char *name, const uint8_t *bytes, size_t n)
{
    struct define_order *order = NULL;
    if (atomic_fetch_add(&instrumenting.n_waiting, 1) < MOST_WAITING)
        order = new_order(jni, loader, name, bytes, n);
    if (order != NULL && jvmti_env_run_thread(jni, run_order, order) == 0)
        return wait_for(jni, order);
    if (order != NULL)
        free_order(jni, order);
    atomic_fetch_sub(&instrumenting.n_waiting, 1);
    return NULL;
}

/*
 * Define a class, of a name in internal form, into a class loader by JNI.  The JVM takes the loader's lock for that,
 * unless the loader is parallel capable.  The thread that loads a class has it; any other gives up after a quarter of a
 * second (the class may come to be there later).  Returns a local reference, or NULL, without an exception.
 */
static jclass loader_define(JNIEnv *jni, const struct loaders_class *about, const char *name, const uint8_t *bytes,
                            size_t n)
{
    if (n == 0)
        return NULL;
    if (about->bytes.at != NULL || is_parallel_capable(jni, about->loader))
        return define(jni, about->loader, name, bytes, n);
    return define_elsewhere(jni, about->loader, name, bytes, n);
}

/* ---- the loader's own classes ---- */

#define NAME_BYTES  512
#define MOST_SUPERS 4
#define LOCAL_REFS  64

#define ACC_PUBLIC    0x0001
#define ACC_FINAL     0x0010
#define ACC_INTERFACE 0x0200

/*
 * What a loader's tag says: which of its own classes are there, and how often there was no way.  Bits may be lost when
 * two threads set some: then what is there is found again.
 */
#define TAG_PROBE       INT64_C(1)
#define TAG_BLOCK       INT64_C(2) /* shifted by its number: up to bit 32 */
#define TAG_ASKED       (INT64_C(1) << 40)
#define TAG_ASKED_SHIFT 40

static jlong tag_of(jvmtiEnv *jvmti, jobject loader)
{
    jlong tag = 0;
    return (*jvmti)->GetTag(jvmti, loader, &tag) == JVMTI_ERROR_NONE ? tag : 0;
}

static jclass known_class(jvmtiEnv *jvmti, const jclass *classes, jint n, const char *name)
{
    jclass found = NULL;
    size_t n_name = strlen(name);
    for (jint i = 0; i < n && found == NULL; i++) {
        char *signature = NULL;
        if ((*jvmti)->GetClassSignature(jvmti, classes[i], &signature, NULL) == JVMTI_ERROR_NONE &&
            strlen(signature) == n_name + 2 && memcmp(signature + 1, name, n_name) == 0)
            found = classes[i];
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    return found;
}

/* ---- the superclass ---- */

struct supers {
    char names[MOST_SUPERS][NAME_BYTES];
    unsigned n;
};

static void add_super(struct supers *supers, const char *name, size_t n)
{
    if (supers->n < MOST_SUPERS && n < NAME_BYTES) {
        memcpy(supers->names[supers->n], name, n);
        supers->names[supers->n++][n] = '\0';
    }
}

/* One that is initialized: using a class initializes its superclass, which runs the application's code. */
static void add_if_fit(jvmtiEnv *jvmti, struct supers *supers, jclass class_ref)
{
    const jint status_mask = JVMTI_CLASS_STATUS_INITIALIZED | JVMTI_CLASS_STATUS_ERROR | JVMTI_CLASS_STATUS_ARRAY;
    const jint flags_mask = ACC_PUBLIC | ACC_FINAL | ACC_INTERFACE;
    char *signature = NULL;
    jint status = 0, flags = 0;
    if ((*jvmti)->GetClassStatus(jvmti, class_ref, &status) == JVMTI_ERROR_NONE &&
        (status & status_mask) == JVMTI_CLASS_STATUS_INITIALIZED &&
        (*jvmti)->GetClassModifiers(jvmti, class_ref, &flags) == JVMTI_ERROR_NONE &&
        (flags & flags_mask) == ACC_PUBLIC &&
        (*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE)
        add_super(supers, signature + 1, strlen(signature) - 2);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static bool has_super(const struct loaders_class *about, struct supers *supers)
{
    struct classfile file;
    struct err err;
    if (about->bytes.at == NULL)
        return false;
    if (classfile_open(&file, (const uint8_t *)about->bytes.at, about->bytes.n, &err) == 0) {
        struct span name = classfile_class_name(&file, file.super_class);
        if (name.at != NULL)
            add_super(supers, (const char *)name.at, name.n);
    }
    classfile_free(&file);
    return supers->n > 0;
}

/* What the JVM is about to do with the superclass of a class that is being loaded. */
static jclass ask_for(JNIEnv *jni, jobject loader, const char *name)
{
    char dotted[NAME_BYTES];
    size_t n = strlen(name);
    for (size_t i = 0; i <= n; i++)
        dotted[i] = name[i] == '/' ? '.' : name[i];
    jmethodID find = (*jni)->GetStaticMethodID(jni, classes_probe(), "find",
                                               "(Ljava/lang/String;Ljava/lang/ClassLoader;)Ljava/lang/Class;");
    jstring text = find == NULL ? NULL : (*jni)->NewStringUTF(jni, dotted);
    jclass found = text == NULL ? NULL : (*jni)->CallStaticObjectMethod(jni, classes_probe(), find, text, loader);
    bool has_failed = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    return has_failed ? NULL : found;
}

static void find_supers(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about, const jclass *classes, jint n,
                        struct supers *supers)
{
    const char *object = "java/lang/Object";
    struct supers loading = { .n = 0 };
    bool is_object = known_class(jvmti, classes, n, object) != NULL;
    if (is_object || (has_super(about, &loading) && strcmp(loading.names[0], object) == 0))
        add_super(supers, object, strlen(object));
    for (jint i = 0; i < n && supers->n == 0; i++)
        add_if_fit(jvmti, supers, classes[i]);
    if (supers->n == 0 && loading.n > 0) {
        jclass above = ask_for(jni, about->loader, loading.names[0]);
        if (above != NULL)
            add_if_fit(jvmti, supers, above);
    }
}

/* ---- the loader's own classes ---- */

static jclass define_probe(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about, const jclass *classes,
                           jint n)
{
    struct supers supers = { .n = 0 };
    uint8_t *bytes = malloc(CLASS_BYTES_MAX);
    jclass made = NULL;
    if (bytes != NULL)
        find_supers(jvmti, jni, about, classes, n, &supers);
    for (unsigned i = 0; i < supers.n && made == NULL; i++)
        made = loader_define(jni, about, AGENT_OWN_PROBE_CLASS, bytes, class_bytes_own_probe(supers.names[i], bytes));
    free(bytes);
    return made;
}

static jclass define_flags(JNIEnv *jni, const struct loaders_class *about, const char *name, uint32_t block)
{
    uint8_t *bytes = malloc(CLASS_BYTES_MAX);
    jclass made = NULL;
    if (bytes != NULL)
        made = loader_define(jni, about, name, bytes, class_bytes_own_flags(name, block, bytes));
    free(bytes);
    return made;
}

/* The classes that a loader has found or defined: n local references, *classes is the JVM's to free.  NULL: none. */
static jclass *classes_of(jvmtiEnv *jvmti, JNIEnv *jni, jobject loader, jint *n)
{
    jclass *classes = NULL;
    if ((*jvmti)->GetClassLoaderClasses(jvmti, loader, n, &classes) != JVMTI_ERROR_NONE)
        *n = 0;
    (*jni)->EnsureLocalCapacity(jni, *n + LOCAL_REFS);
    (*jni)->ExceptionClear(jni);
    return classes;
}

static bool has_field(JNIEnv *jni, jclass flags)
{
    return (*jni)->GetStaticFieldID(jni, flags, AGENT_OWN_FLAGS_FIELD, "[I") != NULL; /* that initializes the class */
}

/* Another thread may have made it first: whoever finds it there makes sure that it works. */
static bool make(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about, const char *name, int block)
{
    jint n = 0;
    jclass *classes = classes_of(jvmti, jni, about->loader, &n);
    jclass own = known_class(jvmti, classes, n, name);
    if (own == NULL)
        own = block < 0 ? define_probe(jvmti, jni, about, classes, n) : define_flags(jni, about, name, (uint32_t)block);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    if (own == NULL) {
        classes = classes_of(jvmti, jni, about->loader, &n);
        own = known_class(jvmti, classes, n, name);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    }
    bool works = own != NULL && (block < 0 ? classes_link_natives(jni, own) : has_field(jni, own));
    (*jni)->ExceptionClear(jni);
    return works;
}

/* At the first, second, 9th, 65th, ... class: with a loader of many classes it would take long. */
static bool is_due(uint64_t n_asked)
{
    while (n_asked > 1 && n_asked % 8 == 0)
        n_asked /= 8;
    return n_asked <= 1;
}

/* Returns whether the loader has its own class; block -1: that of the probes. */
static bool has_own(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about, const char *name, int block)
{
    jlong bit = block < 0 ? TAG_PROBE : TAG_BLOCK << block, tag = tag_of(jvmti, about->loader);
    if ((tag & bit) != 0)
        return true;
    bool works = false;
    if (is_due((uint64_t)tag >> TAG_ASKED_SHIFT) && (*jni)->PushLocalFrame(jni, LOCAL_REFS) == 0) {
        works = make(jvmti, jni, about, name, block);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    (*jni)->ExceptionClear(jni);
    tag = tag_of(jvmti, about->loader);
    (*jvmti)->SetTag(jvmti, about->loader, works ? tag | bit : tag + TAG_ASKED);
    return works;
}

/* ---- the way ---- */

/* A security manager with a check of its own would be asked whether the class may use the package of the probes. */
static bool is_guarded(JNIEnv *jni)
{
    static const char name[] = "checkPackageAccess", descriptor[] = "(Ljava/lang/String;)V";
    jmethodID guard = (*jni)->GetStaticMethodID(jni, classes_probe(), "guard", "()Ljava/lang/SecurityManager;");
    jobject manager = guard == NULL ? NULL : (*jni)->CallStaticObjectMethod(jni, classes_probe(), guard);
    (*jni)->ExceptionClear(jni);
    if (manager == NULL)
        return false;
    jclass class_ref = (*jni)->GetObjectClass(jni, manager);
    jclass root = loader_root_class(jni, class_ref);
    return (*jni)->GetMethodID(jni, class_ref, name, descriptor) != (*jni)->GetMethodID(jni, root, name, descriptor);
}

static enum loaders_way way_of_loader(jvmtiEnv *jvmti, JNIEnv *jni, jobject loader)
{
    static const struct {
        const char *signature;
        enum loaders_way way;
    } known[] = {
        { "Ljdk/internal/loader/ClassLoaders$AppClassLoader;", LOADERS_BOOT },
        { "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;", LOADERS_BOOT },
        { "Ljdk/internal/loader/Loader;", LOADERS_BOOT },                 /* of a layer of modules */
        { "Ljdk/internal/reflect/DelegatingClassLoader;", LOADERS_NONE }, /* of one generated class */
    };
    enum loaders_way way = LOADERS_OWN;
    char *signature = NULL;
    (*jvmti)->GetClassSignature(jvmti, (*jni)->GetObjectClass(jni, loader), &signature, NULL);
    for (size_t i = 0; i < sizeof known / sizeof *known && signature != NULL; i++)
        if (strcmp(signature, known[i].signature) == 0)
            way = known[i].way;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return way;
}

/* A class in a named module reads what is outside of modules only where it is told to. */
static bool lets_read(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about)
{
    char package[NAME_BYTES];
    jobject module = NULL;
    size_t n = about->name.n;
    while (n > 0 && about->name.at[n - 1] != '/')
        n--;
    if (n == 0)
        return true;
    if (n > sizeof package)
        return false;
    memcpy(package, about->name.at, n - 1);
    package[n - 1] = '\0';
    if ((*jvmti)->GetNamedModule == NULL) /* JDK 8 has no modules */
        return true;
    if ((*jvmti)->GetNamedModule(jvmti, about->loader, package, &module) != JVMTI_ERROR_NONE)
        return false;
    if (module == NULL)
        return true;
    jclass root = loader_root_class(jni, (*jni)->GetObjectClass(jni, about->loader));
    jmethodID get = (*jni)->GetMethodID(jni, root, "getUnnamedModule", "()Ljava/lang/Module;");
    jobject unnamed = get == NULL ? NULL : (*jni)->CallObjectMethod(jni, about->loader, get);
    return unnamed != NULL && (*jvmti)->AddModuleReads(jvmti, module, unnamed) == JVMTI_ERROR_NONE;
}

static enum loaders_way find_way(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about)
{
    enum loaders_way way = is_guarded(jni) ? LOADERS_NONE : way_of_loader(jvmti, jni, about->loader);
    if (way == LOADERS_OWN && (!has_own(jvmti, jni, about, AGENT_OWN_PROBE_CLASS, -1) || !lets_read(jvmti, jni, about)))
        way = LOADERS_NONE;
    return way;
}

enum loaders_way loaders_way(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about)
{
    enum loaders_way way = LOADERS_NONE;
    if (about->loader == NULL)
        return LOADERS_BOOT;
    if ((*jni)->PushLocalFrame(jni, LOCAL_REFS) == 0) {
        way = find_way(jvmti, jni, about);
        (*jni)->ExceptionClear(jni);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    (*jni)->ExceptionClear(jni);
    return way;
}

int loaders_flag(jvmtiEnv *jvmti, JNIEnv *jni, const struct loaders_class *about, uint32_t id,
                 struct rewrite_flag *flag)
{
    uint32_t block = id / CLASSES_FLAGS_PER_BLOCK;
    flag->index = (int16_t)(id % CLASSES_FLAGS_PER_BLOCK);
    snprintf(flag->class_name, sizeof flag->class_name, "%s%u", AGENT_OWN_FLAGS_CLASS, block);
    snprintf(flag->field_name, sizeof flag->field_name, "%s", AGENT_OWN_FLAGS_FIELD);
    return classes_flags(jni, block) != NULL && has_own(jvmti, jni, about, flag->class_name, (int)block) ? 0 : -1;
}

__attribute__((visibility("default"))) JNIEXPORT jintArray JNICALL Java_mmprof_Probe_flags0(JNIEnv *jni, jclass probe,
                                                                                            jint block);

/* The JVM finds it by name, when a class of flags is initialized. */
jintArray JNICALL Java_mmprof_Probe_flags0(JNIEnv *jni, jclass probe, jint block)
{
    (void)probe;
    jintArray flags = classes_flags(jni, (uint32_t)block);
    return flags == NULL ? NULL : (*jni)->NewLocalRef(jni, flags);
}
