#include "core/emu/model/sim_machine.h"

#include "core/base/xalloc.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define LINE_BYTES 64
#define TABLES_MAX 12 /* those that a machine is made of */

/* ---- making one ---- */

static unsigned log2_of(uint32_t power)
{
    return (unsigned)__builtin_ctz(power);
}

static size_t cache_entries(const struct sim_cache_model *cache)
{
    return cache->size_bytes == 0 ? 0 : cache->size_bytes / cache->line_bytes;
}

static size_t predictor_bytes(const struct sim_model *model)
{
    size_t counters = model->gshare_bits == 0 ? 0 : (size_t)1 << model->gshare_bits;
    size_t targets = model->target_bits == 0 ? 0 : (size_t)1 << model->target_bits;
    return ((counters + 7) & ~(size_t)7) + (targets + model->n_returns) * sizeof(uint64_t);
}

static size_t tlb_bytes(const struct sim_tlb_model *tlb)
{
    return sim_lru_bytes(tlb->n_entries, tlb->n_ways) + (tlb->n_entries + 1) * sizeof(uint64_t);
}

size_t sim_machine_bytes(const struct sim_model *model)
{
    size_t n = cache_entries(&model->l2) + 2 * (size_t)model->tlb2.n_entries;
    return n * sizeof(uint64_t) + sim_lru_bytes(cache_entries(&model->l1i), model->l1i.n_ways) +
           sim_lru_bytes(cache_entries(&model->l1d), model->l1d.n_ways) + tlb_bytes(&model->itlb) +
           tlb_bytes(&model->dtlb) + predictor_bytes(model) + TABLES_MAX * LINE_BYTES;
}

/* At a line's begin: a set of 8 ways is then one line of the processor that simulates. */
static void *take_memory(char **memory, size_t n)
{
    char *at = *memory + (-(uintptr_t)*memory & (LINE_BYTES - 1));
    *memory = at + n;
    return at;
}

/* Of a cache that there is not, no line is found. */
static uint64_t nothing[] = { SIM_EMPTY };

static struct sim_cache make_table(char **memory, size_t n_entries, uint32_t n_ways, unsigned line_bits)
{
    struct sim_cache cache = { .entries = nothing, .n_ways = n_entries == 0 ? 0 : n_ways, .line_bits = line_bits };
    if (n_entries == 0)
        return cache;
    cache.set_mask = n_entries / n_ways - 1;
    cache.entries = take_memory(memory, n_entries * sizeof(uint64_t));
    memset(cache.entries, 0xff, n_entries * sizeof(uint64_t)); /* SIM_EMPTY */
    return cache;
}

static struct sim_cache make_tlb2(char **memory, const struct sim_tlb_model *model)
{
    return make_table(memory, model->n_entries, model->n_ways, 0);
}

static struct sim_lru make_l1(char **memory, const struct sim_cache_model *model, unsigned line_bits)
{
    size_t n = cache_entries(model);
    return sim_lru_make(take_memory(memory, sim_lru_bytes(n, model->n_ways)), n, model->n_ways, line_bits);
}

static struct sim_tlb make_tlb(char **memory, const struct sim_tlb_model *model, struct sim_cache *second)
{
    size_t n = model->n_entries;
    void *first = take_memory(memory, sim_lru_bytes(n, model->n_ways));
    uint64_t *parts = take_memory(memory, (n + 1) * sizeof *parts);
    memset(parts, 0, (n + 1) * sizeof *parts);
    return (struct sim_tlb){ sim_lru_make(first, n, model->n_ways, 0), parts, second };
}

static void make_predictor(struct sim_predictor *p, const struct sim_model *model, char **memory)
{
    if (model->gshare_bits > 0) {
        size_t n = (size_t)1 << model->gshare_bits;
        p->counters = take_memory(memory, n);
        memset(p->counters, 1, n);
        p->counters_mask = n - 1;
        p->history_mask = (UINT64_C(1) << model->history_bits) - 1;
    }
    if (model->target_bits > 0) {
        size_t n = (size_t)1 << model->target_bits;
        p->targets = take_memory(memory, n * sizeof(uint64_t));
        memset(p->targets, 0, n * sizeof(uint64_t));
        p->targets_mask = n - 1;
        p->path_mask = (UINT64_C(1) << model->path_bits) - 1;
    }
    p->n_returns = model->n_returns;
    if (p->n_returns > 0) {
        p->returns = take_memory(memory, p->n_returns * sizeof(uint64_t));
        memset(p->returns, 0, p->n_returns * sizeof(uint64_t));
    }
}

void sim_machine_init(struct sim_machine *machine, const struct sim_model *model, void *memory, uint64_t *counts)
{
    char *rest = memory;
    *machine = (struct sim_machine){
        .is_write_through = model->write == SIM_WRITE_THROUGH,
        .is_plain = model->write == SIM_WRITE_BACK && model->allocate == SIM_ALLOCATE,
        .allocates = model->allocate == SIM_ALLOCATE,
        .page_bits = log2_of(model->page_bytes),
        .inclusion = model->inclusion,
        .counts = counts,
        .weight = 1,
        .sampled = UINT64_MAX,
    };
    machine->l1i = make_l1(&rest, &model->l1i, sim_machine_code_bits(model));
    machine->l1d = make_l1(&rest, &model->l1d, log2_of(model->l1d.line_bytes));
    machine->l2 = make_table(&rest, cache_entries(&model->l2), model->l2.n_ways, log2_of(model->l2.line_bytes));
    machine->tlb2[0] = make_tlb2(&rest, &model->tlb2);
    machine->tlb2[1] = make_tlb2(&rest, &model->tlb2);
    bool has_second = model->tlb2.n_entries > 0;
    machine->itlb = make_tlb(&rest, &model->itlb, has_second ? &machine->tlb2[0] : NULL);
    machine->dtlb = make_tlb(&rest, &model->dtlb, has_second ? &machine->tlb2[model->tlb2_shared ? 0 : 1] : NULL);
    make_predictor(&machine->predictor, model, &rest);
    for (uint64_t i = 0; i < SIM_RECENT; i++)
        machine->recent_data[i] = machine->recent_code[i] = sim_recent_none(i);
}

struct sim_shared *sim_shared_make(const struct sim_model *model)
{
    size_t n = cache_entries(&model->l2);
    if (!model->l2_shared || n == 0)
        return NULL;
    struct sim_shared *shared = sim_map(sizeof *shared + n * sizeof(uint64_t) + LINE_BYTES);
    char *rest = (char *)(shared + 1);
    shared->l2 = make_table(&rest, n, model->l2.n_ways, log2_of(model->l2.line_bytes));
    return shared;
}

void sim_machine_share(struct sim_machine *machine, struct sim_shared *shared)
{
    machine->shared = shared;
    machine->l2 = shared == NULL ? machine->l2 : shared->l2;
}

void sim_machine_sample(struct sim_machine *machine, uint32_t n, uint64_t sampled)
{
    machine->weight = n;
    machine->sampled = sampled;
}

/* ---- what missed ---- */

static unsigned set_class(const struct sim_machine *m, uint64_t address)
{
    return (unsigned)(address >> m->l2.line_bits) % SIM_SET_CLASSES;
}

static bool is_sampled(const struct sim_machine *m, uint64_t address)
{
    return (m->sampled >> set_class(m, address) & 1) != 0;
}

/* A line missed.  address: in it. */
static void count_missed(struct sim_machine *m, enum sim_count which, uint64_t address)
{
    static const uint8_t kinds[SIM_N_COUNTS] = {
        [SIM_L1I_MISSES] = SIM_SETS_L1I,    [SIM_L1D_LOAD_MISSES] = SIM_SETS_L1D, [SIM_L1D_STORE_MISSES] = SIM_SETS_L1D,
        [SIM_L2_LOAD_MISSES] = SIM_SETS_L2, [SIM_L2_STORE_MISSES] = SIM_SETS_L2,  [SIM_L2_CODE_MISSES] = SIM_SETS_L2,
    };
    m->counts[which] += m->weight;
    if (m->sets != NULL)
        m->sets->misses[set_class(m, address)][kinds[which]]++;
}

/* ---- recent lines ---- */

static inline void forget_line(uint64_t *recent, uint64_t line)
{
    uint64_t entry = line % SIM_RECENT;
    if (recent[entry] >> SIM_RECENT_LINE == line)
        recent[entry] = sim_recent_none(entry);
}

/* A page's 64ths have so many lines. */
static inline unsigned part_bits(const struct sim_machine *m, const struct sim_lru *l1)
{
    unsigned bits = m->page_bits - l1->line_bits;
    return bits > 6 ? bits - 6 : 0;
}

/* The lines of those parts of a page. */
static void forget_parts(uint64_t *recent, uint64_t page, unsigned page_bits, uint64_t parts, unsigned bits)
{
    uint64_t n = UINT64_C(1) << bits;
    for (; parts != 0; parts &= parts - 1) {
        uint64_t first = (page << page_bits) + ((uint64_t)__builtin_ctzll(parts) << bits);
        for (uint64_t i = 0; i < n && i < SIM_RECENT; i++) {
            uint64_t entry = (first + i) % SIM_RECENT;
            if ((recent[entry] >> SIM_RECENT_LINE) - first < n)
                recent[entry] = sim_recent_none(entry);
        }
    }
}

/* ---- L2 ---- */

static uint64_t l2_line(const struct sim_machine *m, uint64_t address)
{
    return address >> m->l2.line_bits;
}

/* A line has left L2, and so its parts leave an L1.  Returns the dirty bit of what left. */
static uint64_t leave_l1(struct sim_machine *m, struct sim_lru *l1, uint64_t *recent, uint64_t line)
{
    uint64_t dirty = 0;
    unsigned shift = m->l2.line_bits - l1->line_bits;
    for (uint64_t part = line << shift; l1->n_ways > 0 && part < (line + 1) << shift; part++) {
        uint32_t at = sim_lru_find(l1, part);
        if (at == SIM_NOWHERE)
            continue;
        dirty |= sim_lru_is_dirty(l1, at);
        sim_lru_clear(l1, at);
        forget_line(recent, part);
    }
    return dirty;
}

static void l2_victim(struct sim_machine *m, uint64_t victim)
{
    if (victim == SIM_EMPTY)
        return;
    uint64_t dirty = victim & 1;
    if (m->inclusion == SIM_INCLUSIVE)
        dirty |= leave_l1(m, &m->l1d, m->recent_data, victim >> 1) | leave_l1(m, &m->l1i, m->recent_code, victim >> 1);
    m->counts[SIM_MEMORY_WRITES] += dirty * m->weight;
}

/* A shared L2's sets of an address are used by nobody else until they are released. */
static inline void hold_l2(struct sim_machine *m, uint64_t address)
{
    if (m->shared != NULL)
        while (atomic_exchange_explicit(&m->shared->locks[set_class(m, address)], true, memory_order_acquire))
            sched_yield();
}

static inline void release_l2(struct sim_machine *m, uint64_t address)
{
    if (m->shared != NULL)
        atomic_store_explicit(&m->shared->locks[set_class(m, address)], false, memory_order_release);
}

/* L1 wants a line.  Returns the dirty bit that comes with it. */
static uint64_t l2_read(struct sim_machine *m, uint64_t address, enum sim_count misses)
{
    uint64_t line = l2_line(m, address), victim, taken = 0;
    bool is_there = true;
    hold_l2(m, address);
    if (m->inclusion == SIM_EXCLUSIVE)
        taken = sim_cache_take(&m->l2, line);
    else
        is_there = sim_cache_touch(&m->l2, line, 0, &victim);
    release_l2(m, address);
    if (m->inclusion == SIM_EXCLUSIVE) {
        if (taken == SIM_EMPTY)
            count_missed(m, misses, address);
        return taken == SIM_EMPTY ? 0 : taken & 1;
    }
    if (!is_there) {
        count_missed(m, misses, address);
        l2_victim(m, victim);
    }
    return 0;
}

/* A line comes from L1, or a store through it. */
static void l2_write(struct sim_machine *m, uint64_t address, uint64_t dirty)
{
    uint64_t victim;
    m->counts[SIM_L2_WRITES] += dirty * m->weight;
    hold_l2(m, address);
    bool is_there = sim_cache_touch(&m->l2, l2_line(m, address), dirty, &victim);
    release_l2(m, address);
    if (!is_there)
        l2_victim(m, victim);
}

/* ---- L1 ---- */

/*
 * A line comes into L1, which does not have it, and the one that was used longest ago leaves it for L2.  Returns where
 * it is.
 */
static uint32_t l1_bring(struct sim_machine *m, struct sim_lru *l1, uint64_t *recent, uint64_t line, bool is_dirty,
                         uint64_t now, enum sim_count l2_misses)
{
    uint32_t at = sim_lru_oldest(l1, line);
    uint64_t victim = l1->lines[at];
    bool victim_dirty = sim_lru_is_dirty(l1, at);
    sim_lru_put(l1, at, line, is_dirty, now);
    if (victim != SIM_EMPTY)
        forget_line(recent, victim);
    if (l2_read(m, line << l1->line_bits, l2_misses) != 0 && l1->lines[at] == line)
        sim_lru_use(l1, at, true, now);
    if (victim != SIM_EMPTY && (victim_dirty || m->inclusion == SIM_EXCLUSIVE))
        l2_write(m, victim << l1->line_bits, victim_dirty);
    return at;
}

/* The line that was used just now is a recent one, if what came after did not take it away. */
static void remember(const struct sim_machine *m, const struct sim_lru *l1, const struct sim_tlb *tlb, uint64_t *recent,
                     uint64_t line, uint32_t at, uint32_t page)
{
    bool has_room =
        line >> (64 - SIM_RECENT_LINE) == 0 && at >> SIM_RECENT_AT_BITS == 0 && page >> SIM_RECENT_PAGE_BITS == 0;
    if (!has_room || (at < sim_lru_beyond(l1) && l1->lines[at] != line))
        return;
    recent[line % SIM_RECENT] = line << SIM_RECENT_LINE | (uint64_t)at << SIM_RECENT_PAGE_BITS | page;
    uint64_t in_page = line & ((UINT64_C(1) << (m->page_bits - l1->line_bits)) - 1);
    tlb->parts[page] |= UINT64_C(1) << (in_page >> part_bits(m, l1));
}

/* ---- TLBs ---- */

/* A page that the first level does not have comes there. */
static void bring_page(struct sim_machine *m, struct sim_tlb *tlb, uint32_t at, uint64_t page, uint64_t now,
                       enum sim_count misses)
{
    uint64_t none;
    sim_lru_put(&tlb->first, at, page, false, now);
    if (tlb->second != NULL && sim_cache_touch(tlb->second, page, 0, &none))
        m->counts[SIM_TLB2_HITS]++;
    else
        m->counts[misses]++;
}

/* A line's page.  Returns where it is in the first level. */
static uint32_t translate(struct sim_machine *m, const struct sim_lru *l1, struct sim_tlb *tlb, uint64_t *recent,
                          uint64_t line, uint64_t now, enum sim_count misses)
{
    uint64_t page = line >> (m->page_bits - l1->line_bits);
    if (tlb->first.n_ways == 0)
        return 0;
    uint32_t at = sim_lru_find(&tlb->first, page);
    if (at != SIM_NOWHERE) {
        sim_lru_use(&tlb->first, at, false, now);
        return at;
    }
    at = sim_lru_oldest(&tlb->first, page);
    forget_parts(recent, tlb->first.lines[at], m->page_bits - l1->line_bits, tlb->parts[at], part_bits(m, l1));
    tlb->parts[at] = 0;
    bring_page(m, tlb, at, page, now, misses);
    return at;
}

/* ---- data ---- */

/* A store into a cache that writes through, or does not allocate. */
static void store_through(struct sim_machine *m, uint64_t line, uint64_t now)
{
    bool is_dirty = !m->is_write_through;
    uint32_t at = sim_lru_find(&m->l1d, line);
    if (at != SIM_NOWHERE) {
        sim_lru_use(&m->l1d, at, is_dirty, now);
    } else {
        count_missed(m, SIM_L1D_STORE_MISSES, line << m->l1d.line_bits);
        if (m->allocates)
            l1_bring(m, &m->l1d, m->recent_data, line, is_dirty, now, SIM_L2_STORE_MISSES);
    }
    if (at == SIM_NOWHERE || m->is_write_through)
        l2_write(m, line << m->l1d.line_bits, 1);
}

/* A line is loaded or stored.  Returns where it is; SIM_NOWHERE: nobody shall remember it. */
static uint32_t use_data(struct sim_machine *m, uint64_t line, bool is_store, uint64_t now)
{
    if (is_store && !m->is_plain) {
        store_through(m, line, now);
        return SIM_NOWHERE;
    }
    uint32_t at = sim_lru_find(&m->l1d, line);
    if (at != SIM_NOWHERE) {
        sim_lru_use(&m->l1d, at, is_store, now);
        return at;
    }
    count_missed(m, is_store ? SIM_L1D_STORE_MISSES : SIM_L1D_LOAD_MISSES, line << m->l1d.line_bits);
    return l1_bring(m, &m->l1d, m->recent_data, line, is_store, now,
                    is_store ? SIM_L2_STORE_MISSES : SIM_L2_LOAD_MISSES);
}

static void data_line(struct sim_machine *m, uint64_t line, bool is_store, uint32_t page)
{
    uint64_t now = ++m->data_time;
    m->counts[is_store ? SIM_L1D_STORES : SIM_L1D_LOADS]++;
    uint32_t at = sim_lru_beyond(&m->l1d);
    if (is_sampled(m, line << m->l1d.line_bits))
        at = use_data(m, line, is_store, now);
    if (at != SIM_NOWHERE)
        remember(m, &m->l1d, &m->dtlb, m->recent_data, line, at, page);
}

static uint32_t data_page(struct sim_machine *m, uint64_t line)
{
    return translate(m, &m->l1d, &m->dtlb, m->recent_data, line, m->data_time + 1, SIM_DTLB_MISSES);
}

void sim_machine_data(struct sim_machine *m, uint64_t address, uint32_t n_bytes, bool is_store)
{
    uint64_t end = address + n_bytes - 1, line = address >> m->l1d.line_bits, last = end >> m->l1d.line_bits;
    /* Mostly it misses: what will be looked at last is on its way meanwhile. */
    if (is_sampled(m, address))
        __builtin_prefetch(sim_cache_set(&m->l2, l2_line(m, address)), 1);
    uint32_t at = data_page(m, line);
    data_line(m, line, is_store, at);
    if (__builtin_expect(last == line, 1))
        return;
    if (end >> m->page_bits != address >> m->page_bits)
        at = data_page(m, last);
    while (line++ < last)
        data_line(m, line, is_store, at);
}

/* ---- code ---- */

/* A line is fetched.  Returns where it is. */
static uint32_t use_code(struct sim_machine *m, uint64_t line, uint64_t now)
{
    uint32_t at = sim_lru_beyond(&m->l1i);
    if (!is_sampled(m, line << m->l1i.line_bits))
        return at;
    if (m->l1i.n_ways > 0 && (at = sim_lru_find(&m->l1i, line)) == SIM_NOWHERE) {
        count_missed(m, SIM_L1I_MISSES, line << m->l1i.line_bits);
        at = l1_bring(m, &m->l1i, m->recent_code, line, false, now, SIM_L2_CODE_MISSES);
    } else if (m->l1i.n_ways > 0) {
        sim_lru_use(&m->l1i, at, false, now);
    }
    return at;
}

void sim_machine_code(struct sim_machine *m, uint64_t line)
{
    uint64_t now = ++m->code_time;
    uint32_t page = translate(m, &m->l1i, &m->itlb, m->recent_code, line, now, SIM_ITLB_MISSES);
    m->counts[SIM_L1I_FETCHES]++;
    remember(m, &m->l1i, &m->itlb, m->recent_code, line, use_code(m, line, now), page);
}

/* ---- branches ---- */

static bool predict_target(struct sim_predictor *p, uint64_t at, uint64_t to)
{
    if (p->targets == NULL)
        return true;
    uint64_t *target = &p->targets[(at >> 1 ^ p->path) & p->targets_mask];
    bool is_right = *target == to;
    *target = to;
    p->path = (p->path << 2 ^ to >> 2 ^ to >> 7) & p->path_mask;
    return is_right;
}

static void push_return(struct sim_predictor *p, uint64_t behind)
{
    if (p->returns == NULL)
        return;
    p->top = p->top + 1 == p->n_returns ? 0 : p->top + 1;
    p->returns[p->top] = behind;
}

static bool predict_return(struct sim_predictor *p, uint64_t to)
{
    if (p->returns == NULL)
        return true;
    bool is_right = p->returns[p->top] == to;
    p->returns[p->top] = 0;
    p->top = p->top == 0 ? p->n_returns - 1 : p->top - 1;
    return is_right;
}

void sim_machine_jump(struct sim_machine *m, enum sim_branch_kind kind, uint64_t at, uint64_t behind, uint64_t to)
{
    bool is_right = true;
    if (kind == SIM_INDIRECT || kind == SIM_INDIRECT_CALL)
        is_right = predict_target(&m->predictor, at, to);
    else if (kind == SIM_RETURN)
        is_right = predict_return(&m->predictor, to);
    if (kind == SIM_CALL || kind == SIM_INDIRECT_CALL)
        push_return(&m->predictor, behind);
    if (kind != SIM_CALL)
        m->counts[SIM_BRANCHES]++;
    if (!is_right)
        m->counts[SIM_BRANCH_MISSES]++;
}

void *sim_map(size_t n)
{
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        out_of_memory();
    /* cppcheck-suppress memleak */
    return at;
}
