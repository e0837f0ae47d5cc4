#include "core/emu/plugin/sim_core.h"

static void enter_one_by_one(struct sim_core *core, const struct sim_block *before, const struct sim_block *block,
                             const void *state)
{
    sim_core_enter(core, before, block);
    if (block->rest != NULL)
        sim_access_foreseen(core, block, state);
}

static inline __attribute__((always_inline)) void enter_as(sim_enter_simulated_fn *simulated, unsigned vcpu,
                                                           const struct sim_block *block, const void *state,
                                                           const uint8_t *returns_to)
{
    struct sim_core *core = sim_core;
    if (core == NULL && (core = sim_core_make(vcpu, (void *)(uintptr_t)state, returns_to)) == NULL)
        return;
    if (sim_core_is_paused(core)) {
        core->before = &sim_no_block;
        return;
    }
    const struct sim_block *before = core->before;
    core->before = block;
    simulated(core, before, block, state);
}

__attribute__((noinline)) void sim_enter_any(unsigned vcpu, const struct sim_block *block, const void *state,
                                             const uint8_t *returns_to)
{
    enter_as(enter_one_by_one, vcpu, block, state, returns_to);
}

/*
 * A group of a plain machine with lines of 64 bytes, if it is in one recent line.  Returns whether it is; if not,
 * nothing has happened.
 */
static inline __attribute__((always_inline)) bool do_group(struct sim_machine *machine, const struct sim_group *group,
                                                           const uint64_t *registers, uint64_t *time, bool is_simple)
{
    uint64_t first = sim_group_address(group, registers, is_simple), last = first + group->span;
    uint64_t recent = machine->recent_data[(first >> 6) % SIM_RECENT];
    if (__builtin_expect(recent >> SIM_RECENT_LINE != last >> 6, 0))
        return false;
    uint64_t now = *time += group->n;
    sim_lru_use(&machine->l1d, sim_recent_at(recent), group->stores & SIM_SOME_STORES,
                now); /* the later one of both counts */
    sim_lru_use(&machine->dtlb.first, sim_recent_page(recent), false, now);
    return true;
}

/*
 * The rest of a block: its groups from this one on, and the branch that it is behind.  The callbacks below end with a
 * jump to it: they call nothing, and so have no registers to save.
 */
static __attribute__((noinline)) void finish(struct sim_core *core, const struct sim_block *before,
                                             const struct sim_block *block, const uint64_t *registers, uint32_t i)
{
    struct sim_machine *machine = &core->machine;
    for (uint32_t n = (uint32_t)block->n_simple + block->n_general; i < n; i++)
        if (!do_group(machine, &sim_block_groups(block)[i], registers, &machine->data_time, false))
            sim_access_group_64(core, block, i, registers);
    if (machine->data_time >= core->next_draw)
        sim_access_draw(core, block, registers);
    if (before->kind > SIM_CONDITIONAL)
        sim_core_jump(core, before, block);
}

/* All of it, where not all of its code is in recent lines. */
static __attribute__((noinline)) void enter_slowly(struct sim_core *core, const struct sim_block *before,
                                                   const struct sim_block *block, const uint64_t *registers)
{
    sim_core_fetch_slowly(core, before, block);
    if (before->kind == SIM_CONDITIONAL)
        sim_core_conditional(core, before, block);
    sim_core_count_foreseen(core, block);
    finish(core, before, block, registers, 0);
}

static void enter_groups(struct sim_core *core, const struct sim_block *before, const struct sim_block *block,
                         const void *state)
{
    if (__builtin_expect(!sim_core_fetch(core, before, block, 6, false), 0)) {
        enter_slowly(core, before, block, state);
        return;
    }
    if (before->kind == SIM_CONDITIONAL)
        sim_core_conditional(core, before, block);
    sim_core_count_foreseen(core, block);
    finish(core, before, block, state, 0);
}

static inline __attribute__((always_inline)) void enter(unsigned vcpu, const struct sim_block *block,
                                                        const uint64_t *registers, const uint8_t *returns_to,
                                                        unsigned n_lines, unsigned n_simple, unsigned n_general)
{
    struct sim_core *core = sim_core;
    if (__builtin_expect(core == NULL || sim_core_is_paused(core), 0)) {
        sim_enter_any(vcpu, block, registers, returns_to);
        return;
    }
    struct sim_machine *machine = &core->machine;
    const struct sim_block *before = core->before;
    core->before = block;
    if (__builtin_expect(!sim_core_fetch(core, before, block, 6, n_lines == 1), 0)) {
        enter_slowly(core, before, block, registers);
        return;
    }
    if (before->kind == SIM_CONDITIONAL)
        sim_core_conditional(core, before, block);
    if (n_simple + n_general > 0) {
        sim_core_count_foreseen(core, block);
        uint64_t now = machine->data_time;
#pragma GCC unroll 8
        for (unsigned i = 0; i < n_simple + n_general; i++) {
            if (__builtin_expect(!do_group(machine, &sim_block_groups(block)[i], registers, &now, i < n_simple), 0)) {
                machine->data_time = now;
                finish(core, before, block, registers, i);
                return;
            }
        }
        machine->data_time = now;
        if (__builtin_expect(now >= core->next_draw, 0)) {
            finish(core, before, block, registers, n_simple + n_general);
            return;
        }
    }
    if (before->kind > SIM_CONDITIONAL)
        sim_core_jump(core, before, block);
}

/*
 * One callback for each usual number of groups: QEMU's code calls it directly, and there is no loop whose end would be
 * mispredicted in every second block.
 */
#define SHAPE(name, lines, simple, general)                              \
    QEMU_FLAGS_CALLBACK(name, name##_begins);                            \
    QEMU_FLAGS_HANDLER(name##_begins)                                    \
    {                                                                    \
        enter(vcpu, context, state, returns_to, lines, simple, general); \
    }
#define SHAPES(lines, simple)                             \
    SHAPE(sim_enter_##lines##simple##0, lines, simple, 0) \
    SHAPE(sim_enter_##lines##simple##1, lines, simple, 1) \
    SHAPE(sim_enter_##lines##simple##2, lines, simple, 2)
#define SHAPES_OF(lines) SHAPES(lines, 0) SHAPES(lines, 1) SHAPES(lines, 2) SHAPES(lines, 3)

SHAPES_OF(1)
SHAPES_OF(2)

#define ROW(lines, simple)                                                                       \
    {                                                                                            \
        sim_enter_##lines##simple##0, sim_enter_##lines##simple##1, sim_enter_##lines##simple##2 \
    }
#define ROWS(lines)                                                \
    {                                                              \
        ROW(lines, 0), ROW(lines, 1), ROW(lines, 2), ROW(lines, 3) \
    }

QEMU_FLAGS_CALLBACK(sim_enter_many, sim_enter_many_begins);
QEMU_FLAGS_CALLBACK(sim_enter_each, sim_enter_each_begins);

QEMU_FLAGS_HANDLER(sim_enter_many_begins)
{
    enter_as(enter_groups, vcpu, context, state, returns_to);
}

QEMU_FLAGS_HANDLER(sim_enter_each_begins)
{
    sim_enter_any(vcpu, context, state, returns_to);
}

static qemu_plugin_execute_fn *choose_any(const struct sim_block *block)
{
    (void)block;
    return sim_enter_each;
}

static qemu_plugin_execute_fn *choose_shape(const struct sim_block *block)
{
    static qemu_plugin_execute_fn *const shapes[2][4][3] = { ROWS(1), ROWS(2) };
    uint32_t s = block->n_simple, g = block->n_general;
    bool is_line = block->at >> 6 == (block->behind - 1) >> 6;
    return s < 4 && g < 3 ? shapes[!is_line][s][g] : sim_enter_many;
}

static bool has_groups(const struct sim_model *model)
{
    bool is_plain = model->write == SIM_WRITE_BACK && model->allocate == SIM_ALLOCATE;
    return is_plain && model->l1d.line_bytes == 64 && sim_machine_code_bits(model) == 6;
}

sim_enter_fn *sim_enter_choose(const struct sim_model *model)
{
    return has_groups(model) ? choose_shape : choose_any;
}

sim_enter_simulated_fn *sim_enter_choose_simulated(const struct sim_model *model)
{
    return has_groups(model) ? enter_groups : enter_one_by_one;
}
