/* Where QEMU has a thread's list of callbacks, and that it is taken away; nothing else is written. */
#include "core/emu/plugin/qemu_api.h"

#include "test/unit/tap.h"

#define STATE_AT 640 /* of what is below it */
#define LIST_AT  536 /* -104 from the state, as in QEMU 7.2 */

/* glib's struct GArray, and QEMU's struct qemu_plugin_dyn_cb as far as it matters. */
struct list {
    const void *elements;
    uint32_t n;
};

struct element {
    const void *function, *context;
};

static uint8_t thread[STATE_AT + 64];

static void on_access(void)
{
}

static void on_bytecode(void)
{
}

static void put(size_t at, const void *pointer)
{
    memcpy(thread + at, &pointer, sizeof pointer);
}

static bool is_all_zero(void)
{
    for (size_t i = 0; i < sizeof thread; i++)
        if (thread[i] != 0)
            return false;
    return true;
}

int main(void)
{
    struct element ours = { (const void *)(uintptr_t)on_bytecode, NULL },
                   another = { (const void *)(uintptr_t)put, NULL };
    struct list list = { &ours, 1 }, anothers = { &another, 1 }, empty = { &ours, 0 }, bad = { (const void *)8, 1 };
    uint8_t *state = thread + STATE_AT;
    qemu_stale_begin((const void *)(uintptr_t)on_access, (const void *)(uintptr_t)on_bytecode);
    qemu_stale_look(NULL);
    put(16, &list);
    put(STATE_AT, &list);
    put(160, &anothers);
    put(168, &empty);
    put(176, &bad);
    put(184, (const void *)8);
    put(192, (const void *)((uintptr_t)&list + 1));
    qemu_stale_look(state);
    CHECK_NUMBER("what is no list of ours, or too far below, or above, is not taken for it", qemu_stale_at, 0);
    uint8_t before[sizeof thread];
    memcpy(before, thread, sizeof thread);
    qemu_stale_clear(state);
    CHECK("as long as it is not known nothing is written", memcmp(before, thread, sizeof thread) == 0);
    put(LIST_AT, &list);
    qemu_stale_look(state);
    CHECK("a list of ours is", qemu_stale_at == LIST_AT - STATE_AT);
    memset(thread, 0, sizeof thread);
    put(LIST_AT, &list);
    qemu_stale_clear(NULL);
    CHECK("without a thread nothing is written", !is_all_zero());
    qemu_stale_clear(state);
    CHECK("a thread's list is taken away, whatever it is", is_all_zero());
    atomic_store(&qemu_stale_at, 0);
    for (unsigned i = 0; i < 11000; i++)
        qemu_stale_look(state);
    CHECK("where there is none, it is not looked for for ever", qemu_stale_at > 0);
    put(LIST_AT, &list);
    qemu_stale_look(state);
    qemu_stale_clear(state);
    CHECK("nor written to", !is_all_zero());
    return tap_done();
}
