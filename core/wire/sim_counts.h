/* What a simulated processor counts of each thread: core/emu/model counts, events are sums of these (core/pmu). */
#ifndef CORE_WIRE_SIM_COUNTS_H
#define CORE_WIRE_SIM_COUNTS_H

enum sim_count {
    SIM_INSTRUCTIONS,
    SIM_BRANCHES, /* conditional ones, indirect ones, returns */
    SIM_L1I_FETCHES,
    SIM_L1I_MISSES,
    SIM_L1D_LOADS,
    SIM_L1D_STORES,
    SIM_L1D_LOAD_MISSES,
    SIM_L1D_STORE_MISSES,
    SIM_L2_LOAD_MISSES, /* of L1D's misses */
    SIM_L2_STORE_MISSES,
    SIM_L2_CODE_MISSES, /* of L1I's misses */
    SIM_L2_WRITES,      /* lines written back, or stores written through */
    SIM_MEMORY_WRITES,  /* dirty lines that left L2 */
    SIM_TLB2_HITS,      /* what the first level did not have and the second had */
    SIM_DTLB_MISSES,
    SIM_ITLB_MISSES,
    /* Away from SIM_BRANCHES: compilers would add to both at once, through a slow detour of their vector. */
    SIM_BRANCH_MISSES,
    SIM_EXECUTED, /* with windows only (sim_slots.h): all instructions, of which those in windows are counted above */
    SIM_N_COUNTS
};

#endif
