#include "core/plugin/sim_misses.h"

#include "core/base/ticks.h"
#include "core/plugin/owners.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PERIOD_NS      UINT64_C(200000000) /* what was found is written so often */
#define SHARE          8                   /* so many times as long as it took, nothing is looked up again */
#define METADATA_SHARE 8                   /* the same for going through all classes, a part of it */
#define CHECK_MISSES   1024u               /* the time is looked at so often */
#define SUMS           (1u << 17)
#define SUMS_FULL      (SUMS / 4 * 3)
#define WAITING_MAX    (1u << 18)
#define TRIES_MAX      8

/* Misses of one thread, place and cell. */
struct sum {
    uint64_t place;
    uint32_t thread, cell, line; /* line: plus 1, place is a method */
    uint32_t n_kept;             /* 0: an empty place */
    uint64_t counts[MISS_N_COUNTS];
};

/* One that cannot be looked up yet: the object has no header before it is cleared, the class is new. */
struct waiting {
    struct sim_miss miss;
    uint32_t thread, tries;
};

static struct {
    struct sim_slots *slots; /* NULL: no log is wanted */
    pthread_mutex_t lock;    /* for all below but the atomics */
    struct sim_misses *threads;
    struct owners owners;
    struct vm_tables tables;
    struct vm_classes classes;
    struct heap_walk heap;
    struct vm_metadata metadata;
    struct vm_ranges ranges;
    const char *why; /* the heap cannot be looked into */
    bool has_heap, has_maps, has_metadata;
    _Atomic bool is_moving;
    uint64_t interpreter, interpreter_end;
    struct sim_miss *taken;  /* mapped: a thread's */
    struct sum *sums;        /* mapped: open addressing */
    struct waiting *waiting; /* mapped */
    uint32_t n_sums, n_waiting;
    uint64_t written_ns, next_metadata_ns, n_looks, look_ns;
    _Atomic uint64_t next_look_ns;
    uint64_t retired[SIM_N_COUNTS], told[SIM_N_COUNTS]; /* of threads that are gone; by the last totals */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER, .why = "the JVM had not yet told where its heap is" };

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

/* What looking up takes is this thread's CPU time, a share of all threads': on a busy machine they wait, too. */
static uint64_t own_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int sim_misses_open(struct sim_slots *slots, int fd)
{
    all.taken = vm_map(SIM_MISSES_KEPT * sizeof *all.taken);
    all.sums = vm_map(SUMS * sizeof *all.sums);
    all.waiting = vm_map(WAITING_MAX * sizeof *all.waiting);
    if (all.taken == NULL || all.sums == NULL || all.waiting == NULL || owners_open(&all.owners, fd) < 0 ||
        vm_ranges_open(&all.ranges) < 0)
        return -1;
    all.slots = slots;
    all.written_ns = now_ns();
    return 0;
}

void sim_misses_forget(void)
{
    all.slots = NULL;
}

bool sim_misses_are_wanted(void)
{
    return all.slots != NULL;
}

/* ---- what was found ---- */

static void tell_totals(uint64_t ticks)
{
    uint64_t now[SIM_N_COUNTS], since[SIM_N_COUNTS];
    uint32_t n = atomic_load(&all.slots->n_used);
    memcpy(now, all.retired, sizeof now);
    for (uint32_t i = 0; i < n && i < all.slots->n_slots; i++)
        for (int k = 0; k < SIM_N_COUNTS; k++)
            now[k] += all.slots->slots[i].counts[k];
    for (int k = 0; k < SIM_N_COUNTS; k++)
        since[k] = now[k] > all.told[k] ? now[k] - all.told[k] : 0;
    memcpy(all.told, now, sizeof now);
    const struct miss_entry entry = {
        .kind = MISS_TOTALS,
        .ticks = ticks,
        .n_accesses = since[SIM_L1D_LOADS] + since[SIM_L1D_STORES],
        .counts = { since[SIM_L1D_LOAD_MISSES] + since[SIM_L1D_STORE_MISSES],
                    since[SIM_L2_LOAD_MISSES] + since[SIM_L2_STORE_MISSES], since[SIM_DTLB_MISSES] },
        .n_looks = all.n_looks,
        .look_ns = all.look_ns,
    };
    all.n_looks = all.look_ns = 0;
    owners_log(&all.owners, &entry);
}

static void write_sums(void)
{
    uint64_t ticks = ticks_now();
    for (uint32_t i = 0; all.n_sums > 0 && i < SUMS; i++) {
        const struct sum *sum = &all.sums[i];
        if (sum->n_kept == 0)
            continue;
        struct miss_entry entry = { .kind = MISS_COUNTS,
                                    .ticks = ticks,
                                    .thread = sum->thread,
                                    .place = sum->place,
                                    .line = sum->line,
                                    .cell = sum->cell,
                                    .n_kept = sum->n_kept };
        memcpy(entry.counts, sum->counts, sizeof entry.counts);
        owners_log(&all.owners, &entry);
    }
    if (all.n_sums > 0)
        memset(all.sums, 0, SUMS * sizeof *all.sums);
    all.n_sums = 0;
    all.written_ns = now_ns();
    tell_totals(ticks);
    owners_flush(&all.owners);
}

static struct sum *sum_of(uint64_t place, uint32_t line, uint32_t thread, uint32_t cell)
{
    uint64_t hash = (place + ((uint64_t)cell << 40) + ((uint64_t)thread << 20) + line) * UINT64_C(0x9e3779b97f4a7c15);
    for (hash ^= hash >> 31;; hash++) {
        struct sum *sum = &all.sums[hash & (SUMS - 1)];
        if (sum->n_kept == 0) {
            all.n_sums++;
            *sum = (struct sum){ .place = place, .line = line, .thread = thread, .cell = cell };
            return sum;
        }
        if (sum->place == place && sum->line == line && sum->thread == thread && sum->cell == cell)
            return sum;
    }
}

/* ---- looking up ---- */

static enum miss_space space_of(enum heap_space space)
{
    _Static_assert((int)HEAP_HUMONGOUS == (int)MISS_HUMONGOUS && (int)HEAP_SPACES == (int)MISS_SPACES, "the same");
    return (enum miss_space)space;
}

/* A part of the heap of which more cannot be said. */
static uint32_t heap_cell(enum heap_space space, const char *why)
{
    return owners_cell(&all.owners, owners_named(&all.owners, MISS_HEAP, why), space_of(space));
}

/* NONE: it is not in the heap, or (*waits) it may be found later. */
static uint32_t find_in_heap(const struct sim_miss *miss, bool *waits)
{
    struct heap_object object;
    if (!all.has_heap)
        return OWNERS_NONE;
    if (miss->is_moving || atomic_load(&all.is_moving)) {
        if (miss->address < all.heap.base || miss->address >= all.heap.end)
            return OWNERS_NONE;
        return heap_cell(heap_walk_space(&all.heap, miss->address), "in a collection: objects were moving");
    }
    switch (heap_walk_find(&all.heap, miss->address, &object)) {
    case HEAP_OBJECT:
        break;
    case HEAP_NOT_HEAP:
        return OWNERS_NONE;
    case HEAP_UNUSED:
        return heap_cell(object.space, "nothing was allocated there when it was looked up");
    case HEAP_BROKEN:
        if (*waits)
            return OWNERS_NONE;
        return heap_cell(object.space, "what was there could not be read as objects");
    }
    *waits = false;
    uint32_t owner = owners_of(&all.owners, &all.classes, &object, miss->address);
    uint32_t cell = owners_field(&all.owners, owner, space_of(object.space), &all.classes, &object, miss->address);
    return cell != OWNERS_NONE ? cell : heap_cell(object.space, "its class has no name");
}

static void look_at_metadata(void)
{
    uint64_t start = own_ns();
    if (!all.has_metadata || cpu_ns() < all.next_metadata_ns)
        return;
    vm_metadata_look(&all.metadata);
    all.next_metadata_ns = cpu_ns() + METADATA_SHARE * (own_ns() - start);
}

static uint32_t find_elsewhere(const struct sim_miss *miss)
{
    const char *path = "";
    if (!all.has_maps)
        vm_ranges_look(&all.ranges);
    all.has_maps = true;
    struct vm_metadata *metadata = all.has_metadata ? &all.metadata : NULL;
    enum miss_owner kind = vm_ranges_find(&all.ranges, metadata, miss->address, &path);
    if (kind == MISS_OTHER && metadata != NULL) { /* maybe a class that is new */
        look_at_metadata();
        kind = vm_ranges_find(&all.ranges, metadata, miss->address, &path);
    }
    if (kind == MISS_OTHER && !all.has_heap)
        path = all.why;
    return owners_cell(&all.owners, owners_named(&all.owners, kind, path), MISS_NO_SPACE);
}

/* The method and line of a bytecode; or only that it was the interpreter.  Returns whether it is known. */
static bool find_bytecode(const struct sim_miss *miss, uint64_t *place, uint32_t *line)
{
    const struct vm_code *code = vm_metadata_code(&all.metadata, miss->where);
    if (code == NULL) {
        look_at_metadata();
        code = vm_metadata_code(&all.metadata, miss->where);
    }
    uint32_t number = code == NULL ? OWNERS_NONE : owners_method(&all.owners, code);
    *place = number == OWNERS_NONE ? all.interpreter : number;
    *line = number == OWNERS_NONE ? 0 : vm_code_line(&all.tables, code, miss->where) + 1;
    return number != OWNERS_NONE;
}

/* Returns false when it may be found later, which must not be with is_last. */
static bool look_up(const struct sim_miss *miss, uint32_t thread, bool is_last)
{
    uint64_t place = miss->where;
    uint32_t line = 0;
    bool waits = !is_last;
    if (miss->is_interpreted && !find_bytecode(miss, &place, &line) && !is_last)
        return false;
    uint32_t cell = find_in_heap(miss, &waits);
    if (cell == OWNERS_NONE)
        cell = waits && all.has_heap && miss->address >= all.heap.base && miss->address < all.heap.end
                   ? OWNERS_NONE
                   : find_elsewhere(miss);
    if (cell == OWNERS_NONE)
        return is_last; /* or there are more than four million: not told */
    struct sum *sum = sum_of(place, line, thread, cell);
    sum->n_kept++;
    for (int i = 0; i < MISS_N_COUNTS; i++)
        sum->counts[i] += (uint64_t)miss->counts[i] << miss->weight;
    if (all.n_sums > SUMS_FULL)
        write_sums();
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct sim_miss *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

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
    qsort(all.taken, n, sizeof *all.taken, by_address);
    for (uint32_t i = 0; i < n; i++) {
        bool is_last = all.n_waiting == WAITING_MAX;
        if (!look_up(&all.taken[i], (uint32_t)mine->tid, is_last) && !is_last)
            all.waiting[all.n_waiting++] = (struct waiting){ all.taken[i], (uint32_t)mine->tid, 0 };
    }
}

static int by_waiting_address(const void *a, const void *b)
{
    return by_address(&((const struct waiting *)a)->miss, &((const struct waiting *)b)->miss);
}

static void look_up_waiting(bool is_last)
{
    uint32_t n = all.n_waiting;
    all.n_waiting = 0;
    qsort(all.waiting, n, sizeof *all.waiting, by_waiting_address);
    for (uint32_t i = 0; i < n; i++) {
        struct waiting *waiting = &all.waiting[i];
        if (!look_up(&waiting->miss, waiting->thread, is_last || ++waiting->tries == TRIES_MAX) && !is_last &&
            waiting->tries < TRIES_MAX)
            all.waiting[all.n_waiting++] = *waiting;
    }
}

/* All threads' misses; the lock is held.  is_last: what cannot be found now will not be found later. */
static void look_up_all(bool is_last)
{
    uint64_t start = own_ns();
    vm_memory_forget();
    all.has_maps = false;
    if (all.has_heap && !atomic_load(&all.is_moving))
        heap_walk_look(&all.heap);
    look_up_waiting(false);
    for (struct sim_misses *thread = all.threads; thread != NULL; thread = thread->next)
        look_up_thread(thread);
    if (is_last)
        look_up_waiting(true);
    uint64_t took = own_ns() - start;
    all.n_looks++;
    all.look_ns += took;
    atomic_store(&all.next_look_ns, cpu_ns() + SHARE * took);
    if (now_ns() - all.written_ns > PERIOD_NS)
        write_sums();
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
    if (cpu_ns() >= atomic_load(&all.next_look_ns)) {
        pthread_mutex_lock(&all.lock);
        if (mine->n >= SIM_MISSES_KEPT || now_ns() - all.written_ns > PERIOD_NS)
            look_up_all(false);
        pthread_mutex_unlock(&all.lock);
    } else if (is_full) {
        thin_out(mine);
    }
}

void sim_misses_take(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address,
                     const struct sim_missed *missed)
{
    if (mine->kept == NULL ||
        (mine->thinned > 0 && (next_random(mine) >> 20 & ((UINT64_C(1) << mine->thinned) - 1)) != 0))
        return;
    bool is_interpreted = bytecode != 0 && instruction >= all.interpreter && instruction < all.interpreter_end;
    hold(mine);
    struct sim_miss *miss = &mine->kept[mine->n++];
    miss->where = is_interpreted ? bytecode : instruction;
    miss->address = address;
    miss->counts[MISS_L1D] = (uint8_t)missed->l1d;
    miss->counts[MISS_L2] = (uint8_t)missed->l2;
    miss->counts[MISS_DTLB] = (uint8_t)missed->dtlb;
    miss->weight = (uint8_t)mine->thinned;
    miss->is_interpreted = is_interpreted;
    miss->is_moving = atomic_load_explicit(&all.is_moving, memory_order_relaxed);
    uint32_t n = mine->n;
    release(mine);
    if (n % CHECK_MISSES == 0)
        make_room(mine);
}

/* ---- threads ---- */

void sim_misses_begin(struct sim_misses *mine, const struct sim_slot *slot)
{
    if (all.slots == NULL)
        return;
    mine->kept = vm_map(SIM_MISSES_KEPT * sizeof *mine->kept);
    mine->slot = slot;
    mine->tid = slot->tid;
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
    if (all.slots == NULL || mine->kept == NULL)
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
        all.retired[i] += slot->counts[i];
}

/* ---- what is told ---- */

void sim_misses_tables(const uint64_t *symbols)
{
    if (all.slots == NULL)
        return;
    pthread_mutex_lock(&all.lock);
    if (!all.has_heap && vm_tables_read(symbols, &all.tables, &all.why) == 0) {
        all.owners.tables = all.ranges.tables = &all.tables;
        uint64_t queue = all.tables.interpreter == VM_NONE ? 0 : vm_pointer(all.tables.interpreter);
        uint32_t limit = 0;
        all.has_heap = vm_classes_open(&all.classes, &all.tables) == 0 &&
                       heap_walk_open(&all.heap, &all.tables, &all.classes) == 0;
        all.has_metadata = vm_metadata_open(&all.metadata, &all.tables) == 0;
        if (all.has_heap)
            vm_classes_forget(&all.classes);
        if (all.has_metadata)
            look_at_metadata();
        if (all.has_metadata && queue != 0 && all.tables.stub_buffer != VM_NONE && all.tables.stub_limit != VM_NONE &&
            vm_get_u32(queue + all.tables.stub_limit, &limit)) {
            all.interpreter = vm_pointer(queue + all.tables.stub_buffer);
            all.interpreter_end = all.interpreter + limit;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_move(void)
{
    if (all.slots == NULL)
        return;
    pthread_mutex_lock(&all.lock);
    look_up_all(true);
    atomic_store(&all.is_moving, true);
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_moved(void)
{
    if (all.slots == NULL)
        return;
    pthread_mutex_lock(&all.lock);
    look_up_all(true);
    atomic_store(&all.is_moving, false);
    if (all.has_heap) {
        heap_walk_forget(&all.heap);
        vm_classes_forget(&all.classes);
    }
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_finish(void)
{
    if (all.slots == NULL)
        return;
    pthread_mutex_lock(&all.lock);
    look_up_all(true);
    write_sums();
    pthread_mutex_unlock(&all.lock);
}

void sim_misses_stack(uint64_t top)
{
    vm_ranges_add_stack(&all.ranges, top);
}
