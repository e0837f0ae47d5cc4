#include "core/agent/stacks/stacks.h"

#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_methods.h"
#include "core/agent/control/method_names.h"
#include "core/base/vec.h"

struct polled_method {
    jmethodID method;
    uint32_t code_bytes;
    uint32_t n_seen, told_at; /* times on a stack; when its counts are told next */
};

/* Without them a method counts as one with loops and calls. */
void poll_methods_prepare(jvmtiEnv *jvmti)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_bytecodes = wanted.can_get_line_numbers = wanted.can_get_source_file_name = 1;
    (*jvmti)->AddCapabilities(jvmti, &wanted);
}

/* ---- what a method is ---- */

/* Owned by JVMTI. */
struct description {
    struct method_names names;
    char *source;
    unsigned char *code;
    jvmtiLineNumberEntry *entries;
    jint n_code, n_lines;
    jboolean is_native, can_change;
    struct code_line lines[CODE_LINES_MAX];
};

static void free_description(jvmtiEnv *jvmti, JNIEnv *jni, struct description *d)
{
    method_names_free(jvmti, jni, &d->names);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)d->source);
    (*jvmti)->Deallocate(jvmti, d->code);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)d->entries);
    free(d);
}

/* Its class may have been unloaded meanwhile: then it has no name any more. */
static void ask(jvmtiEnv *jvmti, jmethodID id, struct description *d)
{
    if (!method_names_get(jvmti, id, &d->names))
        return;
    (*jvmti)->GetSourceFileName(jvmti, d->names.class_ref, &d->source);
    (*jvmti)->IsMethodNative(jvmti, id, &d->is_native);
    (*jvmti)->IsModifiableClass(jvmti, d->names.class_ref, &d->can_change);
    if ((*jvmti)->GetBytecodes(jvmti, id, &d->n_code, &d->code) != JVMTI_ERROR_NONE)
        d->n_code = 0;
    if ((*jvmti)->GetLineNumberTable(jvmti, id, &d->n_lines, &d->entries) != JVMTI_ERROR_NONE)
        d->n_lines = 0;
    for (jint i = 0; i < d->n_lines && i < (jint)CODE_LINES_MAX; i++)
        d->lines[i] = (struct code_line){ (uint32_t)d->entries[i].start_location & 0xffff,
                                          (uint32_t)d->entries[i].line_number & 0xffff };
    method_names_take_calls(d->names.class_ref, d->source, d->lines,
                            (uint32_t)(d->n_lines < (jint)CODE_LINES_MAX ? d->n_lines : (jint)CODE_LINES_MAX));
}

/* Returns the bytes of its bytecode; 0: none are known. */
static uint32_t describe(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id, uint32_t number, struct sink *out)
{
    struct poll_method method = { .number = number, .class_name = { "?", 1 }, .name = { "?", 1 } };
    struct description *d = malloc(sizeof *d);
    if (d != NULL) {
        memset(d, 0, offsetof(struct description, lines));
        ask(jvmti, id, d);
    }
    if (d != NULL && d->names.signature != NULL) {
        method.class_name = d->names.class_name;
        method.name = wire_text(d->names.name);
        method.descriptor = wire_text(d->names.descriptor);
        method.source = wire_text(d->source == NULL ? "" : d->source);
        method.code = (struct wire_text){ (const char *)d->code, (size_t)d->n_code };
        method.lines = d->lines;
        method.n_lines = d->n_lines < (jint)CODE_LINES_MAX ? (uint32_t)d->n_lines : CODE_LINES_MAX;
        method.flags = (d->is_native ? POLL_IS_NATIVE : 0u) | (d->can_change ? 0u : POLL_IS_FIXED);
    }
    poll_log_put_method(out, &method);
    if (d != NULL)
        free_description(jvmti, jni, d);
    return (uint32_t)method.code.n;
}

/* ---- the table ---- */

/* Not each time: it takes some microseconds. */
static void tell_counts(struct polled_method *known, uint32_t number, struct sink *out)
{
    struct poll_counts counts = { .number = number };
    vm_id_counts(own_vm(), known->method, known->code_bytes, &counts.calls, &counts.tier);
    known->told_at = 2 * known->n_seen;
    poll_log_put_counts(out, &counts);
}

int poll_methods_number(struct poll_methods *methods, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, struct sink *out)
{
    struct hash_slot *slot = hash_put(&methods->numbers, method_names_id_key(method));
    if (slot == NULL || vec_reserve(methods->all, methods->room, methods->n + 1) < 0 ||
        (slot->value == 0 && methods->n == POLL_METHODS_MAX))
        return -1;
    if (slot->value == 0) {
        methods->all[methods->n++] = (struct polled_method){ .method = method, .told_at = 1 };
        slot->value = methods->n;
        methods->all[methods->n - 1].code_bytes = describe(jvmti, jni, method, methods->n - 1, out);
    }
    struct polled_method *known = &methods->all[slot->value - 1];
    if (++known->n_seen >= known->told_at)
        tell_counts(known, slot->value - 1, out);
    return (int)slot->value - 1;
}

void poll_methods_free(struct poll_methods *methods)
{
    hash_free(&methods->numbers);
    free(methods->all);
    memset(methods, 0, sizeof *methods);
}
