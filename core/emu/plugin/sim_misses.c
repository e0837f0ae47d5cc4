#include "core/emu/plugin/sim_misses.h"

#include "core/base/ticks.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#define SHARE        8     /* so many times as long as it took, nothing is looked up again */
#define CHECK_MISSES 1024u /* the time is looked at so often */
#define WAITING_MAX  (1u << 18)
#define TRIES_MAX    8

/* One that cannot be looked up yet: the object has no header before it is cleared, the class is new. */
struct waiting {
    struct sim_miss miss;
    uint32_t thread, tries;
};

static struct {
    bool is_wanted;       /* a log is */
    pthread_mutex_t lock; /* for all below but the atomics */
    struct sim_misses *threads;
    struct sim_lookup lookup;
    struct sim_contents contents;
    struct sim_miss *taken;  /* mapped: a thread's */
    struct waiting *waiting; /* mapped */
    uint32_t n_waiting;
    _Atomic uint64_t next_look_ns;
    /* In a young collection: where full ones are counted, and how many there were before; else 0. */
    _Atomic uint64_t full_at;
    _Atomic uint32_t n_full;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

void sim_misses_open(struct sim_slots *slots, int fd)
{
    all.taken = sim_map(SIM_MISSES_KEPT * sizeof *all.taken);
    all.waiting = sim_map(WAITING_MAX * sizeof *all.waiting);
    sim_lookup_open(&all.lookup, slots, fd);
    sim_contents_open(&all.contents, &all.lookup, &slots->model);
    all.is_wanted = true;
}

void sim_misses_forget(void)
{
    all.is_wanted = false;
}

/* ---- looking up ---- */

static void hold(struct sim_misses *mine)
{
    while (atomic_exchange_explicit(&mine->is_locked, true, memory_order_acquire))
        sched_yield();
}

static void release(struct sim_misses *mine)
{
    atomic_store_explicit(&mine->is_locked, false, memory_order_release);
}

static void look_up_thread(struct sim_misses *mine)
{
    hold(mine);
    uint32_t n = mine->n;
    if (n > 0)
        memcpy(all.taken, mine->kept, n * sizeof *all.taken);
    mine->n = 0;
    mine->thinned -= mine->thinned > 0;
    release(mine);
    qsort(all.taken, n, sizeof *all.taken, vm_compare);
    for (uint32_t i = 0; i < n; i++) {
        bool is_last = all.n_waiting == WAITING_MAX;
        if (!sim_lookup_miss(&all.lookup, &all.taken[i], (uint32_t)mine->tid, is_last) && !is_last)
            all.waiting[all.n_waiting++] = (struct waiting){ all.taken[i], (uint32_t)mine->tid, 0 };
    }
}

static void look_up_waiting(bool is_last)
{
    uint32_t n = all.n_waiting;
    all.n_waiting = 0;
    qsort(all.waiting, n, sizeof *all.waiting, vm_compare);
    for (uint32_t i = 0; i < n; i++) {
        struct waiting *waiting = &all.waiting[i];
        bool is_now = is_last || ++waiting->tries == TRIES_MAX;
        if (!sim_lookup_miss(&all.lookup, &waiting->miss, waiting->thread, is_now) && !is_now)
            all.waiting[all.n_waiting++] = *waiting;
    }
}

/* What is in the caches now; after sim_lookup_begin. */
static void look_at_contents(void)
{
    uint64_t start = sim_clock_own_ns(), ticks = ticks_now();
    if (all.lookup.is_moving || !all.lookup.has_heap)
        return;
    for (struct sim_misses *thread = all.threads; thread != NULL; thread = thread->next)
        sim_contents_look(&all.contents, &thread->caches, ticks);
    sim_contents_looked(&all.contents, sim_clock_own_ns() - start, ticks);
}

/* All threads' misses; the lock is held.  is_last: what cannot be found now will not be found later. */
static void look_up_all(bool is_last)
{
    uint64_t start = sim_clock_own_ns();
    sim_lookup_begin(&all.lookup);
    if (!all.lookup.is_moving) /* where objects are copied to is known at the end */
        look_up_waiting(false);
    for (struct sim_misses *thread = all.threads; thread != NULL; thread = thread->next)
        look_up_thread(thread);
    if (is_last)
        look_up_waiting(true);
    if (sim_contents_are_due(&all.contents))
        look_at_contents();
    uint64_t took = sim_clock_own_ns() - start;
    all.lookup.sums.n_looks++;
    all.lookup.sums.look_ns += took;
    atomic_store(&all.next_look_ns, sim_clock_cpu_ns() + SHARE * took);
    sim_sums_write_due(&all.lookup.sums);
}

/* ---- collections; the lock is held ---- */

static void begin_moving(bool is_full)
{
    sim_lookup_move(&all.lookup, is_full);
    atomic_store(&all.n_full, all.lookup.n_full);
    atomic_store(&all.full_at, all.lookup.full_at);
}

static void end_moving(void)
{
    if (all.lookup.is_moving)
        look_up_all(false);
    atomic_store(&all.full_at, 0);
    sim_lookup_moved(&all.lookup);
    look_up_all(true);
}

/* ---- keeping ---- */

static uint64_t next_random(struct sim_misses *mine)
{
    mine->random ^= mine->random << 13;
    mine->random ^= mine->random >> 7;
    mine->random ^= mine->random << 17;
    return mine->random;
}

/* Every second one goes, at random: in turns would keep one of two instructions that miss alternately. */
static void thin_out(struct sim_misses *mine)
{
    uint32_t n = 0;
    hold(mine);
    for (uint32_t i = 0; i < mine->n; i++) {
        if ((next_random(mine) >> 33 & 1) != 0)
            continue;
        mine->kept[n] = mine->kept[i];
        mine->kept[n++].weight++;
    }
    mine->n = n;
    mine->thinned++;
    release(mine);
}

static __attribute__((noinline)) void make_room(struct sim_misses *mine)
{
    bool is_full = mine->n >= SIM_MISSES_KEPT;
    if (sim_clock_cpu_ns() >= atomic_load(&all.next_look_ns)) {
        pthread_mutex_lock(&all.lock);
        if (mine->n >= SIM_MISSES_KEPT || sim_sums_are_due(&all.lookup.sums))
            look_up_all(false);
        pthread_mutex_unlock(&all.lock);
    } else if (is_full) {
        thin_out(mine);
    }
}

/*
 * Behind a young collection, in the same pause, begins a full one, which marks objects before it moves them: what was
 * kept until now can be looked up still.
 */
static __attribute__((noinline)) void look_for_full(void)
{
    pthread_mutex_lock(&all.lock);
    if (sim_lookup_full_has_begun(&all.lookup)) {
        end_moving();
        begin_moving(true);
    }
    pthread_mutex_unlock(&all.lock);
}

static inline bool may_be_full(void)
{
    uint64_t at = atomic_load_explicit(&all.full_at, memory_order_acquire);
    return at != 0 && vm_known_u32(at) != atomic_load(&all.n_full);
}

static void keep(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, struct sim_miss *miss)
{
    miss->is_interpreted =
        bytecode != 0 && instruction >= all.lookup.interpreter && instruction < all.lookup.interpreter_end;
    miss->where = miss->is_interpreted ? bytecode : instruction;
    if (may_be_full())
        look_for_full();
    hold(mine);
    mine->kept[mine->n++] = *miss;
    uint32_t n = mine->n;
    release(mine);
    if (n % CHECK_MISSES == 0)
        make_room(mine);
}

void sim_misses_take(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address,
                     const struct sim_missed *missed)
{
    if (mine->thinned > 0 && (next_random(mine) >> 20 & ((UINT64_C(1) << mine->thinned) - 1)) != 0)
        return;
    struct sim_miss miss = { .address = address,
                             .counts = { [MISS_L1D] = (uint8_t)missed->l1d,
                                         [MISS_L2] = (uint8_t)missed->l2,
                                         [MISS_DTLB] = (uint8_t)missed->dtlb },
                             .weight = (uint8_t)mine->thinned };
    keep(mine, instruction, bytecode, &miss);
}

uint64_t sim_misses_first_draw(struct sim_misses *mine)
{
    return mine->kept == NULL ? UINT64_MAX : 1 + (next_random(mine) >> 16) % (2 * SIM_ACCESSES_DRAWN - 1);
}

uint64_t sim_misses_draw(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address)
{
    struct sim_miss access = { .address = address, .is_access = true };
    if (mine->kept != NULL)
        keep(mine, instruction, bytecode, &access);
    return sim_misses_first_draw(mine);
}

/* ---- threads ---- */

void sim_misses_begin(struct sim_misses *mine, const struct sim_slot *slot, const struct sim_machine *machine)
{
    if (!all.is_wanted)
        return;
    mine->kept = sim_map(SIM_MISSES_KEPT * sizeof *mine->kept);
    mine->tid = slot->tid;
    mine->caches = (struct sim_contents_of){ .machine = machine, .tid = (uint32_t)slot->tid };
    mine->random = (uint64_t)slot->tid * UINT64_C(0x9e3779b97f4a7c15) | 1; /* the same in each run of a program */
    pthread_mutex_lock(&all.lock);
    mine->next = all.threads;
    if (mine->next != NULL)
        mine->next->before = mine;
    all.threads = mine;
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_end(struct sim_misses *mine)
{
    if (!all.is_wanted || mine->kept == NULL)
        return;
    pthread_mutex_lock(&all.lock);
    if (mine->n > 0)
        look_up_all(false);
    if (mine->before != NULL)
        mine->before->next = mine->next;
    else
        all.threads = mine->next;
    if (mine->next != NULL)
        mine->next->before = mine->before;
    pthread_mutex_unlock(&all.lock);
    munmap(mine->kept, SIM_MISSES_KEPT * sizeof *mine->kept);
    mine->kept = NULL;
}

void sim_misses_retire(const struct sim_slot *slot)
{
    for (int i = 0; i < SIM_N_COUNTS; i++)
        all.lookup.sums.retired[i] += slot->counts[i];
}

/* ---- what is told ---- */

void sim_misses_tables(const uint64_t *symbols)
{
    if (!all.is_wanted)
        return;
    pthread_mutex_lock(&all.lock);
    sim_lookup_tables(&all.lookup, symbols);
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_move(void)
{
    if (!all.is_wanted)
        return;
    pthread_mutex_lock(&all.lock);
    look_up_all(true);
    begin_moving(false);
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_moved(void)
{
    if (!all.is_wanted)
        return;
    pthread_mutex_lock(&all.lock);
    end_moving();
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_finish(void)
{
    if (!all.is_wanted)
        return;
    pthread_mutex_lock(&all.lock);
    look_up_all(true);
    look_at_contents();
    sim_sums_write(&all.lookup.sums);
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_stack(uint64_t top)
{
    vm_ranges_add_stack(&all.lookup.ranges, top);
}
