#include "core/plugin/sim_enter.h"

#include "core/plugin/sim_access.h"

__attribute__((noinline)) void sim_enter_any(unsigned vcpu, const struct sim_block *block, const void *state,
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
    sim_core_enter(core, before, block, false);
    if (block->foreseen.groups != NULL)
        sim_access_foreseen(core, &block->foreseen, state);
}

/* A group of a plain machine with lines of 64 bytes.  Returns the time behind it. */
static inline __attribute__((always_inline)) uint64_t do_group(struct sim_core *core, const struct sim_block *block,
                                                               const uint64_t *registers, uint64_t now, unsigned i,
                                                               bool is_simple)
{
    struct sim_machine *machine = &core->machine;
    const struct sim_group *group = &((const struct sim_group *)(const void *)(block + 1))[i];
    uint64_t first = sim_group_address(group, registers, is_simple), last = first + group->span;
    const struct sim_recent *recent = &machine->recent_data[(first >> 6) % SIM_RECENT];
    if (__builtin_expect(recent->line != last >> 6, 0)) {
        machine->data_time = now;
        sim_access_group_64(core, group, registers);
        return machine->data_time;
    }
    now += group->n;
    machine->l1d.used[group->is_written][recent->at] = now; /* the later one of both counts */
    machine->dtlb.first.used[0][recent->page] = now;
    return now;
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
    const struct sim_block *before = core->before;
    core->before = block;
    sim_core_enter(core, before, block, n_lines == 1);
    if (n_simple + n_general == 0)
        return;
    uint64_t now = core->machine.data_time;
    core->machine.counts[SIM_L1D_LOADS] += block->foreseen.n_loads;
    __asm__ volatile("" : : : "memory"); /* else both at once, as sim_machine.h says of branches */
    core->machine.counts[SIM_L1D_STORES] += block->foreseen.n_stores;
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_simple; i++)
        now = do_group(core, block, registers, now, i, true);
#pragma GCC unroll 8
    for (unsigned i = n_simple; i < n_simple + n_general; i++)
        now = do_group(core, block, registers, now, i, false);
    core->machine.data_time = now;
    if (__builtin_expect(now >= core->next_draw, 0))
        sim_access_draw(core, &block->foreseen, registers);
}

/*
 * One callback for each usual number of groups: QEMU's code calls it directly, and there is no loop whose end would be
 * mispredicted in every second block.
 */
#define SHAPE(name, lines, simple, general)                                                             \
    void name##_begins(unsigned vcpu, void *context, void *state, const uint8_t *returns_to);           \
    QEMU_FLAGS_CALLBACK(name, name##_begins);                                                           \
    __attribute__((visibility("hidden"))) void name##_begins(unsigned vcpu, void *context, void *state, \
                                                             const uint8_t *returns_to)                 \
    {                                                                                                   \
        enter(vcpu, context, state, returns_to, lines, simple, general);                                \
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

void sim_enter_many_begins(unsigned vcpu, void *context, void *state, const uint8_t *returns_to);
QEMU_FLAGS_CALLBACK(sim_enter_many, sim_enter_many_begins);

__attribute__((visibility("hidden"))) void sim_enter_many_begins(unsigned vcpu, void *context, void *state,
                                                                 const uint8_t *returns_to)
{
    sim_enter_any(vcpu, context, state, returns_to);
}

static qemu_plugin_execute_fn *choose_any(const struct sim_block *block)
{
    (void)block;
    return sim_enter_many;
}

static qemu_plugin_execute_fn *choose_shape(const struct sim_block *block)
{
    static qemu_plugin_execute_fn *const shapes[2][4][3] = { ROWS(1), ROWS(2) };
    uint32_t s = block->foreseen.n_simple, g = block->foreseen.n_general;
    return s < 4 && g < 3 ? shapes[block->first_line != block->last_line][s][g] : sim_enter_many;
}

sim_enter_fn *sim_enter_choose(const struct sim_model *model)
{
    bool is_plain = model->write == SIM_WRITE_BACK && model->allocate == SIM_ALLOCATE;
    return is_plain && model->l1d.line_bytes == 64 ? choose_shape : choose_any;
}
