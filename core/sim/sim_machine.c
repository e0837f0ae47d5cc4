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

static struct sim_cache make_table(char **memory, size_t n_entries, uint32_t n_ways, unsigned line_bits)
{
    struct sim_cache cache = { .n_ways = n_entries == 0 ? 0 : n_ways, .line_bits = line_bits };
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
        .data_line = SIM_EMPTY,
        .code_line = SIM_EMPTY,
        .data_page = SIM_EMPTY,
        .code_page = SIM_EMPTY,
        .is_write_through = model->write == SIM_WRITE_THROUGH,
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
        if (l1 == &m->l1d && part == m->data_line) {
            m->data_line = SIM_EMPTY;
            m->data_is_dirty = false;
        }
        if (l1 == &m->l1i && part == m->code_line)
            m->code_line = SIM_EMPTY;
    }
    return dirty;
}

static void l2_put(struct sim_machine *m, uint64_t line, uint64_t dirty)
{
    uint64_t victim = sim_cache_put(&m->l2, line, dirty), left_dirty;
    if (victim == SIM_EMPTY)
        return;
    left_dirty = victim & 1;
    if (m->inclusion == SIM_INCLUSIVE)
        left_dirty |= leave_l1(m, &m->l1d, victim >> 1) | leave_l1(m, &m->l1i, victim >> 1);
    m->counts[SIM_MEMORY_WRITES] += left_dirty;
}

/* L1 wants a line.  Returns the dirty bit that comes with it. */
static uint64_t l2_read(struct sim_machine *m, uint64_t address, enum sim_count misses)
{
    uint64_t line = l2_line(m, address);
    if (m->inclusion == SIM_EXCLUSIVE) {
        uint64_t taken = sim_cache_take(&m->l2, line);
        m->counts[misses] += taken == SIM_EMPTY;
        return taken == SIM_EMPTY ? 0 : taken & 1;
    }
    if (!sim_cache_use(&m->l2, line, 0)) {
        m->counts[misses]++;
        l2_put(m, line, 0);
    }
    return 0;
}

/* L1 writes a line back, or a store through. */
static void l2_write(struct sim_machine *m, uint64_t address)
{
    m->counts[SIM_L2_WRITES]++;
    if (!sim_cache_use(&m->l2, l2_line(m, address), 1))
        l2_put(m, l2_line(m, address), 1);
}

/* An entry has left an L1. */
static void l1_victim(struct sim_machine *m, const struct sim_cache *l1, uint64_t victim)
{
    if (victim == SIM_EMPTY)
        return;
    uint64_t address = victim >> 1 << l1->line_bits;
    if (m->inclusion == SIM_EXCLUSIVE) {
        m->counts[SIM_L2_WRITES] += victim & 1;
        /* L1I and L1D may have had the same line. */
        if (!sim_cache_use(&m->l2, l2_line(m, address), victim & 1))
            l2_put(m, l2_line(m, address), victim & 1);
    } else if ((victim & 1) != 0) {
        l2_write(m, address);
    }
}

/* ---- TLBs ---- */

static void translate(struct sim_machine *m, struct sim_tlb *tlb, uint64_t page, enum sim_count misses)
{
    if (tlb->first.n_ways == 0 || sim_cache_use(&tlb->first, page, 0))
        return;
    sim_cache_put(&tlb->first, page, 0);
    if (tlb->second != NULL && sim_cache_use(tlb->second, page, 0)) {
        m->counts[SIM_TLB2_HITS]++;
        return;
    }
    m->counts[misses]++;
    if (tlb->second != NULL)
        sim_cache_put(tlb->second, page, 0);
}

/* ---- data ---- */

static void data_miss(struct sim_machine *m, uint64_t line, bool is_store)
{
    uint64_t address = line << m->l1d.line_bits;
    m->counts[is_store ? SIM_L1D_STORE_MISSES : SIM_L1D_LOAD_MISSES]++;
    if (is_store && !m->allocates) {
        l2_write(m, address);
        return;
    }
    uint64_t dirty = l2_read(m, address, is_store ? SIM_L2_STORE_MISSES : SIM_L2_LOAD_MISSES);
    dirty |= is_store && !m->is_write_through;
    l1_victim(m, &m->l1d, sim_cache_put(&m->l1d, line, dirty));
}

static void data_line(struct sim_machine *m, uint64_t line, bool is_store)
{
    bool is_hit = sim_cache_use(&m->l1d, line, is_store && !m->is_write_through);
    m->counts[is_store ? SIM_L1D_STORES : SIM_L1D_LOADS]++;
    if (!is_hit)
        data_miss(m, line, is_store);
    if (is_store && m->is_write_through && (is_hit || m->allocates))
        l2_write(m, line << m->l1d.line_bits);
    /* It is the latest now, unless it was not brought in, or what it displaced took it out again. */
    uint64_t latest = sim_cache_set(&m->l1d, line)[0];
    m->data_line = latest >> 1 == line ? line : SIM_EMPTY;
    m->data_is_dirty = m->data_line == line && (latest & 1) != 0;
}

void sim_machine_data(struct sim_machine *m, uint64_t address, uint32_t n_bytes, bool is_store)
{
    uint64_t end = address + n_bytes - 1;
    for (uint64_t page = address >> m->page_bits; page <= end >> m->page_bits; page++)
        if (page != m->data_page) {
            translate(m, &m->dtlb, page, SIM_DTLB_MISSES);
            m->data_page = page;
        }
    for (uint64_t line = address >> m->l1d.line_bits; line <= end >> m->l1d.line_bits; line++)
        data_line(m, line, is_store);
}

/* ---- code ---- */

static void code_line(struct sim_machine *m, uint64_t line)
{
    m->counts[SIM_L1I_FETCHES]++;
    if (m->l1i.n_ways > 0 && !sim_cache_use(&m->l1i, line, 0)) {
        uint64_t address = line << m->l1i.line_bits;
        m->counts[SIM_L1I_MISSES]++;
        uint64_t dirty = l2_read(m, address, SIM_L2_CODE_MISSES);
        l1_victim(m, &m->l1i, sim_cache_put(&m->l1i, line, dirty));
    }
    m->code_line = line;
}

void sim_machine_code(struct sim_machine *m, uint64_t first_line, uint64_t last_line)
{
    for (uint64_t line = first_line; line <= last_line; line++) {
        uint64_t page = line << m->l1i.line_bits >> m->page_bits;
        if (page != m->code_page) {
            translate(m, &m->itlb, page, SIM_ITLB_MISSES);
            m->code_page = page;
        }
        if (line != m->code_line)
            code_line(m, line);
        else
            m->counts[SIM_L1I_FETCHES]++;
    }
}

/* ---- branches ---- */

static bool predict_direction(struct sim_predictor *p, uint64_t at, bool is_taken)
{
    if (p->counters == NULL)
        return true;
    uint8_t *counter = &p->counters[(at >> 1 ^ p->history) & p->counters_mask];
    bool is_right = (*counter >= 2) == is_taken;
    if (is_taken)
        *counter = (uint8_t)(*counter + (*counter < 3));
    else
        *counter = (uint8_t)(*counter - (*counter > 0));
    p->history = (p->history << 1 | is_taken) & p->history_mask;
    return is_right;
}

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

void sim_machine_branch(struct sim_machine *m, enum sim_branch_kind kind, uint64_t at, uint64_t behind, uint64_t to)
{
    bool is_right = true;
    switch (kind) {
    case SIM_CONDITIONAL:
        is_right = predict_direction(&m->predictor, at, to != behind);
        break;
    case SIM_INDIRECT:
    case SIM_INDIRECT_CALL:
        is_right = predict_target(&m->predictor, at, to);
        break;
    case SIM_RETURN:
        is_right = predict_return(&m->predictor, to);
        break;
    default:
        break;
    }
    if (kind == SIM_CALL || kind == SIM_INDIRECT_CALL)
        push_return(&m->predictor, behind);
    m->counts[SIM_BRANCHES] += kind != SIM_NO_BRANCH && kind != SIM_CALL;
    m->counts[SIM_BRANCH_MISSES] += !is_right;
}
