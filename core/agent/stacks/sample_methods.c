#include "core/agent/rewrite/rewrite_parts.h"
#include "core/agent/stacks/sample_parts.h"
#include "core/base/hash.h"

#include "core/agent/codecache/vm_structs.h"
#include "core/agent/instrument/methods.h"
#include "core/hotspot/vm_counts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INLINED_BYTES 325 /* FreqInlineSize */
#define TIER_FOR_GOOD 4   /* of code for methods that were called 5000 times; compiled at all: 200 */
#define CALLS_COUNTED 200
#define KNOWN_NS      UINT64_C(3000000000) /* of the JVM's CPU time: 5000 calls of a twentieth of it took 30 us each, */
#define KNOWN_SOON_NS UINT64_C(200000000)  /* and 200 calls here 50 us */
#define SELDOM_BYTES  UINT32_MAX

struct sample_method_slot {
    jmethodID method;  /* NULL: free */
    bool is_described; /* else it has been named only */
    struct sample_frame frame;
};

/* ---- what a method is ---- */

/* Loops and calls, from the bytecode; both when it cannot be had. */
static uint32_t code_flags(jvmtiEnv *jvmti, jmethodID method, uint32_t *code_bytes)
{
    jint n = 0;
    unsigned char *code = NULL;
    uint32_t flags = SAMPLE_HAS_LOOP | SAMPLE_HAS_CALLS;
    if ((*jvmti)->GetBytecodes(jvmti, method, &n, &code) != JVMTI_ERROR_NONE || code == NULL)
        return flags;
    struct span span = { code, n > 0 ? (size_t)n : 0 };
    uint8_t *starts = calloc(span.n + 1, 1);
    bool has_loop = false, has_calls = false;
    if (starts != NULL && layout_scan(span, starts, &has_loop) == REWRITE_DONE) {
        for (size_t at = 0; at < span.n && !has_calls; at++)
            has_calls = starts[at] != 0 && code[at] >= OP_INVOKEVIRTUAL && code[at] <= OP_INVOKEDYNAMIC;
        flags = (has_loop ? SAMPLE_HAS_LOOP : 0u) | (has_calls ? SAMPLE_HAS_CALLS : 0u);
    }
    *code_bytes = (uint32_t)span.n;
    free(starts);
    (*jvmti)->Deallocate(jvmti, code);
    return flags;
}

/*
 * Small methods without loops are called often, as a rule.  But one that calls others, and that C2 has not compiled yet
 * where the program has worked for a while, was called less than 5000 times, and one that is interpreted, where calls
 * are counted, less than 200 times: it may be what a loop calls for a phase.
 */
static bool is_seldom_called(jmethodID id, const struct sample_method *method)
{
    struct timespec used;
    if ((method->flags & SAMPLE_HAS_CALLS) == 0 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
        return false;
    uint64_t ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
    uint32_t tier = vm_structs_code_tier(id, method->code_bytes), calls = vm_structs_calls(id, method->code_bytes);
    return tier == 0 ? calls > 0 && calls < CALLS_COUNTED && ns >= KNOWN_SOON_NS
                     : tier < TIER_FOR_GOOD && ns >= KNOWN_NS;
}

static bool is_wanted(jvmtiEnv *jvmti, jclass class_ref, jmethodID id, const struct sample_method *method)
{
    const struct rewrite_method about = { .class_name = { method->class_name.at, method->class_name.n },
                                          .name = { method->name.at, method->name.n },
                                          .descriptor = { method->descriptor.at, method->descriptor.n },
                                          .code_bytes =
                                              is_seldom_called(id, method) ? SELDOM_BYTES : method->code_bytes,
                                          .has_loop = (method->flags & SAMPLE_HAS_LOOP) != 0 };
    jboolean modifiable = JNI_FALSE;
    return (*jvmti)->IsModifiableClass(jvmti, class_ref, &modifiable) == JVMTI_ERROR_NONE && modifiable &&
           methods_may_want(&about);
}

/* "Ljava/lang/String;" without its frame. */
static struct wire_text class_text(const char *signature)
{
    size_t n = strlen(signature);
    struct wire_text text = { signature, n };
    if (n > 2 && signature[0] == 'L')
        text = (struct wire_text){ signature + 1, n - 2 };
    return text;
}

/*
 * A method whose class was unloaded meanwhile has no name any more.  Its code is looked at if that is wanted: this
 * takes ten times as long as its name.  Fills in what *frame has of it.
 */
static void describe(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id, bool with_code, struct sink *out,
                     struct sample_frame *frame)
{
    char *name = NULL, *descriptor = NULL, *signature = NULL;
    jclass class_ref = NULL;
    jboolean native = JNI_FALSE;
    struct sample_method method = { .number = frame->method, .class_name = { "?", 1 }, .name = { "?", 1 } };
    if ((*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodDeclaringClass(jvmti, id, &class_ref) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE) {
        method.class_name = class_text(signature);
        method.name = (struct wire_text){ name, strlen(name) };
        method.descriptor = (struct wire_text){ descriptor, strlen(descriptor) };
        if (with_code)
            (*jvmti)->IsMethodNative(jvmti, id, &native);
        method.flags = !with_code ? 0 : native ? SAMPLE_IS_NATIVE : code_flags(jvmti, id, &method.code_bytes);
        if (with_code && !native && is_wanted(jvmti, class_ref, id, &method))
            method.flags |= SAMPLE_IS_WANTED;
    }
    frame->code_bytes = method.code_bytes;
    frame->has_loop = method.code_bytes > 0 && (method.flags & SAMPLE_HAS_LOOP) != 0;
    frame->is_straight = method.code_bytes > 0 && (method.flags & SAMPLE_HAS_LOOP) == 0;
    frame->is_small = frame->is_straight && method.code_bytes <= INLINED_BYTES;
    frame->class_key = hash_text(HASH_START, method.class_name.at, method.class_name.n);
    samples_put_method(out, &method);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, class_ref);
}

/* ---- the table ---- */

static struct sample_method_slot *find(const struct sample_methods *methods, jmethodID method)
{
    uint64_t hash = (uint64_t)(uintptr_t)method * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> 32) & (methods->n_slots - 1);
    while (methods->slots[i].method != NULL && methods->slots[i].method != method)
        i = (i + 1) & (methods->n_slots - 1);
    return &methods->slots[i];
}

static bool grow(struct sample_methods *methods)
{
    struct sample_methods more = { NULL, methods->n_slots == 0 ? 1024 : methods->n_slots * 2, methods->n_used };
    more.slots = calloc(more.n_slots, sizeof *more.slots);
    if (more.slots == NULL)
        return false;
    for (uint32_t i = 0; i < methods->n_slots; i++)
        if (methods->slots[i].method != NULL)
            *find(&more, methods->slots[i].method) = methods->slots[i];
    free(methods->slots);
    *methods = more;
    return true;
}

int sample_methods_number(struct sample_methods *methods, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method,
                          struct sink *out, struct sample_frame *frame)
{
    if (methods->n_used * 2 >= methods->n_slots && !grow(methods))
        return -1;
    struct sample_method_slot *slot = find(methods, method);
    if (slot->method != NULL && !slot->is_described) {
        describe(jvmti, jni, method, true, out, &slot->frame);
        slot->is_described = true;
    }
    if (slot->method == NULL && methods->n_used == SAMPLES_MAX_METHODS)
        return -1;
    if (slot->method == NULL) {
        *slot = (struct sample_method_slot){ .method = method, .frame.method = methods->n_used++ };
        describe(jvmti, jni, method, false, out, &slot->frame);
    }
    *frame = slot->frame;
    return (int)frame->method;
}

void sample_methods_free(struct sample_methods *methods)
{
    free(methods->slots);
    memset(methods, 0, sizeof *methods);
}
