#include "core/emu/plugin/sim_core.h"

#include <inttypes.h>

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

void sim_print(FILE *out, const struct sim_slots *slots, bool has_light)
{
    uint32_t n = atomic_load(&slots->n_used);
    for (uint32_t i = 0; i < n && i < slots->n_slots; i++)
        print_slot(out, &slots->slots[i], &slots->model.cost);
    if (slots->window.counted > 0)
        fprintf(out, "windows %s\n", has_light ? "light" : "heavy");
}
