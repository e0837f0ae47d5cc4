/*
 * libmmprof-sim.so: a plugin for QEMU's user mode that simulates a processor for each thread of the program that QEMU
 * runs, and counts its events in the thread's slot (core/emu/model/sim_slots.h).
 *
 *     qemu-x86_64 -plugin libmmprof-sim.so,memory=FILE java ...       as mmprof record --simulate does
 *     qemu-x86_64 -plugin libmmprof-sim.so,model=zen4,out=FILE prog   prints the threads' counts when prog ends, with
 *                                                                     windows also whether there are light blocks
 *
 * A block of instructions is counted as a whole when it is entered, and with it most of its loads and stores, whose
 * addresses are known then; the others go into the machine when QEMU executes them (sim_core.h).  All of a thread's
 * state is its own, so nothing is locked but the making of blocks and threads.
 */
#include "core/emu/plugin/qemu_api.h"
#include "core/emu/plugin/sim_core.h"
#include "core/emu/plugin/vm_memory.h"

#include <stdio.h>
#include <string.h>

/* QEMU finds it by this name and asks what the plugin was made for. */
__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);

#define PAGE_BITS 12 /* of QEMU's pages */

/* ---- threads ---- */

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    sim_core_end(vcpu);
}

/* A new thread gets the number of one that has ended. */
static void on_thread_begin(qemu_plugin_id_t id, unsigned vcpu)
{
    on_thread_end(id, vcpu);
}

static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    sim_core_flush();
}

/* ---- execution ---- */

/* The agent asks for its slot. */
static void answer(const struct sim_core *core, uint64_t to_address)
{
    struct sim_answer said = { core->slot, sim.slots };
    qemu_write(to_address, &said, sizeof said);
}

static void hear(struct sim_core *core, uint64_t what, uint64_t argument)
{
    uint64_t symbols[SIM_N_SYMBOLS], code[2];
    switch (what) {
    case SIM_ASK_ASIDE:
        core->slot = &core->aside;
        sim_core_choose_counts(core);
        answer(core, argument);
        break;
    case SIM_TELL_BACK:
        core->slot = core->own;
        sim_core_choose_counts(core);
        break;
    case SIM_ASK_SLOT:
        answer(core, argument);
        break;
    case SIM_TELL_TABLES:
        if (vm_get(argument, symbols, sizeof symbols))
            sim_misses_tables(symbols);
        break;
    case SIM_TELL_OWN:
        if (vm_get(argument, code, sizeof code))
            sim_own_tell(code[0], code[1]);
        break;
    case SIM_TELL_MOVE:
        sim_misses_move();
        break;
    case SIM_TELL_MOVED:
        sim_misses_moved();
        break;
    case SIM_TELL_END:
        sim_misses_finish();
        break;
    }
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a7, (void)a8;
    struct sim_core *core = sim_core;
    const struct qemu_flags_call call = { number, { a1, a2, a3, a4, a5, a6 } };
    if (!sim.is_arm64)
        sim_core_look_at_state(core, &call);
    if (number == SIM_SYSCALL && core != NULL)
        hear(core, a1, a2);
    else if (number == sim.clone && core != NULL)
        sim_misses_stack(a2);
}

/* ---- translation ---- */

/*
 * QEMU tells of an instruction's accesses, or they are foreseen (foresight: not NULL).  An instruction that crosses a
 * page's end may be left to the next block: see sim_core.h.
 */
static void watch_accesses(struct qemu_plugin_insn *insn, const uint8_t *bytes, size_t n_bytes,
                           struct sim_foresight *foresight)
{
    bool is_dispatch = !sim.is_arm64 && sim_decode_is_dispatch(bytes, n_bytes);
    uint64_t at = qemu_plugin_insn_vaddr(insn);
    if (foresight != NULL) {
        struct sim_operands operands;
        sim_operands_x86(bytes, n_bytes, at, &operands);
        bool is_told = is_dispatch || at >> PAGE_BITS != (at + n_bytes - 1) >> PAGE_BITS;
        if (sim_foresight_add(foresight, &operands, at, is_told)) {
            if (sim.is_checked)
                sim_check_watch(insn, foresight, operands.n_accesses);
            return;
        }
    }
    qemu_plugin_register_vcpu_mem_cb(insn, is_dispatch ? sim_access_bytecode : sim.on_access, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)at);
}

/* A copy that stays; NULL: no memory. */
static struct sim_block *keep_block(const struct sim_block *block, const struct sim_foresight *foresight)
{
    pthread_mutex_lock(&sim.making);
    struct sim_block *kept = sim_blocks_add(&sim.blocks, block, foresight);
    pthread_mutex_unlock(&sim.making);
    return kept;
}

static const struct sim_block *keep_light(const struct sim_block *block)
{
    return keep_block(block, NULL);
}

/* The block's last instruction. */
static void end_block(struct sim_block *block, struct qemu_plugin_insn *insn)
{
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    size_t n_bytes = qemu_plugin_insn_size(insn);
    block->behind = qemu_plugin_insn_vaddr(insn) + n_bytes;
    block->n_last = (uint8_t)n_bytes;
    block->kind = (uint8_t)(sim.is_arm64 ? sim_decode_arm64(bytes, n_bytes) : sim_decode_x86(bytes, n_bytes));
}

static bool ends_in_jump(struct qemu_plugin_insn *insn)
{
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    size_t n_bytes = qemu_plugin_insn_size(insn);
    return sim.is_arm64 ? sim_decode_is_jump_arm64(bytes, n_bytes) : sim_decode_is_jump_x86(bytes, n_bytes);
}

/* Its last instruction may be not executed with it, or its first one not with the block before: see sim_core.h */
static bool may_be_again(const struct sim_block *block, struct qemu_plugin_insn *first, struct qemu_plugin_insn *last)
{
    uint64_t end = block->at + qemu_plugin_insn_size(first) - 1;
    return (block->kind == SIM_NO_BRANCH && !ends_in_jump(last)) || block->at >> PAGE_BITS != end >> PAGE_BITS;
}

static void translate_light(struct qemu_plugin_tb *tb, const struct sim_block *block, struct qemu_plugin_insn *last)
{
    struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    sim_windows_watch_light(tb, block, may_be_again(block, first, last), keep_light);
}

static void translate_heavy(struct qemu_plugin_tb *tb, const struct sim_block *block)
{
    struct sim_foresight made, *foresight = NULL;
    if (atomic_load(&sim.sees_registers))
        sim_foresight_begin(foresight = &made);
    for (size_t i = 0; i < block->n_instructions; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        watch_accesses(insn, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), foresight);
    }
    struct sim_block *kept = keep_block(block, foresight);
    if (kept != NULL)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, sim.choose_block(kept), QEMU_PLUGIN_CB_NO_REGS, kept);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct sim_block block = { .at = qemu_plugin_tb_vaddr(tb), .n_instructions = (uint16_t)n };
    (void)id;
    if (n == 0)
        return;
    if (sim_own_has(block.at)) {
        sim_own_watch(tb, n);
        return;
    }
    struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
    end_block(&block, last);
    if (block.behind <= block.at)
        return;
    if (sim.has_windows && sim_windows_are_light())
        translate_light(tb, &block, last);
    else
        translate_heavy(tb, &block);
}

/* ---- the end ---- */

static void on_end(qemu_plugin_id_t id, void *context)
{
    (void)id;
    (void)context;
    sim_misses_finish();
    FILE *out = sim.out == NULL || sim.slots == NULL ? NULL : fopen(sim.out, "we");
    if (out == NULL)
        return;
    sim_print(out, sim.slots, sim_windows_have_light());
    if (sim.is_checked)
        sim_check_print(out);
    fclose(out);
}

/* ---- the beginning ---- */

static void choose_callbacks(void)
{
    sim.has_windows = sim.slots->window.counted > 0;
    sim.choose_block = sim.has_windows  ? sim_windows_choose
                       : sim.is_checked ? sim_check_choose
                                        : sim_enter_choose(&sim.slots->model);
    sim.enter = sim_enter_choose_simulated(&sim.slots->model);
    sim.on_access = sim_access_choose(&sim.slots->model, sim.has_windows);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    if (info->system_emulation)
        return sim_arguments_refuse("it simulates programs (qemu-x86_64), not whole machines");
    sim.is_arm64 = strcmp(info->target_name, "aarch64") == 0;
    if (!sim.is_arm64 && strcmp(info->target_name, "x86_64") != 0)
        return sim_arguments_refuse("it knows programs for x86_64 and aarch64 only");
    sim.clone = sim.is_arm64 ? 220 : 56;
    if (sim_arguments_read(argc, argv, &sim.slots, &sim.out, &sim.is_checked) < 0)
        return -1;
    choose_callbacks();
    qemu_stale_begin((const void *)(uintptr_t)sim.on_access, (const void *)(uintptr_t)sim_access_bytecode);
    sim_core_prepare_forks();
    qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
