/*
 * libmmprof-sim.so: a plugin for QEMU's user mode that simulates a processor for each thread of the program that QEMU
 * runs, and counts its events in the thread's slot (core/sim/sim_slots.h).
 *
 *     qemu-x86_64 -plugin libmmprof-sim.so,fd=7 java ...              as mmprof record --simulate does
 *     qemu-x86_64 -plugin libmmprof-sim.so,model=zen4,out=FILE prog   prints the threads' counts when prog ends
 *
 * A block of instructions is counted as a whole when it is entered.  Each load and store goes into the machine when
 * QEMU executes it.  All of a thread's state is its own, so nothing is locked but the making of blocks and threads.
 */
#include "core/plugin/qemu_api.h"

#include "core/plugin/sim_arguments.h"
#include "core/plugin/sim_blocks.h"
#include "core/plugin/sim_misses.h"
#include "core/plugin/sim_print.h"
#include "core/plugin/vm_memory.h"
#include "core/sim/sim_slots.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define VCPUS_MAX 65536

/* Of QEMU's 'info', so many values are remembered. */
#define ACCESSES      (1u << 18)
#define ACCESS_STORE  0x01
#define ACCESS_BEHIND 1 /* from this bit on: its size in bytes, less one */
#define ACCESS_KNOWN  0x80

/* QEMU finds it by this name and asks what the plugin was made for. */
__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);

/* A thread. */
struct core {
    struct sim_slot *slot; /* where it counts: its own one, or, for the agent's own work, aside */
    struct sim_slot *own, aside;
    const struct sim_block *before; /* the block executed last; no_block: nothing is known of it */
    struct sim_block kept;          /* it, when QEMU has thrown it away */
    uint64_t bytecode;              /* the address of the bytecode that the thread fetched last; 0: none yet */
    struct sim_misses misses;
    uint64_t next_draw;                /* the machine's time from which on an access is drawn */
    size_t n_bytes;                    /* of this mapping */
    struct sim_window_place place;     /* with windows only */
    uint64_t warming_up[SIM_N_COUNTS]; /* what is not counted */
    struct sim_machine machine;
};

static struct {
    struct sim_slots *slots;
    struct core *cores[VCPUS_MAX]; /* by QEMU's number; NULL: not known yet, or gone */
    pthread_mutex_t making;
    struct sim_blocks blocks;
    uint8_t accesses[ACCESSES]; /* what QEMU says of an access, by its 'info': 0: not asked yet */
    const char *out;
    qemu_plugin_execute_fn *on_block;
    qemu_plugin_memory_fn *on_access;
    unsigned line_bits; /* of code */
    int64_t clone;      /* its number: a thread begins, with a stack */
    bool is_arm64;
} plugin = { .making = PTHREAD_MUTEX_INITIALIZER };

/* ---- threads ---- */

/* A slot that was never used, or else one whose thread ended longest ago. */
static struct sim_slot *take_slot(struct sim_slots *slots)
{
    uint32_t n = atomic_load(&slots->n_used);
    for (uint32_t i = 0; n >= slots->n_slots && i < slots->n_slots; i++) {
        struct sim_slot *slot = &slots->slots[(n + i) % slots->n_slots];
        if (atomic_load(&slot->is_ended) == 0)
            continue;
        atomic_store(&slots->n_used, n + i + 1);
        return slot;
    }
    if (n >= slots->n_slots)
        return NULL;
    atomic_store(&slots->n_used, n + 1);
    return &slots->slots[n];
}

/* Where counts go when there are more threads than slots: nobody reads them. */
static struct sim_slot lost;

static const struct sim_block no_block = { .kind = SIM_NO_BRANCH };

/* In a thread's first block: QEMU tells of a new thread in the one that makes it.  NULL: it is not counted. */
static struct core *make_core(unsigned vcpu)
{
    if (vcpu >= VCPUS_MAX || plugin.slots == NULL)
        return NULL;
    size_t n = sizeof(struct core) + sim_machine_bytes(&plugin.slots->model);
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    pthread_mutex_lock(&plugin.making);
    struct core *core = at;
    struct sim_slot *slot = take_slot(plugin.slots);
    if (slot != NULL) {
        sim_misses_retire(slot);
        memset(slot->counts, 0, sizeof slot->counts);
        memset(slot->base, 0, sizeof slot->base);
        atomic_store(&slot->is_ended, 0);
        atomic_store(&slot->is_paused, 0);
        atomic_store(&slot->tid, (int32_t)syscall(SYS_gettid));
    }
    core->own = slot == NULL ? &lost : slot;
    core->slot = core->own;
    core->before = &no_block;
    sim_machine_init(&core->machine, &plugin.slots->model, core + 1, core->slot->counts);
    if (plugin.slots->window.counted > 0)
        sim_window_begin(&core->place, &plugin.slots->window, atomic_load(&plugin.slots->n_used));
    core->n_bytes = n;
    sim_misses_begin(&core->misses, core->own, &core->machine);
    core->next_draw = sim_misses_first_draw(&core->misses);
    plugin.cores[vcpu] = core;
    pthread_mutex_unlock(&plugin.making);
    return core;
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    struct core *core = vcpu < VCPUS_MAX ? plugin.cores[vcpu] : NULL;
    if (core == NULL)
        return;
    plugin.cores[vcpu] = NULL;
    sim_misses_end(&core->misses);
    atomic_store(&core->own->is_ended, 1);
    munmap(core, core->n_bytes);
}

/* A new thread gets the number of one that has ended. */
static void on_thread_begin(qemu_plugin_id_t id, unsigned vcpu)
{
    on_thread_end(id, vcpu);
}

/* Nobody holds the lock in a child that is forked. */
static void before_fork(void)
{
    pthread_mutex_lock(&plugin.making);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&plugin.making);
}

/*
 * A forked child runs in the emulator until it executes another program, and shares the slots: it counts nothing.  Its
 * machines are copies that it leaves alone.
 */
static void in_child(void)
{
    pthread_mutex_unlock(&plugin.making);
    sim_misses_forget();
    plugin.slots = NULL;
    plugin.out = NULL;
    memset(plugin.cores, 0, sizeof plugin.cores);
}

/* ---- execution ---- */

/* NULL: not known yet; or, of a number beyond all that are kept, never. */
static inline struct core *core_of(unsigned vcpu)
{
    return __builtin_expect(vcpu < VCPUS_MAX, 1) ? plugin.cores[vcpu] : NULL;
}

static inline bool is_paused(const struct core *core)
{
    return atomic_load_explicit(&core->slot->is_paused, memory_order_relaxed) != 0;
}

/* All that happens at a block's begin. */
static __attribute__((noinline)) void block_slowly(struct core *core, const struct sim_block *before,
                                                   const struct sim_block *block)
{
    uint32_t n = block->n_instructions;
    if (before->kind != SIM_NO_BRANCH)
        sim_machine_branch(&core->machine, before->kind, before->last_at, before->behind, block->at);
    else if (before->last_at == block->at)
        n--; /* it was counted with the block before, which did not finish it: see sim_blocks.h */
    sim_machine_fetch_lines(&core->machine, block->first_line, block->last_line, n);
}

static __attribute__((noinline)) void block_first(unsigned vcpu, const struct sim_block *block)
{
    struct core *core = core_of(vcpu);
    if (core == NULL && (core = make_core(vcpu)) == NULL)
        return;
    if (is_paused(core)) {
        core->before = &no_block;
        return;
    }
    const struct sim_block *before = core->before;
    core->before = block;
    block_slowly(core, before, block);
}

static void on_block(unsigned vcpu, void *context)
{
    const struct sim_block *block = context;
    struct core *core = core_of(vcpu);
    if (__builtin_expect(core == NULL || is_paused(core), 0)) {
        block_first(vcpu, block);
        return;
    }
    const struct sim_block *before = core->before;
    core->before = block;
    if (before->kind > SIM_CONDITIONAL || before->last_at == block->at ||
        !sim_machine_fetch_hit(&core->machine, block->first_line, block->last_line, block->n_instructions)) {
        block_slowly(core, before, block);
        return;
    }
    if (before->kind == SIM_CONDITIONAL)
        sim_machine_conditional(&core->machine, before->last_at, before->behind != block->at);
}

static void choose_counts(struct core *core)
{
    bool is_counted = plugin.slots->window.counted == 0 || core->place.phase == SIM_COUNTED;
    core->machine.counts = is_counted ? core->slot->counts : core->warming_up;
}

/* The next phase of the thread's windows. */
static __attribute__((noinline)) void change_phase(struct core *core)
{
    sim_window_next(&core->place, &plugin.slots->window);
    choose_counts(core);
}

/* Are the thread's misses kept?  Neither those of a window's warm-up nor the agent's own. */
static inline bool is_kept(const struct core *core)
{
    return core->machine.counts == core->own->counts;
}

/* With windows. */
static void on_block_windows(unsigned vcpu, void *context)
{
    const struct sim_block *block = context;
    struct core *core = core_of(vcpu);
    if (__builtin_expect(core == NULL, 0) && (core = make_core(vcpu)) == NULL)
        return;
    if (__builtin_expect(is_paused(core), 0)) {
        core->before = &no_block;
        return;
    }
    const struct sim_block *before = core->before;
    uint32_t n = block->n_instructions;
    core->before = block;
    n -= before->kind == SIM_NO_BRANCH && before->last_at == block->at; /* as in block_slowly */
    core->slot->counts[SIM_EXECUTED] += n;
    if ((core->place.left -= n) < 0)
        change_phase(core);
    if (core->place.phase != SIM_SKIPPED)
        block_slowly(core, before, block);
}

static uint8_t ask_access(uint32_t info)
{
    unsigned said = ACCESS_KNOWN | ((1u << qemu_plugin_mem_size_shift(info)) - 1) << ACCESS_BEHIND;
    said |= qemu_plugin_mem_is_store(info) ? ACCESS_STORE : 0u;
    if (info < ACCESSES)
        plugin.accesses[info] = (uint8_t)said;
    return (uint8_t)said;
}

static __attribute__((noinline)) void access_slowly(struct core *core, uint32_t info, uint64_t address,
                                                    const void *instruction)
{
    unsigned access = info < ACCESSES ? plugin.accesses[info] : 0;
    access = access == 0 ? ask_access(info) : access;
    uint32_t n_bytes = ((access & (ACCESS_KNOWN - 1u)) >> ACCESS_BEHIND) + 1;
    struct sim_missed before = sim_missed(core->machine.counts);
    sim_machine_data(&core->machine, address, n_bytes, (access & ACCESS_STORE) != 0);
    struct sim_missed after = sim_missed(core->machine.counts);
    if (is_kept(core) && (after.l1d != before.l1d || after.dtlb != before.dtlb)) {
        const struct sim_missed missed = { after.l1d - before.l1d, after.l2 - before.l2, after.dtlb - before.dtlb };
        sim_misses_take(&core->misses, (uint64_t)(uintptr_t)instruction, core->bytecode, address, &missed);
    }
}

static __attribute__((noinline)) void draw_access(struct core *core, uint64_t address, const void *instruction)
{
    uint64_t at = (uint64_t)(uintptr_t)instruction, next;
    next = is_kept(core) ? sim_misses_draw(&core->misses, at, core->bytecode, address)
                         : sim_misses_first_draw(&core->misses);
    core->next_draw = next == UINT64_MAX ? next : core->machine.data_time + next;
}

/* instruction: its address.  line_bits: 0: the machine says it, and writes through, perhaps. */
static inline __attribute__((always_inline)) void access_once(unsigned vcpu, uint32_t info, uint64_t address,
                                                              const void *instruction, unsigned line_bits)
{
    struct core *core = core_of(vcpu);
    if (__builtin_expect(core == NULL || is_paused(core), 0))
        return;
    unsigned access = info < ACCESSES ? plugin.accesses[info] : 0;
    uint64_t last = address + (access >> ACCESS_BEHIND) - (ACCESS_KNOWN >> ACCESS_BEHIND);
    bool is_store = (access & ACCESS_STORE) != 0, is_plain = line_bits != 0 || core->machine.is_plain || !is_store;
    line_bits = line_bits != 0 ? line_bits : core->machine.l1d.line_bits;
    if (__builtin_expect(access == 0 || !is_plain, 0) ||
        !sim_machine_hit(&core->machine, address, last, line_bits, is_store))
        access_slowly(core, info, address, instruction);
    if (__builtin_expect(core->machine.data_time >= core->next_draw, 0))
        draw_access(core, address, instruction);
}

/*
 * Loads and stores alike: QEMU 7.2 confuses callbacks that want only one of them (a store comes to both, a load to that
 * of stores), and of accesses that its helper functions make it tells only the first callback.
 */
static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    access_once(vcpu, info, address, context, 0);
}

/* Of the machines that most models are: written back, with lines of 64 bytes. */
static void on_access_64(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    access_once(vcpu, info, address, context, 6);
}

/* With windows. */
static void on_access_windows(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    const struct core *core = core_of(vcpu);
    if (core != NULL && core->place.phase != SIM_SKIPPED)
        access_once(vcpu, info, address, context, 0);
}

/* The interpreter fetches a bytecode, or its operand: see sim_decode_is_dispatch. */
static void on_bytecode(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    struct core *core = core_of(vcpu);
    if (core != NULL)
        core->bytecode = address;
    plugin.on_access(vcpu, info, address, context);
}

/* The agent asks for its slot.  Written by system call: a bad pointer of the program's is not ours to fault on. */
static void answer(const struct core *core, uint64_t to_address)
{
    struct sim_answer said = { core->slot, plugin.slots };
    struct iovec from = { &said, sizeof said }, to = { (void *)(uintptr_t)to_address, sizeof said };
    if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) < 0)
        return;
}

static void hear(struct core *core, uint64_t what, uint64_t argument)
{
    uint64_t symbols[SIM_N_SYMBOLS];
    switch (what) {
    case SIM_ASK_ASIDE:
        core->slot = &core->aside;
        choose_counts(core);
        answer(core, argument);
        break;
    case SIM_TELL_BACK:
        core->slot = core->own;
        choose_counts(core);
        break;
    case SIM_ASK_SLOT:
        answer(core, argument);
        break;
    case SIM_TELL_TABLES:
        if (vm_get(argument, symbols, sizeof symbols))
            sim_misses_tables(symbols);
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
    (void)id, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    struct core *core = core_of(vcpu);
    if (number == SIM_SYSCALL && core != NULL)
        hear(core, a1, a2);
    else if (number == plugin.clone && core != NULL)
        sim_misses_stack(a2);
}

/* ---- translation ---- */

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct sim_block block = { .at = qemu_plugin_tb_vaddr(tb), .n_instructions = (uint32_t)n };
    (void)id;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const uint8_t *bytes = qemu_plugin_insn_data(insn);
        size_t n_bytes = qemu_plugin_insn_size(insn);
        bool is_dispatch = !plugin.is_arm64 && sim_decode_is_dispatch(bytes, n_bytes);
        qemu_plugin_register_vcpu_mem_cb(insn, is_dispatch ? on_bytecode : plugin.on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
        if (i + 1 < n)
            continue;
        block.last_at = qemu_plugin_insn_vaddr(insn);
        block.behind = block.last_at + n_bytes;
        block.kind = plugin.is_arm64 ? sim_decode_arm64(bytes, n_bytes) : sim_decode_x86(bytes, n_bytes);
    }
    if (n == 0 || block.behind <= block.at)
        return;
    block.first_line = block.at >> plugin.line_bits;
    block.last_line = (block.behind - 1) >> plugin.line_bits;
    pthread_mutex_lock(&plugin.making);
    struct sim_block *kept = sim_blocks_add(&plugin.blocks, &block);
    pthread_mutex_unlock(&plugin.making);
    if (kept != NULL)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, plugin.on_block, QEMU_PLUGIN_CB_NO_REGS, kept);
}

/* QEMU throws all its translations away, while no thread is in one. */
static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    pthread_mutex_lock(&plugin.making);
    for (unsigned vcpu = 0; vcpu < VCPUS_MAX; vcpu++) {
        struct core *core = plugin.cores[vcpu];
        if (core == NULL)
            continue;
        core->kept = *core->before;
        core->before = &core->kept;
    }
    sim_blocks_clear(&plugin.blocks);
    pthread_mutex_unlock(&plugin.making);
}

/* ---- the end ---- */

static void on_end(qemu_plugin_id_t id, void *context)
{
    (void)id;
    (void)context;
    sim_misses_finish();
    FILE *out = plugin.out == NULL || plugin.slots == NULL ? NULL : fopen(plugin.out, "we");
    if (out == NULL)
        return;
    sim_print(out, plugin.slots);
    fclose(out);
}

/* ---- the beginning ---- */

static void choose_callbacks(const struct sim_model *model, bool has_windows)
{
    bool is_plain = model->write == SIM_WRITE_BACK && model->allocate == SIM_ALLOCATE;
    plugin.on_block = has_windows ? on_block_windows : on_block;
    plugin.on_access = has_windows                               ? on_access_windows
                       : is_plain && model->l1d.line_bytes == 64 ? on_access_64
                                                                 : on_access;
    plugin.line_bits = sim_machine_code_bits(model);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    if (info->system_emulation)
        return sim_arguments_refuse("it simulates programs (qemu-x86_64), not whole machines");
    plugin.is_arm64 = strcmp(info->target_name, "aarch64") == 0;
    if (!plugin.is_arm64 && strcmp(info->target_name, "x86_64") != 0)
        return sim_arguments_refuse("it knows programs for x86_64 and aarch64 only");
    plugin.clone = plugin.is_arm64 ? 220 : 56;
    if (sim_arguments_read(argc, argv, &plugin.slots, &plugin.out) < 0)
        return -1;
    choose_callbacks(&plugin.slots->model, plugin.slots->window.counted > 0);
    pthread_atfork(before_fork, in_parent, in_child);
    qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
