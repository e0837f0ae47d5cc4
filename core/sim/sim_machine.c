#include "core/sim/sim_machine.h"

#include <string.h>

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

size_t sim_machine_bytes(const struct sim_model *model)
{
    size_t n = cache_entries(&model->l1i) + cache_entries(&model->l1d) + cache_entries(&model->l2) +
               model->itlb.n_entries + model->dtlb.n_entries + 2 * (size_t)model->tlb2.n_entries;
    return n * sizeof(uint64_t) + predictor_bytes(model);
}

static void *take(char **memory, size_t n)
{
    void *at = *memory;
    *memory += (n + 7) & ~(size_t)7;
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
    cache.entries = take(memory, n_entries * sizeof(uint64_t));
    memset(cache.entries, 0xff, n_entries * sizeof(uint64_t)); /* SIM_EMPTY */
    return cache;
}

static struct sim_cache make_cache(char **memory, const struct sim_cache_model *model, uint32_t line_bytes)
{
    return make_table(memory, cache_entries(model), model->n_ways, log2_of(line_bytes));
}

static struct sim_cache make_tlb(char **memory, const struct sim_tlb_model *model)
{
    return make_table(memory, model->n_entries, model->n_ways, 0);
}

static void make_predictor(struct sim_predictor *p, const struct sim_model *model, char **memory)
{
    if (model->gshare_bits > 0) {
        size_t n = (size_t)1 << model->gshare_bits;
        p->counters = take(memory, n);
        memset(p->counters, 1, n);
        p->counters_mask = n - 1;
        p->history_mask = (UINT64_C(1) << model->history_bits) - 1;
    }
    if (model->target_bits > 0) {
        size_t n = (size_t)1 << model->target_bits;
        p->targets = take(memory, n * sizeof(uint64_t));
        memset(p->targets, 0, n * sizeof(uint64_t));
        p->targets_mask = n - 1;
        p->path_mask = (UINT64_C(1) << model->path_bits) - 1;
    }
    p->n_returns = model->n_returns;
    if (p->n_returns > 0) {
        p->returns = take(memory, p->n_returns * sizeof(uint64_t));
        memset(p->returns, 0, p->n_returns * sizeof(uint64_t));
    }
}

void sim_machine_init(struct sim_machine *machine, const struct sim_model *model, void *memory, uint64_t *counts)
{
    char *rest = memory;
    *machine = (struct sim_machine){
        .data_page = SIM_EMPTY,
        .code_page = SIM_EMPTY,
        .is_write_through = model->write == SIM_WRITE_THROUGH,
        .is_plain = model->write == SIM_WRITE_BACK && model->allocate == SIM_ALLOCATE,
        .allocates = model->allocate == SIM_ALLOCATE,
        .page_bits = log2_of(model->page_bytes),
        .inclusion = model->inclusion,
        .counts = counts,
    };
    /* Without an L1I a fetch still needs lines to be told apart by. */
    machine->l1i = make_cache(&rest, &model->l1i, model->l1i.size_bytes == 0 ? 64 : model->l1i.line_bytes);
    machine->l1d = make_cache(&rest, &model->l1d, model->l1d.line_bytes);
    machine->l2 = make_cache(&rest, &model->l2, model->l2.line_bytes);
    machine->itlb.first = make_tlb(&rest, &model->itlb);
    machine->dtlb.first = make_tlb(&rest, &model->dtlb);
    machine->tlb2[0] = make_tlb(&rest, &model->tlb2);
    machine->tlb2[1] = make_tlb(&rest, &model->tlb2);
    if (model->tlb2.n_entries > 0) {
        machine->itlb.second = &machine->tlb2[0];
        machine->dtlb.second = &machine->tlb2[model->tlb2_shared ? 0 : 1];
    }
    make_predictor(&machine->predictor, model, &rest);
}

/* ---- L2 ---- */

static uint64_t l2_line(const struct sim_machine *m, uint64_t address)
{
    return address >> m->l2.line_bits;
}

/* A line has left L2, and so its parts leave an L1.  Returns the dirty bit of what left. */
static uint64_t leave_l1(struct sim_machine *m, struct sim_cache *l1, uint64_t line)
{
    uint64_t dirty = 0;
    unsigned shift = m->l2.line_bits - l1->line_bits;
    for (uint64_t part = line << shift; l1->n_ways > 0 && part < (line + 1) << shift; part++) {
        uint64_t left = sim_cache_take(l1, part);
        if (left == SIM_EMPTY)
            continue;
        dirty |= left & 1;
    }
    return dirty;
}

static void l2_victim(struct sim_machine *m, uint64_t victim)
{
    if (victim == SIM_EMPTY)
        return;
    uint64_t dirty = victim & 1;
    if (m->inclusion == SIM_INCLUSIVE)
        dirty |= leave_l1(m, &m->l1d, victim >> 1) | leave_l1(m, &m->l1i, victim >> 1);
    m->counts[SIM_MEMORY_WRITES] += dirty;
}

/* L1 wants a line.  Returns the dirty bit that comes with it. */
static uint64_t l2_read(struct sim_machine *m, uint64_t address, enum sim_count misses)
{
    uint64_t line = l2_line(m, address), victim;
    if (m->inclusion == SIM_EXCLUSIVE) {
        uint64_t taken = sim_cache_take(&m->l2, line);
        m->counts[misses] += taken == SIM_EMPTY;
        return taken == SIM_EMPTY ? 0 : taken & 1;
    }
    if (!sim_cache_touch(&m->l2, line, 0, &victim)) {
        m->counts[misses]++;
        l2_victim(m, victim);
    }
    return 0;
}

/* A line comes from L1, or a store through it. */
static void l2_write(struct sim_machine *m, uint64_t address, uint64_t dirty)
{
    uint64_t victim;
    m->counts[SIM_L2_WRITES] += dirty;
    if (!sim_cache_touch(&m->l2, l2_line(m, address), dirty, &victim))
        l2_victim(m, victim);
}

/* An entry has left an L1. */
static void l1_victim(struct sim_machine *m, const struct sim_cache *l1, uint64_t victim)
{
    if (victim == SIM_EMPTY)
        return;
    if ((victim & 1) != 0 || m->inclusion == SIM_EXCLUSIVE)
        l2_write(m, victim >> 1 << l1->line_bits, victim & 1);
}

/* ---- TLBs ---- */

static inline void translate(struct sim_machine *m, struct sim_tlb *tlb, uint64_t page, enum sim_count misses)
{
    uint64_t victim;
    if (tlb->first.n_ways == 0 || sim_cache_touch(&tlb->first, page, 0, &victim))
        return;
    if (tlb->second != NULL && sim_cache_touch(tlb->second, page, 0, &victim))
        m->counts[SIM_TLB2_HITS]++;
    else
        m->counts[misses]++;
}

/* ---- data ---- */

static void data_miss(struct sim_machine *m, uint64_t line, uint64_t victim, bool is_store)
{
    m->counts[is_store ? SIM_L1D_STORE_MISSES : SIM_L1D_LOAD_MISSES]++;
    uint64_t dirty = l2_read(m, line << m->l1d.line_bits, is_store ? SIM_L2_STORE_MISSES : SIM_L2_LOAD_MISSES);
    uint64_t *latest = sim_cache_set(&m->l1d, line);
    if (*latest >> 1 == line)
        *latest |= dirty;
    l1_victim(m, &m->l1d, victim);
}

/* A store into a cache that writes through, or does not allocate. */
static void store_through(struct sim_machine *m, uint64_t line)
{
    uint64_t victim, dirty = !m->is_write_through;
    bool is_hit = sim_cache_use(&m->l1d, line, dirty);
    m->counts[SIM_L1D_STORES]++;
    if (!is_hit && !m->allocates)
        m->counts[SIM_L1D_STORE_MISSES]++;
    else if (!is_hit && !sim_cache_touch(&m->l1d, line, dirty, &victim))
        data_miss(m, line, victim, true);
    if (!is_hit || m->is_write_through)
        l2_write(m, line << m->l1d.line_bits, 1);
}

static void data_line(struct sim_machine *m, uint64_t line, bool is_store)
{
    uint64_t victim;
    if (is_store && !m->is_plain) {
        store_through(m, line);
        return;
    }
    m->counts[is_store ? SIM_L1D_STORES : SIM_L1D_LOADS]++;
    if (!sim_cache_touch(&m->l1d, line, is_store, &victim))
        data_miss(m, line, victim, is_store);
}

void sim_machine_data(struct sim_machine *m, uint64_t address, uint32_t n_bytes, bool is_store)
{
    uint64_t end = address + n_bytes - 1, page = address >> m->page_bits, line = address >> m->l1d.line_bits;
    if (page != m->data_page) {
        translate(m, &m->dtlb, page, SIM_DTLB_MISSES);
        m->data_page = page;
    }
    data_line(m, line, is_store);
    if (__builtin_expect(end >> m->l1d.line_bits == line, 1))
        return;
    if (end >> m->page_bits != page) {
        m->data_page = end >> m->page_bits;
        translate(m, &m->dtlb, m->data_page, SIM_DTLB_MISSES);
    }
    while (line++ < end >> m->l1d.line_bits)
        data_line(m, line, is_store);
}

/* ---- code ---- */

static void code_line(struct sim_machine *m, uint64_t line)
{
    uint64_t victim;
    m->counts[SIM_L1I_FETCHES]++;
    if (m->l1i.n_ways > 0 && !sim_cache_touch(&m->l1i, line, 0, &victim)) {
        m->counts[SIM_L1I_MISSES]++;
        uint64_t dirty = l2_read(m, line << m->l1i.line_bits, SIM_L2_CODE_MISSES);
        uint64_t *latest = sim_cache_set(&m->l1i, line);
        if (*latest >> 1 == line)
            *latest |= dirty;
        l1_victim(m, &m->l1i, victim);
    }
}

void sim_machine_code(struct sim_machine *m, uint64_t first_line, uint64_t last_line)
{
    for (uint64_t line = first_line; line <= last_line; line++) {
        uint64_t page = line << m->l1i.line_bits >> m->page_bits;
        if (page != m->code_page) {
            translate(m, &m->itlb, page, SIM_ITLB_MISSES);
            m->code_page = page;
        }
        code_line(m, line);
    }
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
