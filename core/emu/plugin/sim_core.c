#include "core/emu/plugin/sim_core.h"

#include <sys/mman.h>
#include <sys/syscall.h>

/* ---- blocks ---- */

/* More than the largest block needs. */
#define CHUNK_BYTES (1u << 18)

/* Of the processor that simulates. */
#define LINE_BYTES 64u

struct sim_blocks_chunk {
    struct sim_blocks_chunk *before;
    uint64_t unused[7];
    uint8_t bytes[];
};

/* Where so many bytes, or a line of them, divide no line that they need not. */
static size_t fit_lines(size_t at, size_t n_bytes)
{
    size_t first = n_bytes < LINE_BYTES ? n_bytes : LINE_BYTES;
    return at % LINE_BYTES + first > LINE_BYTES ? (at | (LINE_BYTES - 1)) + 1 : at;
}

static void *take_bytes(struct sim_room *room, size_t n_bytes)
{
    size_t at = fit_lines(room->n_in_newest, n_bytes);
    if (room->newest == NULL || at + n_bytes > CHUNK_BYTES - sizeof(struct sim_blocks_chunk)) {
        struct sim_blocks_chunk *chunk = sim_map(CHUNK_BYTES);
        chunk->before = room->newest;
        room->newest = chunk;
        at = 0;
    }
    room->n_in_newest = at + n_bytes;
    return room->newest->bytes + at;
}

struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block,
                                 const struct sim_foresight *foresight)
{
    struct sim_foresight_bytes n = { 0 };
    if (foresight != NULL)
        n = sim_foresight_bytes(foresight);
    struct sim_block *kept = take_bytes(&blocks->blocks, sizeof *kept + n.groups);
    *kept = *block;
    if (n.rest == 0)
        return kept;
    const struct sim_foreseen foreseen =
        sim_foresight_make(foresight, (struct sim_group *)(void *)(kept + 1), take_bytes(&blocks->rest, n.rest));
    kept->rest = foreseen.rest;
    kept->n_simple = foreseen.n_simple;
    kept->n_general = foreseen.n_general;
    kept->n_loads = foreseen.n_loads;
    kept->n_stores = foreseen.n_stores;
    return kept;
}

static void clear_room(struct sim_room *room)
{
    while (room->newest != NULL) {
        struct sim_blocks_chunk *chunk = room->newest;
        room->newest = chunk->before;
        munmap(chunk, CHUNK_BYTES);
    }
    room->n_in_newest = 0;
}

static void sim_blocks_clear(struct sim_blocks *blocks)
{
    clear_room(&blocks->blocks);
    clear_room(&blocks->rest);
}

/* ---- threads ---- */

struct sim_state sim = { .making = PTHREAD_MUTEX_INITIALIZER };

const struct sim_block sim_no_block = { .kind = SIM_NO_BRANCH, .n_last = 1 }; /* its end is no address */

_Thread_local struct sim_core *sim_core;

/* Where counts go when there are more threads than slots: nobody reads them. */
static struct sim_slot lost;

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

/* For this thread. */
static struct sim_slot *make_slot(void)
{
    struct sim_slot *slot = take_slot(sim.slots);
    if (slot == NULL)
        return &lost;
    sim_misses_retire(slot);
    memset(slot->counts, 0, sizeof slot->counts);
    memset(slot->base, 0, sizeof slot->base);
    memset(slot->own, 0, sizeof slot->own);
    memset(&slot->sets, 0, sizeof slot->sets);
    atomic_store(&slot->is_ended, 0);
    atomic_store(&slot->is_paused, 0);
    atomic_store(&slot->tid, (int32_t)syscall(SYS_gettid));
    return slot;
}

struct sim_core *sim_core_make(unsigned vcpu, void *state, const uint8_t *returns_to)
{
    if (vcpu >= QEMU_VCPUS_MAX || sim.slots == NULL)
        return NULL;
    size_t n = sizeof(struct sim_core) + sim_machine_bytes(&sim.slots->model);
    struct sim_core *core = sim_map(n);
    pthread_mutex_lock(&sim.making);
    core->slot = core->own = make_slot();
    core->before = &sim_no_block;
    sim_machine_init(&core->machine, &sim.slots->model, core + 1, core->slot->counts);
    if (sim.shared == NULL)
        sim.shared = sim_shared_make(&sim.slots->model);
    sim_machine_share(&core->machine, sim.shared);
    if (sim.slots->sets > 0)
        sim_machine_sample(&core->machine, sim.slots->sets, sim_sets_draw(sim.slots->sets, SIM_SETS_SEED));
    sim_core_choose_counts(core);
    if (sim.slots->window.counted > 0)
        sim_window_begin(&core->window, &sim.slots->window, atomic_load(&sim.slots->n_used));
    core->skipping = core->window.left;
    qemu_flags_begin(&core->flags, vcpu, state, returns_to);
    core->n_bytes = n;
    sim_misses_begin(&core->misses, core->own, &core->machine);
    core->next_draw = sim_misses_first_draw(&core->misses);
    sim.cores[vcpu] = sim_core = core;
    pthread_mutex_unlock(&sim.making);
    return core;
}

void sim_core_look_at_state(struct sim_core *core, const struct qemu_flags_call *call)
{
    /* With windows, each thread's are wanted. */
    if (core == NULL || core->flags.is_seen || (!sim.has_windows && atomic_load(&sim.sees_registers)))
        return;
    if (qemu_flags_see(&core->flags, call))
        atomic_store(&sim.sees_registers, true);
}

void sim_core_end(unsigned vcpu)
{
    struct sim_core *core = sim.cores[vcpu];
    if (core == NULL)
        return;
    sim.cores[vcpu] = NULL;
    if (sim_core == core)
        sim_core = NULL;
    sim_misses_end(&core->misses);
    atomic_store(&core->own->is_ended, 1);
    munmap(core, core->n_bytes);
}

void sim_core_flush(void)
{
    pthread_mutex_lock(&sim.making);
    for (unsigned vcpu = 0; vcpu < QEMU_VCPUS_MAX; vcpu++) {
        struct sim_core *core = sim.cores[vcpu];
        if (core == NULL)
            continue;
        qemu_stale_clear(core->flags.state);
        core->kept = *core->before;
        core->kept.rest = NULL;
        core->before = &core->kept;
    }
    sim_blocks_clear(&sim.blocks);
    pthread_mutex_unlock(&sim.making);
}

void sim_core_fetch_slowly(struct sim_core *core, const struct sim_block *before, const struct sim_block *block)
{
    unsigned line_bits = core->machine.l1i.line_bits;
    uint32_t n = block->n_instructions - (uint32_t)sim_block_goes_on(before, block);
    sim_machine_fetch_lines(&core->machine, block->at >> line_bits, (block->behind - 1) >> line_bits, n);
}

/* ---- forks ---- */

/* Nobody holds the lock in a child that is forked. */
static void before_fork(void)
{
    pthread_mutex_lock(&sim.making);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&sim.making);
}

/*
 * A forked child runs in the emulator until it executes another program, and shares the slots: it counts nothing.  Its
 * machines are copies that it leaves alone, and its flags stay as they are.
 */
static void in_child(void)
{
    pthread_mutex_unlock(&sim.making);
    sim_misses_forget();
    sim.slots = NULL;
    sim.out = NULL;
    memset(sim.cores, 0, sizeof sim.cores);
    sim_core = NULL;
}

void sim_core_prepare_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}
