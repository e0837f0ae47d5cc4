/*
 * The classes that rewritten code refers to, made here as bytes, defined into the bootstrap loader.
 *
 * They are in package java.lang because class loaders of any kind find that one (those of OSGi find nothing else of
 * the bootstrap loader).  The native methods are found by their exported names, among the libraries of loaded agents:
 * RegisterNatives would print a warning on the target's output.  The version is Java 5's: no stack maps are needed.
 *
 *     public final class MmprofProbe {
 *         public static int enter(int token) { return token != 0 ? enter0(token) : 0; }
 *         public static void exit(int token) { if (token != 0) exit0(token); }
 *         public static void unwind(int token) { if (token != 0) unwind0(token); }
 *         public static void caught(int token) { if (token != 0) caught0(token); }
 *         public static void calibrate(int token, int n) { for (; n > 0; n--) exit(enter(token)); }
 *         private static native int enter0(int token); ...
 *     }
 *     public final class MmprofGate7 { public static int g0, g1, ... g255; }
 */
#include "core/agent/agent.h"
#include "core/base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACC_PUBLIC 0x0001
#define ACC_STATIC 0x0008
#define ACC_FINAL  0x0010
#define ACC_SUPER  0x0020
#define ACC_NATIVE 0x0100

#define CLASS_VERSION   49
#define CLASS_MAX_BYTES 16384

/* ---- building a class file: the pool and what follows it grow in two sinks ---- */

struct builder {
    uint8_t pool_bytes[CLASS_MAX_BYTES], body_bytes[CLASS_MAX_BYTES];
    struct sink pool, body;
    uint16_t n_pool;
};

static void builder_init(struct builder *b)
{
    b->pool = sink_into(b->pool_bytes, sizeof b->pool_bytes);
    b->body = sink_into(b->body_bytes, sizeof b->body_bytes);
    b->n_pool = 1;
}

static uint16_t pool_utf8(struct builder *b, const char *text)
{
    sink_u8(&b->pool, 1);
    sink_u16be(&b->pool, (uint16_t)strlen(text));
    sink_bytes(&b->pool, text, strlen(text));
    return b->n_pool++;
}

static uint16_t pool_class(struct builder *b, const char *name)
{
    uint16_t utf8 = pool_utf8(b, name);
    sink_u8(&b->pool, 7);
    sink_u16be(&b->pool, utf8);
    return b->n_pool++;
}

static uint16_t pool_method(struct builder *b, uint16_t class_index, uint16_t name, uint16_t descriptor)
{
    sink_u8(&b->pool, 12);
    sink_u16be(&b->pool, name);
    sink_u16be(&b->pool, descriptor);
    uint16_t name_and_type = b->n_pool++;
    sink_u8(&b->pool, 10);
    sink_u16be(&b->pool, class_index);
    sink_u16be(&b->pool, name_and_type);
    return b->n_pool++;
}

/* The whole class file; 0 when it did not fit. */
static size_t builder_finish(const struct builder *b, uint8_t *out, size_t n)
{
    struct sink s = sink_into(out, n);
    sink_u32be(&s, 0xcafebabe);
    sink_u16be(&s, 0);
    sink_u16be(&s, CLASS_VERSION);
    sink_u16be(&s, b->n_pool);
    sink_bytes(&s, b->pool_bytes, (size_t)(b->pool.at - b->pool_bytes));
    sink_bytes(&s, b->body_bytes, (size_t)(b->body.at - b->body_bytes));
    return s.full || b->pool.full || b->body.full ? 0 : (size_t)(s.at - out);
}

static void class_head(struct builder *b, uint16_t this_class, uint16_t super_class, uint16_t n_fields)
{
    sink_u16be(&b->body, ACC_PUBLIC | ACC_FINAL | ACC_SUPER);
    sink_u16be(&b->body, this_class);
    sink_u16be(&b->body, super_class);
    sink_u16be(&b->body, 0); /* interfaces */
    sink_u16be(&b->body, n_fields);
}

struct method_text {
    uint16_t flags;
    const char *name, *descriptor;
    uint8_t code[24];
    uint8_t n_code;
    /* Where the code calls which method of the table below: the operand is filled in. */
    struct {
        uint8_t at, method;
    } calls[2];
    uint8_t n_calls;
};

#define M_ENTER0  0
#define M_EXIT0   1
#define M_UNWIND0 2
#define M_CAUGHT0 3
#define M_ENTER   4
#define M_EXIT    5

static const struct method_text probe_methods[] = {
    { ACC_NATIVE, "enter0", "(I)I", { 0 }, 0, { { 0, 0 } }, 0 },
    { ACC_NATIVE, "exit0", "(I)V", { 0 }, 0, { { 0, 0 } }, 0 },
    { ACC_NATIVE, "unwind0", "(I)V", { 0 }, 0, { { 0, 0 } }, 0 },
    { ACC_NATIVE, "caught0", "(I)V", { 0 }, 0, { { 0, 0 } }, 0 },
    /* iload_0; ifeq 9; iload_0; invokestatic enter0; ireturn; 9: iconst_0; ireturn */
    { 0, "enter", "(I)I", { 0x1a, 0x99, 0, 8, 0x1a, 0xb8, 0, 0, 0xac, 0x03, 0xac }, 11, { { 6, M_ENTER0 } }, 1 },
    /* iload_0; ifeq 8; iload_0; invokestatic exit0; 8: return */
    { 0, "exit", "(I)V", { 0x1a, 0x99, 0, 7, 0x1a, 0xb8, 0, 0, 0xb1 }, 9, { { 6, M_EXIT0 } }, 1 },
    { 0, "unwind", "(I)V", { 0x1a, 0x99, 0, 7, 0x1a, 0xb8, 0, 0, 0xb1 }, 9, { { 6, M_UNWIND0 } }, 1 },
    { 0, "caught", "(I)V", { 0x1a, 0x99, 0, 7, 0x1a, 0xb8, 0, 0, 0xb1 }, 9, { { 6, M_CAUGHT0 } }, 1 },
    /* 0: iload_1; ifle 17; iload_0; invokestatic enter; invokestatic exit; iinc 1 -1; goto 0; 17: return */
    { 0,
      "calibrate",
      "(II)V",
      { 0x1b, 0x9e, 0, 16, 0x1a, 0xb8, 0, 0, 0xb8, 0, 0, 0x84, 1, 0xff, 0xa7, 0xff, 0xf2, 0xb1 },
      18,
      { { 6, M_ENTER }, { 9, M_EXIT } },
      2 },
};

#define N_PROBE_METHODS (sizeof probe_methods / sizeof *probe_methods)

static void put_code(struct builder *b, const struct method_text *method, uint16_t code_name, const uint16_t *refs)
{
    uint8_t code[sizeof method->code];
    memcpy(code, method->code, sizeof code);
    for (size_t i = 0; i < method->n_calls; i++) {
        code[method->calls[i].at] = (uint8_t)(refs[method->calls[i].method] >> 8);
        code[method->calls[i].at + 1] = (uint8_t)refs[method->calls[i].method];
    }
    sink_u16be(&b->body, 1); /* attributes */
    sink_u16be(&b->body, code_name);
    sink_u32be(&b->body, 12u + method->n_code);
    sink_u16be(&b->body, 1); /* max_stack */
    sink_u16be(&b->body, 2); /* max_locals */
    sink_u32be(&b->body, method->n_code);
    sink_bytes(&b->body, code, method->n_code);
    sink_u16be(&b->body, 0); /* exception table */
    sink_u16be(&b->body, 0); /* attributes */
}

static size_t probe_class_bytes(uint8_t *out, size_t n)
{
    static struct builder b; /* one caller, once */
    uint16_t names[N_PROBE_METHODS], descriptors[N_PROBE_METHODS], refs[N_PROBE_METHODS];
    builder_init(&b);
    uint16_t this_class = pool_class(&b, AGENT_PROBE_CLASS), super_class = pool_class(&b, "java/lang/Object");
    uint16_t code_name = pool_utf8(&b, "Code");
    for (size_t i = 0; i < N_PROBE_METHODS; i++) {
        names[i] = pool_utf8(&b, probe_methods[i].name);
        descriptors[i] = pool_utf8(&b, probe_methods[i].descriptor);
        refs[i] = pool_method(&b, this_class, names[i], descriptors[i]);
    }
    class_head(&b, this_class, super_class, 0);
    sink_u16be(&b.body, N_PROBE_METHODS);
    for (size_t i = 0; i < N_PROBE_METHODS; i++) {
        sink_u16be(&b.body, (uint16_t)(ACC_PUBLIC | ACC_STATIC | probe_methods[i].flags));
        sink_u16be(&b.body, names[i]);
        sink_u16be(&b.body, descriptors[i]);
        if (probe_methods[i].flags & ACC_NATIVE)
            sink_u16be(&b.body, 0);
        else
            put_code(&b, &probe_methods[i], code_name, refs);
    }
    sink_u16be(&b.body, 0); /* class attributes */
    return builder_finish(&b, out, n);
}

static size_t gate_class_bytes(struct builder *b, const char *name, uint8_t *out, size_t n)
{
    builder_init(b);
    uint16_t this_class = pool_class(b, name), super_class = pool_class(b, "java/lang/Object");
    uint16_t descriptor = pool_utf8(b, "I");
    class_head(b, this_class, super_class, CLASSES_GATES_PER_CLASS);
    for (uint32_t i = 0; i < CLASSES_GATES_PER_CLASS; i++) {
        char field[16];
        snprintf(field, sizeof field, "g%u", i);
        sink_u16be(&b->body, ACC_PUBLIC | ACC_STATIC);
        sink_u16be(&b->body, pool_utf8(b, field));
        sink_u16be(&b->body, descriptor);
        sink_u16be(&b->body, 0);
    }
    sink_u16be(&b->body, 0); /* methods */
    sink_u16be(&b->body, 0); /* class attributes */
    return builder_finish(b, out, n);
}

/* ---- defining them ---- */

static jclass probe_class; /* a global reference, kept for ever */

struct gate_class {
    jclass class_ref; /* a global reference; NULL: not made yet */
    jfieldID fields[CLASSES_GATES_PER_CLASS];
};

#define MAX_GATE_CLASSES ((RING_METHOD_MAX + 1) / CLASSES_GATES_PER_CLASS)

static struct {
    pthread_mutex_t lock;
    struct gate_class *classes[MAX_GATE_CLASSES]; /* owned; kept for ever, like the classes */
    uint32_t epoch;
} gates = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Atomic uint32_t disarmed[(RING_METHOD_MAX + 1) / 32]; /* a bit for each method */

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
static bool link_natives(JNIEnv *jni)
{
    static const char *const names[][2] = {
        { "enter0", "(I)I" }, { "exit0", "(I)V" }, { "unwind0", "(I)V" }, { "caught0", "(I)V" }
    };
    const jint token = (jint)agent_token(AGENT_EPOCH_MAX, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        jmethodID method = (*jni)->GetStaticMethodID(jni, probe_class, names[i][0], names[i][1]);
        if (method == NULL)
            return false;
        if (names[i][1][3] == 'I')
            (*jni)->CallStaticIntMethod(jni, probe_class, method, token);
        else
            (*jni)->CallStaticVoidMethod(jni, probe_class, method, token);
        if ((*jni)->ExceptionCheck(jni))
            return false;
    }
    return true;
}

int classes_define_probe(JNIEnv *jni, struct err *err)
{
    uint8_t bytes[4096];
    if (probe_class != NULL)
        return 0;
    probe_class = define(jni, AGENT_PROBE_CLASS, bytes, probe_class_bytes(bytes, sizeof bytes));
    if (probe_class == NULL)
        return err_set(err, "the JVM refuses the class %s", AGENT_PROBE_CLASS);
    if (!link_natives(jni)) {
        (*jni)->ExceptionClear(jni);
        return err_set(err, "the JVM does not find the native methods of %s", AGENT_PROBE_CLASS);
    }
    return 0;
}

jclass classes_probe(void)
{
    return probe_class;
}

static void arm(JNIEnv *jni, const struct gate_class *gate, uint32_t i, uint32_t epoch)
{
    for (uint32_t k = 0; k < CLASSES_GATES_PER_CLASS; k++) {
        uint32_t token = epoch == 0 ? 0 : agent_token(epoch, i * CLASSES_GATES_PER_CLASS + k);
        (*jni)->SetStaticIntField(jni, gate->class_ref, gate->fields[k], (jint)token);
    }
}

static struct gate_class *make_gate_class(JNIEnv *jni, const char *name)
{
    struct builder *b = malloc(sizeof *b);
    uint8_t *bytes = malloc(CLASS_MAX_BYTES);
    struct gate_class *gate = calloc(1, sizeof *gate);
    if (b != NULL && bytes != NULL && gate != NULL)
        gate->class_ref = define(jni, name, bytes, gate_class_bytes(b, name, bytes, CLASS_MAX_BYTES));
    free(b);
    free(bytes);
    bool whole = gate != NULL && gate->class_ref != NULL;
    for (uint32_t k = 0; whole && k < CLASSES_GATES_PER_CLASS; k++) {
        char field[16];
        snprintf(field, sizeof field, "g%u", k);
        gate->fields[k] = (*jni)->GetStaticFieldID(jni, gate->class_ref, field, "I");
        whole = gate->fields[k] != NULL;
    }
    if (whole)
        return gate;
    (*jni)->ExceptionClear(jni);
    free(gate);
    return NULL;
}

int classes_gate(JNIEnv *jni, uint32_t id, struct rewrite_gate *gate)
{
    uint32_t i = id / CLASSES_GATES_PER_CLASS;
    if (i >= MAX_GATE_CLASSES)
        return -1;
    snprintf(gate->class_name, sizeof gate->class_name, "%s%u", AGENT_GATE_CLASS, i);
    snprintf(gate->field_name, sizeof gate->field_name, "g%u", id % CLASSES_GATES_PER_CLASS);
    pthread_mutex_lock(&gates.lock);
    if (gates.classes[i] == NULL) {
        gates.classes[i] = make_gate_class(jni, gate->class_name);
        if (gates.classes[i] != NULL && gates.epoch != 0)
            arm(jni, gates.classes[i], i, gates.epoch);
    }
    int rc = gates.classes[i] == NULL ? -1 : 0;
    pthread_mutex_unlock(&gates.lock);
    return rc;
}

static void note_gate(uint32_t id, bool armed)
{
    uint32_t bit = 1u << id % 32;
    if (id <= RING_METHOD_MAX && armed)
        atomic_fetch_and_explicit(&disarmed[id / 32], ~bit, memory_order_relaxed);
    else if (id <= RING_METHOD_MAX)
        atomic_fetch_or_explicit(&disarmed[id / 32], bit, memory_order_relaxed);
}

bool classes_is_armed(uint32_t id)
{
    return id <= RING_METHOD_MAX &&
           (atomic_load_explicit(&disarmed[id / 32], memory_order_relaxed) & 1u << id % 32) == 0;
}

void classes_arm_all(JNIEnv *jni, uint32_t epoch)
{
    pthread_mutex_lock(&gates.lock);
    gates.epoch = epoch;
    for (size_t i = 0; i < sizeof disarmed / sizeof *disarmed; i++)
        if (atomic_load_explicit(&disarmed[i], memory_order_relaxed) != 0)
            atomic_store_explicit(&disarmed[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < MAX_GATE_CLASSES; i++)
        if (gates.classes[i] != NULL)
            arm(jni, gates.classes[i], i, epoch);
    pthread_mutex_unlock(&gates.lock);
}

void classes_arm(JNIEnv *jni, uint32_t id, bool armed)
{
    uint32_t i = id / CLASSES_GATES_PER_CLASS, k = id % CLASSES_GATES_PER_CLASS;
    pthread_mutex_lock(&gates.lock);
    note_gate(id, armed);
    if (i < MAX_GATE_CLASSES && gates.classes[i] != NULL && gates.epoch != 0)
        (*jni)->SetStaticIntField(jni, gates.classes[i]->class_ref, gates.classes[i]->fields[k],
                                  armed ? (jint)agent_token(gates.epoch, id) : 0);
    pthread_mutex_unlock(&gates.lock);
}
