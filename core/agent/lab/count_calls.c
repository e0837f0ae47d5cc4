#include "core/agent/lab/lab.h"

#include "core/agent/control/method_names.h"
#include "core/agent/lab/count_entries.h"
#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/base/words.h"
#include "core/hotspot/bytecodes.h"

struct counted_stack {
    uint32_t numbers[1 + COUNT_CALLS_DEPTH]; /* of the method that is called, and of call sites */
    uint64_t n;
};

/* With the lock of count_entries.h. */
static struct count_calls_state {
    struct counted_stack *stacks;
    char **called;   /* owned, each, too: words */
    uint32_t *sites; /* owned: those of stacks by their numbers in the file */
    uint32_t n, room, n_called, called_room, n_sites, sites_room;
    struct hash_set by_stack, by_method, by_site; /* the number in the file */
} counts;

static char *called_text(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct method_names names;
    char *text = NULL;
    if (method_names_get(jvmti, method, &names) && names.class_name.n > 0 &&
        (text = malloc(WORDS_GROWTH * (names.class_name.n + strlen(names.name) + strlen(names.descriptor)) + 16)) !=
            NULL) {
        names.signature[1 + names.class_name.n] = '\0'; /* "Lname;" */
        char *to = counted_file_word(text, names.signature + 1);
        counted_file_word(counted_file_word(to, names.name), names.descriptor)[-1] = '\0';
    }
    method_names_free(jvmti, jni, &names);
    return text;
}

/* 0: no memory, or it has gone. */
static uint32_t called_number(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    struct hash_slot *slot = hash_put(&counts.by_method, method_names_id_key(method));
    if (slot == NULL || vec_reserve(counts.called, counts.called_room, counts.n_called + 1) < 0)
        return 0;
    if (slot->value == 0) {
        char *text = called_text(jvmti, jni, method);
        if (text == NULL)
            return 0;
        counts.called[counts.n_called++] = text;
        slot->value = counts.n_called;
    }
    return slot->value;
}

/* The same. */
static uint32_t site_number(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame)
{
    uint32_t number = call_site_number(jvmti, frame);
    struct hash_slot *slot = number == 0 ? NULL : hash_put(&counts.by_site, hash_address(number));
    if (slot == NULL || vec_reserve(counts.sites, counts.sites_room, counts.n_sites + 1) < 0)
        return 0;
    if (slot->value == 0 && call_site_text(jvmti, jni, frame, number) != NULL) {
        counts.sites[counts.n_sites++] = number;
        slot->value = counts.n_sites;
    }
    return slot->value;
}

static bool take_stack(const uint32_t *numbers)
{
    const size_t n_bytes = sizeof counts.stacks->numbers;
    struct hash_slot *slot = hash_put(&counts.by_stack, hash_text(HASH_START, (const char *)numbers, n_bytes) | 1);
    if (slot == NULL || vec_reserve(counts.stacks, counts.room, counts.n + 1) < 0)
        return false;
    if (slot->value == 0) {
        memcpy(counts.stacks[counts.n].numbers, numbers, n_bytes);
        counts.stacks[counts.n].n = 0;
        slot->value = ++counts.n;
    }
    counts.stacks[slot->value - 1].n++;
    return true;
}

static bool take_call(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n, uint32_t site)
{
    uint32_t numbers[1 + COUNT_CALLS_DEPTH] = { 0 };
    (void)site;
    count_entries_lock();
    numbers[0] = called_number(jvmti, jni, frames[0].method);
    for (jint i = 1; i < n; i++)
        numbers[i] = site_number(jvmti, jni, &frames[i]);
    bool is_taken = numbers[0] != 0 && numbers[1] != 0 && take_stack(numbers);
    count_entries_unlock();
    return is_taken;
}

static void write_stack(FILE *out, const struct counted_stack *stack)
{
    size_t n = sizeof stack->numbers / sizeof *stack->numbers;
    while (stack->numbers[n - 1] == 0)
        n--;
    fprintf(out, "stack %" PRIu64, stack->n);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %" PRIu32, stack->numbers[i]);
    fputc('\n', out);
}

static void write_calls(FILE *out)
{
    for (uint32_t i = 0; i < counts.n_called; i++)
        fprintf(out, "called %s\n", counts.called[i]);
    for (uint32_t i = 0; i < counts.n_sites; i++) {
        const struct call_site *site = call_site_at(counts.sites[i]);
        fprintf(out, "site %s %" PRId32 "\n", site->text, site->ordinal);
    }
    for (uint32_t i = 0; i < counts.n; i++)
        write_stack(out, &counts.stacks[i]);
}

void count_calls_start(JavaVM *vm, const char *path, uint32_t interval)
{
    static const struct count_entries_kind kind = { .first_line = "mmprof-calls 1\n",
                                                    .n_frames = 1 + COUNT_CALLS_DEPTH,
                                                    .wants = opcode_is_call,
                                                    .take = take_call,
                                                    .write = write_calls };
    count_entries_start(vm, &kind, path, interval);
}
