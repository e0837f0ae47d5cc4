#include "core/emu/plugin/sim_core.h"

#include "core/emu/plugin/qemu_api.h"

/* Of QEMU's 'info', so many values are remembered. */
#define ACCESSES      (1u << 18)
#define ACCESS_STORE  0x01
#define ACCESS_BEHIND 1 /* from this bit on: its size in bytes, less one */
#define ACCESS_KNOWN  0x80

/* What QEMU says of an access, by its 'info', the same in each thread; 0: not asked yet. */
static uint8_t accesses[ACCESSES];

/* Are the thread's misses kept?  Neither those of a window's warm-up nor the agent's own. */
static inline bool is_kept(const struct sim_core *core)
{
    return core->machine.counts == core->own->counts;
}

static uint8_t ask_access(uint32_t info)
{
    unsigned said = ACCESS_KNOWN | ((1u << qemu_plugin_mem_size_shift(info)) - 1) << ACCESS_BEHIND;
    said |= qemu_plugin_mem_is_store(info) ? ACCESS_STORE : 0u;
    if (info < ACCESSES)
        accesses[info] = (uint8_t)said;
    return (uint8_t)said;
}

/* An access, or the first of several in one line, that is not known to be a hit.  Returns what of it missed. */
static struct sim_missed do_access(struct sim_core *core, uint64_t address, uint32_t n_bytes, bool is_store)
{
    struct sim_missed before = sim_missed(core->machine.counts);
    sim_machine_data(&core->machine, address, n_bytes, is_store);
    struct sim_missed after = sim_missed(core->machine.counts);
    return (struct sim_missed){ after.l1d - before.l1d, after.l2 - before.l2, after.dtlb - before.dtlb };
}

static bool is_wanted(const struct sim_core *core, const struct sim_missed *missed)
{
    return is_kept(core) && sim_misses_are_kept(&core->misses) && (missed->l1d != 0 || missed->dtlb != 0);
}

static __attribute__((noinline)) void look_up(struct sim_core *core, uint64_t address, uint32_t n_bytes, bool is_store,
                                              uint64_t instruction)
{
    const struct sim_missed missed = do_access(core, address, n_bytes, is_store);
    if (is_wanted(core, &missed))
        sim_misses_take(&core->misses, instruction, core->bytecode, address, &missed);
}

static __attribute__((noinline)) void draw_access(struct sim_core *core, uint64_t address, uint64_t instruction)
{
    uint64_t next = is_kept(core) ? sim_misses_draw(&core->misses, instruction, core->bytecode, address)
                                  : sim_misses_first_draw(&core->misses);
    core->next_draw = next == UINT64_MAX ? next : core->machine.data_time + next;
}

/* ---- as QEMU tells of them ---- */

static __attribute__((noinline)) void access_slowly(struct sim_core *core, uint32_t info, uint64_t address,
                                                    const void *instruction)
{
    unsigned access = info < ACCESSES ? accesses[info] : 0;
    access = access == 0 ? ask_access(info) : access;
    qemu_stale_look(core->flags.state);
    uint32_t n_bytes = ((access & (ACCESS_KNOWN - 1u)) >> ACCESS_BEHIND) + 1;
    look_up(core, address, n_bytes, (access & ACCESS_STORE) != 0, (uint64_t)(uintptr_t)instruction);
}

/* instruction: its address.  line_bits: 0: the machine says it, and writes through, perhaps. */
static inline __attribute__((always_inline)) void access_once(uint32_t info, uint64_t address, const void *instruction,
                                                              unsigned line_bits)
{
    struct sim_core *core = sim_core;
    if (__builtin_expect(core == NULL || sim_core_is_paused(core), 0))
        return;
    unsigned access = info < ACCESSES ? accesses[info] : 0;
    uint64_t last = address + (access >> ACCESS_BEHIND) - (ACCESS_KNOWN >> ACCESS_BEHIND);
    bool is_store = (access & ACCESS_STORE) != 0, is_plain = line_bits != 0 || core->machine.is_plain || !is_store;
    line_bits = line_bits != 0 ? line_bits : core->machine.l1d.line_bits;
    if (__builtin_expect(access == 0 || !is_plain, 0) ||
        !sim_machine_hit(&core->machine, address, last, line_bits, is_store))
        access_slowly(core, info, address, instruction);
    if (__builtin_expect(core->machine.data_time >= core->next_draw, 0))
        draw_access(core, address, (uint64_t)(uintptr_t)instruction);
}

/*
 * Loads and stores alike: QEMU 7.2 confuses callbacks that want only one of them (a store comes to both, a load to that
 * of stores), and of accesses that its helper functions make it tells only the first callback.
 */
static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu;
    access_once(info, address, context, 0);
}

/* Of the machines that most models are: written back, with lines of 64 bytes. */
static void on_access_64(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu;
    access_once(info, address, context, 6);
}

/* With windows: both, in the window and its warm-up. */
static void on_access_windows(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu;
    if (sim_core != NULL && sim_core->window.phase != SIM_SKIPPED)
        access_once(info, address, context, 0);
}

static void on_access_windows_64(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu;
    if (sim_core != NULL && sim_core->window.phase != SIM_SKIPPED)
        access_once(info, address, context, 6);
}

void sim_access_bytecode(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    if (sim_core != NULL)
        sim_core->bytecode = address;
    sim.on_access(vcpu, info, address, context);
}

/* ---- foreseen ---- */

void sim_access_draw(struct sim_core *core, const struct sim_block *block, const uint64_t *registers)
{
    uint64_t n_later = core->machine.data_time - core->next_draw;
    uint64_t last = (uint64_t)block->n_loads + block->n_stores - 1;
    const struct sim_member *member = &sim_block_members(block)[n_later > last ? 0 : last - n_later];
    draw_access(core, sim_effective_address(&member->operand.addressing, registers), member->instruction);
}

/*
 * In two lines, both recent and of one page, that are in sets of their own: whatever the order of the group's accesses
 * is, no line or page is used between them but these.
 */
static bool group_hits_two(struct sim_machine *machine, const struct sim_group *group,
                           const struct sim_group_rest *rest, uint64_t first)
{
    uint64_t last = first + group->span;
    unsigned n_before = (unsigned)(0 - first) % 64;
    struct sim_lru *l1d = &machine->l1d;
    uint64_t one = machine->recent_data[(first >> 6) % SIM_RECENT];
    uint64_t other = machine->recent_data[(last >> 6) % SIM_RECENT];
    if (one >> SIM_RECENT_LINE != first >> 6 || other >> SIM_RECENT_LINE != last >> 6 ||
        sim_recent_page(one) != sim_recent_page(other) || l1d->set_mask == 0 || !sim_group_divides(rest, n_before))
        return false;
    uint64_t now = machine->data_time += group->n;
    sim_lru_use(l1d, sim_recent_at(one), rest->first_written < n_before, now);
    sim_lru_use(l1d, sim_recent_at(other), rest->last_written >= n_before, now);
    sim_lru_use(&machine->dtlb.first, sim_recent_page(one), false, now);
    return true;
}

/*
 * In one line, which is not a recent one: its first access is looked up, and then it is there for the others.  Returns
 * whether it is; if not, only the first was done.  What members are is not asked for, but where a miss is kept: their
 * memory is seldom in a cache, and to wait for it took more than half of the time.
 */
static bool do_line(struct sim_core *core, const struct sim_group *group, const struct sim_group_rest *rest,
                    uint64_t first)
{
    struct sim_machine *machine = &core->machine;
    bool is_store = (group->stores & SIM_FIRST_STORES) != 0;
    machine->counts[SIM_L1D_LOADS + is_store]--;
    const struct sim_missed missed = do_access(core, first, 1, is_store);
    if (is_wanted(core, &missed)) {
        const struct sim_member *member = rest->members;
        uint64_t address = first + (uint64_t)(member->operand.addressing.offset - group->offset);
        sim_misses_take(&core->misses, member->instruction, core->bytecode, address, &missed);
    }
    if (group->n == 1)
        return true;
    uint64_t recent = machine->recent_data[(first >> 6) % SIM_RECENT];
    if (recent >> SIM_RECENT_LINE != first >> 6)
        return false;
    uint64_t now = machine->data_time += group->n - 1u;
    sim_lru_use(&machine->l1d, sim_recent_at(recent), (group->stores & SIM_SOME_STORES) != 0, now);
    sim_lru_use(&machine->dtlb.first, sim_recent_page(recent), false, now);
    return true;
}

void sim_access_group_64(struct sim_core *core, const struct sim_block *block, uint32_t i, const uint64_t *registers)
{
    const struct sim_group *group = &sim_block_groups(block)[i];
    const struct sim_group_rest *rest = &block->rest[i];
    uint64_t first = sim_group_address(group, registers, false);
    bool is_line = first >> 6 == (first + group->span) >> 6;
    if (is_line ? do_line(core, group, rest, first) : group_hits_two(&core->machine, group, rest, first))
        return;
    const struct sim_member *member = rest->members + is_line, *end = rest->members + group->n;
    for (; member < end; member++) {
        const struct sim_operand *one = &member->operand;
        uint64_t address = sim_effective_address(&one->addressing, registers);
        core->machine.counts[SIM_L1D_LOADS + one->is_store]--;
        if (!sim_machine_hit(&core->machine, address, address + one->n_bytes - 1, 6, one->is_store))
            look_up(core, address, one->n_bytes, one->is_store, member->instruction);
    }
}

void sim_access_foreseen(struct sim_core *core, const struct sim_block *block, const uint64_t *registers)
{
    const struct sim_member *member = sim_block_members(block), *end = member + block->n_loads + block->n_stores;
    for (; member < end; member++) {
        const struct sim_operand *one = &member->operand;
        uint64_t address = sim_effective_address(&one->addressing, registers);
        if ((one->is_store && !core->machine.is_plain) ||
            !sim_machine_hit(&core->machine, address, address + one->n_bytes - 1, core->machine.l1d.line_bits,
                             one->is_store))
            look_up(core, address, one->n_bytes, one->is_store, member->instruction);
    }
    if (core->machine.data_time >= core->next_draw)
        sim_access_draw(core, block, registers);
}

qemu_plugin_memory_fn *sim_access_choose(const struct sim_model *model, bool has_windows)
{
    bool is_plain = model->write == SIM_WRITE_BACK && model->allocate == SIM_ALLOCATE;
    if (is_plain && model->l1d.line_bytes == 64)
        return has_windows ? on_access_windows_64 : on_access_64;
    return has_windows ? on_access_windows : on_access;
}
