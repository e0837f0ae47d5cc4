/*
 * A list of callbacks that QEMU 7.2 frees while a thread still has it.
 *
 * QEMU's helper functions, which do what no code is made for, call back for an instruction's accesses by a list that
 * the thread has meanwhile: struct CPUState's plugin_mem_cbs.  Behind the instruction it is taken away, but not where
 * that ends its block by an indirect jump, call or return: then the list stays until that of another instruction
 * replaces it.  When there is no room for more translations, QEMU throws all of them away, and frees the lists.  The
 * next helper function that accesses memory then calls what is not there any more, or QEMU ends: 'plugins/core.c:
 * qemu_plugin_vcpu_mem_cb: code should not be reached'.  Seen with a javac of 145 files, whose code takes that much
 * room.  Later versions take the list away whenever a block is left.
 *
 * So when all has been thrown away, while all threads stand, it is taken away here.  Where it is, nobody tells a
 * plugin: it is looked for below the processor's state (qemu_flags.h tells how that is known, on x86-64), as a pointer
 * to a list that has a callback of this plugin's.  That is believed when it was seen; nothing is written before.
 */
#ifndef CORE_EMU_PLUGIN_QEMU_STALE_H
#define CORE_EMU_PLUGIN_QEMU_STALE_H

#include <stdatomic.h>
#include <stdint.h>

/* The functions that the plugin registers for accesses, at most two; before all else. */
void qemu_stale_begin(const void *callback, const void *other);

/* Where the list is, from the state: below 0.  0: not known; above: it cannot be found. */
extern __attribute__((visibility("hidden"))) _Atomic int32_t qemu_stale_at;

void qemu_stale_search(const uint8_t *state);

/* In a callback for an access of a thread, whose state this is; NULL: not known. */
static inline void qemu_stale_look(const uint8_t *state)
{
    if (__builtin_expect(atomic_load_explicit(&qemu_stale_at, memory_order_relaxed) == 0, 0))
        qemu_stale_search(state);
}

/* In the callback for a flush: for each thread.  NULL: nothing. */
void qemu_stale_clear(uint8_t *state);

#endif
