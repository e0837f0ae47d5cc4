#include "core/emu/plugin/sim_core.h"

/* Instructions in the wrong translations without an indirect jump, until the thread is taken out of its loop. */
#define PATIENCE 4096

/* As qemu_api.h calls them. */
QEMU_FLAGS_CALLBACK(sim_windows_light, sim_windows_light_begins);
QEMU_FLAGS_CALLBACK(sim_windows_light_again, sim_windows_light_again_begins);
QEMU_FLAGS_CALLBACK(sim_windows_heavy, sim_windows_heavy_begins);

typedef void light_fn(unsigned vcpu, void *context, void *state, const uint8_t *returns_to);

bool sim_windows_are_light(void)
{
    return sim_core != NULL && sim_core->flags.is_seen && !qemu_flags_are_heavy(&sim_core->flags);
}

bool sim_windows_have_light(void)
{
    return sim.has_windows && atomic_load(&sim.sees_registers);
}

/*
 * This block, of n instructions, is in the wrong translation.  The other ones begin behind one that ends in an indirect
 * jump: QEMU then links no light block to a heavy one, as it may where it has not linked the end of this one yet.
 */
static __attribute__((noinline)) void ask_for(bool is_heavy, struct sim_core *core, bool is_behind, uint64_t n)
{
    core->astray += (int64_t)n;
    if (!is_behind && core->astray <= PATIENCE)
        return;
    qemu_flags_choose(&core->flags, is_heavy);
    if (!is_behind)
        qemu_flags_look_again(&core->flags);
    core->astray = 0;
}

static bool ends_indirectly(const struct sim_block *block)
{
    return block->kind == SIM_RETURN || block->kind == SIM_INDIRECT || block->kind == SIM_INDIRECT_CALL;
}

/* How many of the block's instructions are new: see sim_core.h */
static inline uint32_t count_block(struct sim_core *core, const struct sim_block *block)
{
    uint32_t n = block->n_instructions - (uint32_t)sim_block_goes_on(core->before, block);
    core->before = block;
    core->slot->counts[SIM_EXECUTED] += n;
    return n;
}

/* In a thread's first block, or while it is paused: as the callback, which is called again for the former. */
static __attribute__((noinline)) void light_first(unsigned vcpu, void *context, void *state, const uint8_t *returns_to,
                                                  light_fn *callback)
{
    if (sim_core != NULL)
        sim_core->before = &sim_no_block;
    else if (sim_core_make(vcpu, state, returns_to) != NULL)
        callback(vcpu, context, state, returns_to);
}

QEMU_FLAGS_HANDLER(sim_windows_light_begins)
{
    struct sim_core *core = sim_core;
    if (__builtin_expect(core == NULL || sim_core_is_paused(core), 0)) {
        light_first(vcpu, context, state, returns_to, sim_windows_light_begins);
        return;
    }
    uint64_t n = (uint64_t)(uintptr_t)context >> 1;
    core->before = &sim_no_block;
    core->slot->counts[SIM_EXECUTED] += n;
    if (__builtin_expect((core->skipping -= (int64_t)n) < 0, 0))
        ask_for(true, core, ((uintptr_t)context & 1) != 0, n);
}

QEMU_FLAGS_HANDLER(sim_windows_light_again_begins)
{
    const struct sim_block *block = context;
    struct sim_core *core = sim_core;
    if (__builtin_expect(core == NULL || sim_core_is_paused(core), 0)) {
        light_first(vcpu, context, state, returns_to, sim_windows_light_again_begins);
        return;
    }
    uint32_t n = count_block(core, block);
    if (__builtin_expect((core->skipping -= n) < 0, 0))
        ask_for(true, core, ends_indirectly(block), n);
}

/*
 * The number that QEMU hands over says all that is needed of a block: those of all code that a program executes are
 * more than caches have, and the callback would wait for each.
 */
void sim_windows_watch_light(struct qemu_plugin_tb *tb, const struct sim_block *block, bool may_be_again,
                             const struct sim_block *(*keep)(const struct sim_block *block))
{
    uintptr_t context = (uintptr_t)block->n_instructions << 1 | ends_indirectly(block);
    const struct sim_block *kept = may_be_again ? keep(block) : NULL;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, kept == NULL ? sim_windows_light : sim_windows_light_again,
                                         QEMU_PLUGIN_CB_NO_REGS,
                                         kept == NULL ? (void *)context : (void *)(uintptr_t)kept);
}

qemu_plugin_execute_fn *sim_windows_choose(const struct sim_block *block)
{
    (void)block;
    return sim_windows_heavy;
}

/* A phase ends with or before a block of n instructions. */
static __attribute__((noinline)) void change_phase(struct sim_core *core, uint32_t n)
{
    if (core->window.phase == SIM_SKIPPED)
        sim_window_begin_late(&core->window, (uint64_t)-core->skipping, n);
    sim_window_next(&core->window, &sim.slots->window);
    sim_core_choose_counts(core);
    core->skipping = core->window.phase == SIM_SKIPPED ? core->window.left : -1;
}

QEMU_FLAGS_HANDLER(sim_windows_heavy_begins)
{
    const struct sim_block *block = context;
    struct sim_core *core = sim_core;
    if (__builtin_expect(core == NULL, 0) && (core = sim_core_make(vcpu, state, returns_to)) == NULL)
        return;
    if (__builtin_expect(sim_core_is_paused(core), 0)) {
        core->before = &sim_no_block;
        return;
    }
    const struct sim_block *before = core->before;
    uint32_t n = count_block(core, block);
    int64_t *left = core->window.phase == SIM_SKIPPED ? &core->skipping : &core->window.left;
    if ((*left -= n) < 0)
        change_phase(core, n);
    if (core->window.phase != SIM_SKIPPED) {
        sim.enter(core, before, block, state);
    } else if (core->flags.is_seen)
        ask_for(false, core, ends_indirectly(block), n);
}
