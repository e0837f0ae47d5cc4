#include "core/emu/plugin/sim_sampled.h"

#include "core/emu/plugin/sim_access.h"

static __attribute__((noinline)) void fetch_slowly(struct sim_machine *machine, uint64_t first, uint64_t last)
{
    for (uint64_t line = first; line <= last; line++)
        sim_machine_sampled_code(machine, line);
}

static inline void fetch(struct sim_core *core, const struct sim_block *before, const struct sim_block *block)
{
    struct sim_machine *machine = &core->machine;
    unsigned line_bits = machine->l1i.line_bits;
    uint64_t first = block->at >> line_bits, last = (block->behind - 1) >> line_bits;
    machine->counts[SIM_INSTRUCTIONS] += block->n_instructions - (uint32_t)sim_block_goes_on(before, block);
    if (first == last && block->at >> machine->page_bits == machine->code_page &&
        !sim_machine_is_sampled(machine, block->at)) {
        machine->counts[SIM_L1I_FETCHES]++;
        machine->code_time++;
        return;
    }
    fetch_slowly(machine, first, last);
    machine->code_page = (block->behind - 1) >> machine->page_bits;
}

static inline void use_group(struct sim_core *core, const struct sim_block *block, uint32_t i,
                             const uint64_t *registers, bool is_simple)
{
    struct sim_machine *machine = &core->machine;
    const struct sim_group *group = &sim_block_groups(block)[i];
    uint64_t first = sim_group_address(group, registers, is_simple), last = first + group->span;
    bool is_line = (first ^ last) >> machine->l1d.line_bits == 0;
    machine->data_time += group->n;
    if (__builtin_expect(!is_line || !sim_machine_page_hit(machine, first, last), 0) ||
        sim_machine_is_sampled(machine, first))
        sim_access_group_sampled(core, block, i, registers);
}

void sim_sampled_enter(struct sim_core *core, const struct sim_block *before, const struct sim_block *block,
                       const void *state)
{
    const uint64_t *registers = state;
    fetch(core, before, block);
    if (before->kind == SIM_CONDITIONAL)
        sim_core_conditional(core, before, block);
    if (block->rest != NULL) {
        uint32_t n_simple = block->n_simple, n = n_simple + block->n_general;
        sim_core_count_foreseen(core, block);
        for (uint32_t i = 0; i < n_simple; i++)
            use_group(core, block, i, registers, true);
        for (uint32_t i = n_simple; i < n; i++)
            use_group(core, block, i, registers, false);
        if (__builtin_expect(core->machine.data_time >= core->next_draw, 0))
            sim_access_draw(core, block, registers);
    }
    if (before->kind > SIM_CONDITIONAL)
        sim_core_jump(core, before, block);
}

QEMU_FLAGS_CALLBACK(sim_enter_sampled, sim_enter_sampled_begins);

QEMU_FLAGS_HANDLER(sim_enter_sampled_begins)
{
    struct sim_core *core = sim_core;
    if (__builtin_expect(core == NULL, 0) && (core = sim_core_make(vcpu, state, returns_to)) == NULL)
        return;
    const struct sim_block *before = core->before;
    if (__builtin_expect(sim_core_is_paused(core), 0)) {
        core->before = &sim_no_block;
        return;
    }
    core->before = context;
    sim_sampled_enter(core, before, context, state);
}

qemu_plugin_execute_fn *sim_sampled_choose(const struct sim_block *block)
{
    (void)block;
    return sim_enter_sampled;
}
