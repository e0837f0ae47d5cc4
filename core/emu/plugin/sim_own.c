#include "core/emu/plugin/sim_core.h"

#define COUNT_BITS 32 /* of the number that QEMU hands over: instructions below, accesses above */

static _Atomic uint64_t own_start, own_end;

void sim_own_tell(uint64_t start, uint64_t end)
{
    atomic_store(&own_start, start);
    atomic_store(&own_end, end);
}

bool sim_own_has(uint64_t address)
{
    return address >= atomic_load_explicit(&own_start, memory_order_relaxed) &&
           address < atomic_load_explicit(&own_end, memory_order_relaxed);
}

/* The block before it was left by a call that nobody predicts, nor the return from here. */
static void on_block(unsigned vcpu, void *context)
{
    struct sim_core *core = sim_core;
    uint64_t n = (uint64_t)(uintptr_t)context;
    (void)vcpu;
    if (core == NULL)
        return;
    core->before = &sim_no_block;
    core->slot->own[SIM_OWN_INSTRUCTIONS] += n & UINT32_MAX;
    core->slot->own[SIM_OWN_ACCESSES] += n >> COUNT_BITS;
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu, (void)info, (void)address, (void)context;
    if (sim_core != NULL)
        sim_core->slot->own[SIM_OWN_ACCESSES]++;
}

/* How many loads and stores the instruction has is known, mostly; of others QEMU tells. */
static uint64_t watch_accesses(struct qemu_plugin_insn *insn)
{
    struct sim_operands operands = { .is_known = false };
    if (!sim.is_arm64)
        sim_operands_x86(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), qemu_plugin_insn_vaddr(insn),
                         &operands);
    if (operands.is_known)
        return operands.n_accesses;
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    return 0;
}

void sim_own_watch(struct qemu_plugin_tb *tb, size_t n)
{
    uint64_t n_accesses = 0;
    for (size_t i = 0; i < n; i++)
        n_accesses += watch_accesses(qemu_plugin_tb_get_insn(tb, i));
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)(n_accesses << COUNT_BITS | n));
}
