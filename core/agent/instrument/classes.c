/*
 * The classes that rewritten code refers to, and the flags in them.  They are defined into the bootstrap loader; class
 * loaders that need not know these have their own (loaders.c), with flags in arrays that all of them share.
 *
 * The native methods are found by their exported names, among the libraries of loaded agents: RegisterNatives would
 * print a warning on the target's output.
 */
#include "core/agent/instrument/instrument_state.h"

/* ---- defining them ---- */

struct instrumenting instrumenting = { .flags.lock = PTHREAD_MUTEX_INITIALIZER,
                                       .hook.lock = PTHREAD_MUTEX_INITIALIZER,
                                       .methods.lock = PTHREAD_MUTEX_INITIALIZER,
                                       .checks = { .archive_once = PTHREAD_ONCE_INIT,
                                                   .fields_once = PTHREAD_ONCE_INIT } };

static struct class_flags *const flags = &instrumenting.flags;

static jclass define(JNIEnv *jni, const char *name, const uint8_t *bytes, size_t n)
{
    jclass local = n == 0 ? NULL : (*jni)->DefineClass(jni, name, NULL, (const jbyte *)bytes, (jsize)n);
    (*jni)->ExceptionClear(jni);
    if (local == NULL)
        return NULL;
    jclass global = (*jni)->NewGlobalRef(jni, local);
    (*jni)->DeleteLocalRef(jni, local);
    return global;
}

/*
 * The native methods are linked when they are first called: here, before any thread of the application does.  No
 * session has the token's epoch: nothing is recorded.
 */
bool classes_link_natives(JNIEnv *jni, jclass probe)
{
    static const struct {
        const char *name, *descriptor;
    } natives[] = { { "enter0", "(I)I" },
                    { "exit0", "(I)V" },
                    { "unwind0", "(I)V" },
                    { "caught0", "(I)V" },
                    { "object0", "(ILjava/lang/Object;)I" },
                    { "integer0", "(IJ)I" },
                    { "real0", "(ID)I" } };
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++) {
        const jvalue arguments[2] = { { .i = (jint)agent_token(AGENT_EPOCH_MAX, 0) }, { .j = 0 } };
        jmethodID method = (*jni)->GetStaticMethodID(jni, probe, natives[i].name, natives[i].descriptor);
        if (method == NULL)
            return false;
        if (strchr(natives[i].descriptor, 'V') == NULL)
            (*jni)->CallStaticIntMethodA(jni, probe, method, arguments);
        else
            (*jni)->CallStaticVoidMethodA(jni, probe, method, arguments);
        if ((*jni)->ExceptionCheck(jni))
            return false;
    }
    return true;
}

int classes_define_probe(JNIEnv *jni, struct err *err)
{
    uint8_t *bytes = malloc(CLASS_BYTES_MAX);
    if (flags->probe_class == NULL && bytes != NULL)
        flags->probe_class = define(jni, AGENT_PROBE_CLASS, bytes, class_bytes_probe(bytes));
    free(bytes);
    if (flags->probe_class == NULL)
        return err_set(err, "the JVM refuses the class %s", AGENT_PROBE_CLASS);
    if (!classes_link_natives(jni, flags->probe_class)) {
        (*jni)->ExceptionClear(jni);
        return err_set(err, "the JVM does not find the native methods of %s", AGENT_PROBE_CLASS);
    }
    return 0;
}

jclass classes_probe(void)
{
    return flags->probe_class;
}

static void enable(JNIEnv *jni, const struct flag_class *flag, uint32_t i, uint32_t epoch)
{
    for (uint32_t k = 0; k < CLASSES_FLAGS_PER_CLASS; k++) {
        uint32_t token = epoch == 0 ? 0 : agent_token(epoch, i * CLASSES_FLAGS_PER_CLASS + k);
        (*jni)->SetStaticIntField(jni, flag->class_ref, flag->fields[k], (jint)token);
    }
}

static struct flag_class *make_flag_class(JNIEnv *jni, const char *name)
{
    uint8_t *bytes = malloc(CLASS_BYTES_MAX);
    struct flag_class *flag = calloc(1, sizeof *flag);
    if (bytes != NULL && flag != NULL)
        flag->class_ref = define(jni, name, bytes, class_bytes_flags(name, bytes));
    free(bytes);
    bool whole = flag != NULL && flag->class_ref != NULL;
    for (uint32_t k = 0; whole && k < CLASSES_FLAGS_PER_CLASS; k++) {
        char field[16];
        snprintf(field, sizeof field, "g%u", k);
        flag->fields[k] = (*jni)->GetStaticFieldID(jni, flag->class_ref, field, "I");
        whole = flag->fields[k] != NULL;
    }
    if (whole)
        return flag;
    (*jni)->ExceptionClear(jni);
    free(flag);
    return NULL;
}

int classes_flag(JNIEnv *jni, uint32_t id, struct rewrite_flag *flag)
{
    uint32_t i = id / CLASSES_FLAGS_PER_CLASS;
    if (i >= MAX_FLAG_CLASSES)
        return -1;
    flag->index = REWRITE_FLAG_FIELD;
    snprintf(flag->class_name, sizeof flag->class_name, "%s%u", AGENT_FLAG_CLASS, i);
    snprintf(flag->field_name, sizeof flag->field_name, "g%u", id % CLASSES_FLAGS_PER_CLASS);
    pthread_mutex_lock(&flags->lock);
    if (flags->classes[i] == NULL) {
        flags->classes[i] = make_flag_class(jni, flag->class_name);
        if (flags->classes[i] != NULL && flags->epoch != 0)
            enable(jni, flags->classes[i], i, flags->epoch);
    }
    int rc = flags->classes[i] == NULL ? -1 : 0;
    pthread_mutex_unlock(&flags->lock);
    return rc;
}

static void enable_block(JNIEnv *jni, uint32_t block, uint32_t epoch)
{
    jint tokens[256] = { 0 };
    const uint32_t n = sizeof tokens / sizeof *tokens;
    for (uint32_t k = 0; k < CLASSES_FLAGS_PER_BLOCK; k += n) {
        for (uint32_t i = 0; i < n && epoch != 0; i++)
            tokens[i] = (jint)agent_token(epoch, block * CLASSES_FLAGS_PER_BLOCK + k + i);
        (*jni)->SetIntArrayRegion(jni, flags->blocks[block], (jsize)k, (jsize)n, tokens);
    }
}

static jintArray make_block(JNIEnv *jni)
{
    jintArray local = (*jni)->NewIntArray(jni, CLASSES_FLAGS_PER_BLOCK), global = NULL;
    (*jni)->ExceptionClear(jni);
    if (local != NULL)
        global = (*jni)->NewGlobalRef(jni, local);
    (*jni)->DeleteLocalRef(jni, local);
    return global;
}

jintArray classes_flags(JNIEnv *jni, uint32_t block)
{
    if (block >= MAX_BLOCKS)
        return NULL;
    pthread_mutex_lock(&flags->lock);
    if (flags->blocks[block] == NULL) {
        flags->blocks[block] = make_block(jni);
        if (flags->blocks[block] != NULL && flags->epoch != 0)
            enable_block(jni, block, flags->epoch);
    }
    jintArray array = flags->blocks[block];
    pthread_mutex_unlock(&flags->lock);
    return array;
}

static void note_flag(uint32_t id, bool enabled)
{
    uint32_t bit = 1u << id % 32;
    if (id <= RING_METHOD_MAX && enabled)
        atomic_fetch_and_explicit(&flags->disabled[id / 32], ~bit, memory_order_relaxed);
    else if (id <= RING_METHOD_MAX)
        atomic_fetch_or_explicit(&flags->disabled[id / 32], bit, memory_order_relaxed);
}

bool classes_is_enabled(uint32_t id)
{
    return id <= RING_METHOD_MAX &&
           (atomic_load_explicit(&flags->disabled[id / 32], memory_order_relaxed) & 1u << id % 32) == 0;
}

void classes_enable_all(JNIEnv *jni, uint32_t epoch)
{
    pthread_mutex_lock(&flags->lock);
    flags->epoch = epoch;
    for (size_t i = 0; i < sizeof flags->disabled / sizeof *flags->disabled; i++)
        if (atomic_load_explicit(&flags->disabled[i], memory_order_relaxed) != 0)
            atomic_store_explicit(&flags->disabled[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < MAX_FLAG_CLASSES; i++)
        if (flags->classes[i] != NULL)
            enable(jni, flags->classes[i], i, epoch);
    for (uint32_t i = 0; i < MAX_BLOCKS; i++)
        if (flags->blocks[i] != NULL)
            enable_block(jni, i, epoch);
    pthread_mutex_unlock(&flags->lock);
}

void classes_enable(JNIEnv *jni, uint32_t id, bool enabled)
{
    uint32_t i = id / CLASSES_FLAGS_PER_CLASS, k = id % CLASSES_FLAGS_PER_CLASS;
    uint32_t block = id / CLASSES_FLAGS_PER_BLOCK, at = id % CLASSES_FLAGS_PER_BLOCK;
    pthread_mutex_lock(&flags->lock);
    jint token = enabled ? (jint)agent_token(flags->epoch, id) : 0;
    note_flag(id, enabled);
    if (i < MAX_FLAG_CLASSES && flags->classes[i] != NULL && flags->epoch != 0)
        (*jni)->SetStaticIntField(jni, flags->classes[i]->class_ref, flags->classes[i]->fields[k], token);
    if (block < MAX_BLOCKS && flags->blocks[block] != NULL && flags->epoch != 0)
        (*jni)->SetIntArrayRegion(jni, flags->blocks[block], (jsize)at, 1, &token);
    pthread_mutex_unlock(&flags->lock);
}
