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

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE_BITS 12 /* of QEMU's pages */
#define COUNT_BITS \
    32 /* of the number that QEMU hands over for the agent's blocks: instructions below, accesses above */

/*
 * ---- the agent's own code in the program ----
 *
 * What it fetches, loads and stores goes past the simulated processor, and is counted by itself.  The agent tells where
 * its code is (SIM_TELL_OWN); blocks that are translated from then on are told apart by their address, once, and have
 * no callback but one that adds.  So a probe leaves nothing in caches, TLBs and predictors, and is in no count.  What
 * remains is what it makes others execute: the calls in compiled code, the JVM's way into native methods, functions of
 * libc and of the JVM that the agent calls.
 */

static _Atomic uint64_t own_start, own_end;

static void tell_own(uint64_t start, uint64_t end)
{
    atomic_store(&own_start, start);
    atomic_store(&own_end, end);
}

static bool is_own(uint64_t address)
{
    return address >= atomic_load_explicit(&own_start, memory_order_relaxed) &&
           address < atomic_load_explicit(&own_end, memory_order_relaxed);
}

/* The block before it was left by a call that nobody predicts, nor the return from here. */
static void on_own_block(unsigned vcpu, void *context)
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

static void on_own_access(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu, (void)info, (void)address, (void)context;
    if (sim_core != NULL)
        sim_core->slot->own[SIM_OWN_ACCESSES]++;
}

/* How many loads and stores the instruction has is known, mostly; of others QEMU tells. */
static uint64_t watch_own_accesses(struct qemu_plugin_insn *insn)
{
    struct sim_operands operands = { .is_known = false };
    if (!sim.is_arm64)
        sim_operands_x86(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), qemu_plugin_insn_vaddr(insn),
                         &operands);
    if (operands.is_known)
        return operands.n_accesses;
    qemu_plugin_register_vcpu_mem_cb(insn, on_own_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    return 0;
}

static void watch_own(struct qemu_plugin_tb *tb, size_t n)
{
    uint64_t n_accesses = 0;
    for (size_t i = 0; i < n; i++)
        n_accesses += watch_own_accesses(qemu_plugin_tb_get_insn(tb, i));
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_own_block, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)(n_accesses << COUNT_BITS | n));
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
            tell_own(code[0], code[1]);
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

static void on_syscall(unsigned vcpu, const struct qemu_flags_call *call)
{
    struct sim_core *core = sim_core;
    (void)vcpu;
    if (!sim.is_arm64)
        sim_core_look_at_state(core, call);
    if (call->number == SIM_SYSCALL && core != NULL)
        hear(core, call->arguments[0], call->arguments[1]);
    else if (call->number == sim.clone && core != NULL)
        sim_misses_stack(call->arguments[1]);
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

/* A copy that stays. */
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
    qemu_plugin_register_vcpu_tb_exec_cb(tb, sim.choose_block(kept), QEMU_PLUGIN_CB_NO_REGS, kept);
}

static void translate(struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct sim_block block = { .at = qemu_plugin_tb_vaddr(tb), .n_instructions = (uint16_t)n };
    if (n == 0)
        return;
    if (is_own(block.at)) {
        watch_own(tb, n);
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

static void print_slot(FILE *out, const struct sim_slot *slot, const struct sim_costs *cost)
{
    static const char *const names[SIM_N_COUNTS] = {
        [SIM_INSTRUCTIONS] = "instructions",
        [SIM_BRANCHES] = "branches",
        [SIM_BRANCH_MISSES] = "branch-misses",
        [SIM_L1I_FETCHES] = "l1i-fetches",
        [SIM_L1I_MISSES] = "l1i-misses",
        [SIM_L1D_LOADS] = "l1d-loads",
        [SIM_L1D_STORES] = "l1d-stores",
        [SIM_L1D_LOAD_MISSES] = "l1d-load-misses",
        [SIM_L1D_STORE_MISSES] = "l1d-store-misses",
        [SIM_L2_LOAD_MISSES] = "l2-load-misses",
        [SIM_L2_STORE_MISSES] = "l2-store-misses",
        [SIM_L2_CODE_MISSES] = "l2-code-misses",
        [SIM_L2_WRITES] = "l2-writes",
        [SIM_MEMORY_WRITES] = "memory-writes",
        [SIM_TLB2_HITS] = "tlb2-hits",
        [SIM_DTLB_MISSES] = "dtlb-misses",
        [SIM_ITLB_MISSES] = "itlb-misses",
        [SIM_EXECUTED] = "executed",
    };
    fprintf(out, "thread");
    for (int i = 0; i < SIM_N_COUNTS; i++)
        fprintf(out, " %s %" PRIu64, names[i], slot->counts[i]);
    fprintf(out, " cycles %" PRIu64 "\n", sim_cycles(cost, slot->counts));
}

/*
 * A line for each thread: 'thread instructions 12 branches 3 ... cycles 10'; with windows, another one, 'windows light'
 * or 'windows heavy': see sim_windows_have_light.
 */
static void print_counts(FILE *out, const struct sim_slots *slots)
{
    uint32_t n = atomic_load(&slots->n_used);
    for (uint32_t i = 0; i < n && i < slots->n_slots; i++)
        print_slot(out, &slots->slots[i], &slots->model.cost);
    if (slots->window.counted > 0)
        fprintf(out, "windows %s\n", sim_windows_have_light() ? "light" : "heavy");
}

static void end(void)
{
    sim_misses_finish();
    FILE *out = sim.out == NULL || sim.slots == NULL ? NULL : fopen(sim.out, "we");
    if (out == NULL)
        return;
    print_counts(out, sim.slots);
    if (sim.is_checked)
        sim_check_print(out);
    fclose(out);
}

/* ---- the beginning: where the recorder's memory is, or what to do without one ---- */

/* The recorder's memory. */
static int map_slots(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || (size_t)status.st_size < sizeof(struct sim_slots))
        return qemu_refuse("there is no memory of mmprof record");
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return qemu_refuse("the memory of mmprof record cannot be mapped");
    struct sim_slots *slots = sim.slots = at;
    struct err err;
    if (slots->magic != SIM_SLOTS_MAGIC || (size_t)status.st_size < sim_slots_bytes(slots->n_slots) ||
        sim_model_check(&slots->model, &err) < 0 || sim_window_check(&slots->window, &err) < 0 ||
        sim_sets_check(&slots->model, slots->sets, &err) < 0)
        return qemu_refuse("the memory of mmprof record has another layout");
    return 0;
}

static int open_log(const char *path)
{
    int fd = sim.slots == NULL ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return qemu_refuse("the log cannot be opened");
    sim_misses_open(sim.slots, fd);
    return 0;
}

/* Without a recorder. */
static int make_slots(const char *model)
{
    struct err err;
    struct sim_slots *slots = sim.slots = sim_map(sim_slots_bytes(SIM_SLOTS_MAX));
    slots->magic = SIM_SLOTS_MAGIC;
    slots->n_slots = SIM_SLOTS_MAX;
    return sim_model_load(model, &slots->model, &err) < 0 ? qemu_refuse(err.text) : 0;
}

static int read_window(const char *text)
{
    struct err err;
    if (sim.slots == NULL)
        return qemu_refuse("window= comes before model=");
    return sim_window_read(text, &sim.slots->window, &err) < 0 ? qemu_refuse(err.text) : 0;
}

static int read_sets(const char *text)
{
    struct err err;
    struct sim_slots *slots = sim.slots;
    if (slots == NULL)
        return qemu_refuse("sets= comes before model=");
    bool is_right =
        sim_sets_read(text, &slots->sets, &err) == 0 && sim_sets_check(&slots->model, slots->sets, &err) == 0;
    return is_right ? 0 : qemu_refuse(err.text);
}

#define ARGUMENTS "it takes memory=, or model=, then window= and sets=, and out="

static int read_check(const char *what)
{
    sim.is_checked = strcmp(what, "foreseen") == 0 && sim_check_is_there();
    return sim.is_checked ? 0 : qemu_refuse(ARGUMENTS);
}

static int read_arguments(int argc, char **argv)
{
    static const struct qemu_argument arguments[] = { { "memory", map_slots, NULL }, { "model", make_slots, NULL },
                                                      { "log", open_log, NULL },     { "window", read_window, NULL },
                                                      { "sets", read_sets, NULL },   { "check", read_check, NULL },
                                                      { "out", NULL, &sim.out } };
    if (qemu_read_arguments(argc, argv, arguments, sizeof arguments / sizeof *arguments, ARGUMENTS) < 0)
        return -1;
    return sim.slots == NULL || (sim.is_checked && (sim.slots->window.counted > 0 || sim.slots->sets > 0))
               ? qemu_refuse(ARGUMENTS)
               : 0;
}

static void choose_callbacks(void)
{
    sim.has_windows = sim.slots->window.counted > 0;
    sim.choose_block = sim.has_windows  ? sim_windows_choose
                       : sim.is_checked ? sim_check_choose
                                        : sim_enter_choose(&sim.slots->model);
    sim.enter = sim_enter_choose_simulated(&sim.slots->model);
    sim.on_access = sim_access_choose(&sim.slots->model, sim.has_windows);
}

static int begin(bool is_arm64, int argc, char **argv)
{
    sim.is_arm64 = is_arm64;
    sim.clone = is_arm64 ? 220 : 56;
    if (read_arguments(argc, argv) < 0)
        return -1;
    choose_callbacks();
    qemu_stale_begin((const void *)(uintptr_t)sim.on_access, (const void *)(uintptr_t)sim_access_bytecode);
    sim_core_prepare_forks();
    return 0;
}

static const struct qemu_calls calls = { .refusal = "the simulator cannot start: ",
                                         .begin = begin,
                                         .thread_ends = sim_core_end,
                                         .translate = translate,
                                         .hear = on_syscall,
                                         .flush = sim_core_flush,
                                         .end = end };

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    return qemu_install(id, info, argc, argv, &calls);
}
