#include "core/agent/lab/lab.h"

#include "core/agent/control/method_names.h"
#include "core/agent/lab/count_entries.h"
#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/base/words.h"
#include "core/hotspot/bytecodes.h"

#define LEVELS 3

struct counted_receiver {
    char *class_name, *called; /* owned: words; called with the descriptor */
    uint32_t site, contexts[LEVELS];
    uint64_t n;
};

/* With the lock of count_entries.h. */
static struct count_receivers_state {
    struct counted_receiver *all;
    uint32_t n, room;
    struct hash_set by_receiver;
} counts;

/* ---- texts: NULL: no memory, or the method has gone ---- */

static char *called_text(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct method_names names;
    char *text = NULL;
    if (method_names_get(jvmti, method, &names) &&
        (text = malloc(WORDS_GROWTH * (strlen(names.name) + strlen(names.descriptor)) + 16)) != NULL)
        counted_file_word(counted_file_word(text, names.name), names.descriptor)[-1] = '\0';
    method_names_free(jvmti, jni, &names);
    return text;
}

static char *class_text(char *signature)
{
    char *text = malloc(WORDS_GROWTH * strlen(signature) + 16);
    counted_file_plain_class(signature);
    if (text != NULL)
        counted_file_word(text, signature)[-1] = '\0';
    return text;
}

/* ---- counting, with the lock ---- */

static uint64_t key_of(const char *signature, jmethodID called, const uint32_t *numbers)
{
    uint64_t key = hash_text(HASH_START, signature, strlen(signature));
    key = hash_text(key, (const char *)&called, sizeof called);
    return hash_text(key, (const char *)numbers, (1 + LEVELS) * sizeof *numbers) | 1;
}

/* numbers: of the call site, and of contexts.  NULL: no memory. */
static struct counted_receiver *receiver_of(jvmtiEnv *jvmti, JNIEnv *jni, char *signature, const jvmtiFrameInfo *frames,
                                            const uint32_t *numbers)
{
    struct hash_slot *slot = hash_put(&counts.by_receiver, key_of(signature, frames[0].method, numbers));
    if (slot == NULL || vec_reserve(counts.all, counts.room, counts.n + 1) < 0)
        return NULL;
    if (slot->value == 0) {
        struct counted_receiver *new = &counts.all[counts.n];
        *new = (struct counted_receiver){ .site = numbers[0] };
        memcpy(new->contexts, numbers + 1, sizeof new->contexts);
        new->called = called_text(jvmti, jni, frames[0].method);
        new->class_name = class_text(signature);
        call_site_text(jvmti, jni, &frames[1], numbers[0]);
        slot->value = ++counts.n;
    }
    return &counts.all[slot->value - 1];
}

static bool is_virtual(uint8_t opcode)
{
    return opcodes[opcode].kind == OPCODE_CALL_VIRTUAL || opcodes[opcode].kind == OPCODE_CALL_INTERFACE;
}

static bool take_receiver(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n, uint32_t site)
{
    uint32_t numbers[1 + LEVELS] = { site };
    struct counted_receiver *receiver = NULL;
    jobject object = NULL;
    char *signature = NULL;
    /* The JVM may stop all threads for it. */
    if ((*jvmti)->GetLocalInstance(jvmti, NULL, 0, &object) != JVMTI_ERROR_NONE || object == NULL)
        return false;
    jclass class_ref = (*jni)->GetObjectClass(jni, object);
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE) {
        count_entries_lock();
        for (jint i = 2; i < n; i++)
            numbers[i - 1] = call_site_number(jvmti, &frames[i]);
        receiver = receiver_of(jvmti, jni, signature, frames, numbers);
        if (receiver != NULL)
            receiver->n++;
        count_entries_unlock();
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, class_ref);
    (*jni)->DeleteLocalRef(jni, object);
    return receiver != NULL;
}

static void write_receivers(FILE *out)
{
    for (uint32_t i = 0; i < counts.n; i++) {
        const struct counted_receiver *r = &counts.all[i];
        const char *site = call_site_at(r->site)->text;
        if (r->class_name != NULL && r->called != NULL && site != NULL)
            fprintf(out, "%" PRIu64 " %s %s %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", r->n, r->class_name, r->called,
                    site, r->contexts[0], r->contexts[1], r->contexts[2]);
    }
}

void count_receivers_start(JavaVM *vm, const char *path, uint32_t interval)
{
    static const struct count_entries_kind kind = { .first_line = "mmprof-receivers 1\n",
                                                    .n_frames = 2 + LEVELS,
                                                    .has_receivers = true,
                                                    .wants = is_virtual,
                                                    .take = take_receiver,
                                                    .write = write_receivers };
    count_entries_start(vm, &kind, path, interval);
}
