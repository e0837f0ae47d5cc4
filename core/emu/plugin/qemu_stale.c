#include "core/emu/plugin/qemu_api.h"

#define LOOK_BEHIND 512   /* bytes below the state */
#define LOOKS_MAX   10000 /* then it is another QEMU */
#define LIST_MAX    16    /* callbacks for an instruction: this plugin has one */

static struct {
    const void *callbacks[2];
    atomic_uint n_looks;
} stale;

_Atomic int32_t qemu_stale_at;

void qemu_stale_begin(const void *callback, const void *other)
{
    stale.callbacks[0] = callback;
    stale.callbacks[1] = other;
}

/* glib's struct GArray: where its elements are, and how many.  An element begins with the function to be called. */
static bool is_list(uint64_t at)
{
    struct {
        uint64_t elements;
        uint32_t n, unused;
    } list;
    uint64_t function;
    if (at == 0 || at % 8 != 0 || !qemu_read(at, &list, sizeof list) || list.n == 0 || list.n > LIST_MAX ||
        !qemu_read(list.elements, &function, sizeof function))
        return false;
    return function == (uint64_t)(uintptr_t)stale.callbacks[0] || function == (uint64_t)(uintptr_t)stale.callbacks[1];
}

void qemu_stale_search(const uint8_t *state)
{
    uint64_t words[LOOK_BEHIND / 8];
    int32_t not_known = 0; /* another thread may have found it meanwhile */
    if (state == NULL)
        return;
    if (atomic_fetch_add(&stale.n_looks, 1) >= LOOKS_MAX) {
        atomic_compare_exchange_strong(&qemu_stale_at, &not_known, 1);
        return;
    }
    if (!qemu_read((uint64_t)(uintptr_t)state - sizeof words, words, sizeof words))
        return;
    for (size_t i = sizeof words / sizeof *words; i-- > 0;)
        if (is_list(words[i])) {
            atomic_store(&qemu_stale_at, (int32_t)(i * 8) - LOOK_BEHIND);
            return;
        }
}

void qemu_stale_clear(uint8_t *state)
{
    const void *const none = NULL;
    int32_t at = atomic_load(&qemu_stale_at);
    if (state != NULL && at < 0)
        memcpy(state + at, &none, sizeof none);
}
