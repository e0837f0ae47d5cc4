/*
 * Reads an address trace of 'valgrind --tool=lackey --trace-mem=yes' and says what a model makes of it:
 *
 *     sim_lackey MODEL < trace
 *     cachegrind I1 12 LLi 12 D1r 5 D1w 3 LLdr 5 LLdw 3
 *     mmprof     I1 12 LLi 12 D1r 5 D1w 3 LLdr 5 LLdw 3
 *     both I1 0 D1 0
 *
 * The first line counts as cachegrind does: an access is one, whether it crosses lines or not; if any of its lines
 * misses in the first level, the second is asked for all of them; nothing is written back; a load and a store of one
 * instruction at one address ('M') are a load.  The second line counts as mmprof does.  The third has the accesses that
 * cross two lines both of which miss: so many more misses of the first level has mmprof, a line being an access.
 */
#include "core/emu/model/sim_machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct level_counts {
    uint64_t first, last;
};

struct rule {
    struct sim_cache l1i, l1d, l2;
    struct level_counts code, load, store;
    uint64_t n_both_code, n_both_data;
};

/* All lines of an access.  Returns how many of them miss. */
static unsigned refer(struct sim_cache *cache, uint64_t address, uint32_t n_bytes)
{
    unsigned n_misses = 0;
    uint64_t last = (address + n_bytes - 1) >> cache->line_bits, victim;
    for (uint64_t line = address >> cache->line_bits; line <= last; line++)
        n_misses += !sim_cache_touch(cache, line, 0, &victim);
    return n_misses;
}

static void as_cachegrind(struct rule *rule, struct sim_cache *first, struct level_counts *counts, uint64_t *n_both,
                          uint64_t address, uint32_t n_bytes)
{
    unsigned n_misses = refer(first, address, n_bytes);
    if (n_misses == 0)
        return;
    counts->first++;
    *n_both += n_misses > 1;
    counts->last += refer(&rule->l2, address, n_bytes) > 0;
}

static void touch(struct rule *cg, struct sim_machine *own, char kind, uint64_t address, uint32_t n_bytes)
{
    switch (kind) {
    case 'I':
        as_cachegrind(cg, &cg->l1i, &cg->code, &cg->n_both_code, address, n_bytes);
        sim_machine_fetch(own, address, n_bytes, 1);
        break;
    case 'S':
        as_cachegrind(cg, &cg->l1d, &cg->store, &cg->n_both_data, address, n_bytes);
        sim_machine_store(own, address, n_bytes);
        break;
    default:
        as_cachegrind(cg, &cg->l1d, &cg->load, &cg->n_both_data, address, n_bytes);
        sim_machine_load(own, address, n_bytes);
        if (kind == 'M')
            sim_machine_store(own, address, n_bytes);
        break;
    }
}

static struct sim_cache make_cache(const struct sim_cache_model *model)
{
    size_t n = model->size_bytes / model->line_bytes;
    struct sim_cache cache = { .entries = malloc(n * sizeof(uint64_t)), .set_mask = n / model->n_ways - 1 };
    if (cache.entries == NULL)
        exit(1);
    memset(cache.entries, 0xff, n * sizeof(uint64_t)); /* SIM_EMPTY */
    cache.n_ways = model->n_ways;
    cache.line_bits = (uint32_t)__builtin_ctz(model->line_bytes);
    return cache;
}

static void print(const struct rule *cg, const uint64_t *own)
{
    printf("cachegrind I1 %" PRIu64 " LLi %" PRIu64 " D1r %" PRIu64 " D1w %" PRIu64 " LLdr %" PRIu64 " LLdw %" PRIu64
           "\n",
           cg->code.first, cg->code.last, cg->load.first, cg->store.first, cg->load.last, cg->store.last);
    printf("mmprof     I1 %" PRIu64 " LLi %" PRIu64 " D1r %" PRIu64 " D1w %" PRIu64 " LLdr %" PRIu64 " LLdw %" PRIu64
           "\n",
           own[SIM_L1I_MISSES], own[SIM_L2_CODE_MISSES], own[SIM_L1D_LOAD_MISSES], own[SIM_L1D_STORE_MISSES],
           own[SIM_L2_LOAD_MISSES], own[SIM_L2_STORE_MISSES]);
    printf("both I1 %" PRIu64 " D1 %" PRIu64 "\n", cg->n_both_code, cg->n_both_data);
}

int main(int argc, char **argv)
{
    static struct rule cg;
    static struct sim_machine own;
    static uint64_t own_counts[SIM_N_COUNTS];
    struct sim_model model;
    struct err err = { "give a model" };
    char line[256];
    if (argc != 2 || sim_model_load(argv[1], &model, &err) < 0) {
        fprintf(stderr, "sim_lackey: %s\n", err.text);
        return 1;
    }
    void *memory = malloc(sim_machine_bytes(&model));
    if (memory == NULL)
        return 1;
    sim_machine_init(&own, &model, memory, own_counts);
    cg = (struct rule){ .l1i = make_cache(&model.l1i), .l1d = make_cache(&model.l1d), .l2 = make_cache(&model.l2) };
    while (fgets(line, sizeof line, stdin) != NULL) {
        char kind;
        uint64_t address;
        uint32_t n_bytes;
        if (sscanf(line, " %c %" SCNx64 ",%" SCNu32, &kind, &address, &n_bytes) == 3 && strchr("ISLM", kind) != NULL &&
            n_bytes > 0)
            touch(&cg, &own, kind, address, n_bytes);
    }
    print(&cg, own_counts);
    free(cg.l1i.entries);
    free(cg.l1d.entries);
    free(cg.l2.entries);
    free(memory);
    return 0;
}
