#include "core/pmu/default_sets.h"

/*
 * The thesis' thirteen events, and the last level cache.  The order is that of what a miss costs and how often it
 * happens: the first group of four counters is CPI, L1-D and branches.  TLB misses are those of all levels, as the
 * thesis counts them: page walks.
 */
#define CORE_EVENTS "cycles", "instructions"

/* ---- AMD ---- */

/*
 * Zen has no generic event for the last level cache: the data that came from memory is counted in its place.  The
 * events of the caches' way to L2 leave the L2 prefetcher out.  What a load or a store asks of L2 missed L1; loads
 * include L1's prefetches.  Of L2's misses it does not tell which were loads and which stores.
 */
#define ZEN_L1_LOAD  "REQUESTS_TO_L2_GROUP1:RD_BLK_L:LS_RD_BLK_C_S"
#define ZEN_L1_STORE "REQUESTS_TO_L2_GROUP1:RD_BLK_X"
#define ZEN_L2_D     "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C"
#define ZEN_L2_I     "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:IC_FILL_MISS"

/* Between the two is the last level cache, where it can be counted. */
#define ZEN_FIRST(L1_I)                                                                                            \
    CORE_EVENTS, "L1-dcache-load-misses", "branch-misses", ZEN_L2_D, L1_I, "dTLB-load-misses", "iTLB-load-misses", \
        ZEN_L2_I
#define ZEN_LAST ZEN_L1_LOAD, ZEN_L1_STORE, NULL

static const char *const zen1_pmus[] = { "amd64_fam17h_zen1", "amd64_fam17h", NULL };
static const char *const zen1_events[] = { ZEN_FIRST("32_BYTE_INSTRUCTION_CACHE_MISSES|L1-icache-load-misses"),
                                           ZEN_LAST };

static const char *const zen2_pmus[] = { "amd64_fam17h_zen2", NULL };
static const char *const zen2_events[] = { ZEN_FIRST("L1-icache-load-misses"),
                                           "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM",
                                           ZEN_LAST };

/* Since Zen 3 the generic L1-icache-load-misses is an event that AMD no longer documents. */
#define ZEN3_L1_I "IC_TAG_HIT_MISS:IC_MISS|L1-icache-load-misses"

static const char *const zen3_pmus[] = { "amd64_fam19h_zen3", NULL };
static const char *const zen3_events[] = { ZEN_FIRST(ZEN3_L1_I),
                                           "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT", ZEN_LAST };

static const char *const zen4_pmus[] = { "amd64_fam19h_zen4", NULL };
static const char *const zen4_events[] = { ZEN_FIRST(ZEN3_L1_I),
                                           "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR", ZEN_LAST };

/* ---- Intel ---- */

/*
 * The generic events are L1D.REPLACEMENT and completed page walks; for the level 2 cache there is none.  Its data
 * misses are told apart, and cannot be counted as one: loads and requests for ownership, which are stores.  Those that
 * reach it at all missed L1.
 */
#define INTEL_EVENTS(RETIRED_LOADS)                                                                     \
    {                                                                                                   \
        CORE_EVENTS, "L1-dcache-load-misses", "branch-misses", "L2_RQSTS:DEMAND_DATA_RD_MISS",          \
            "L1-icache-load-misses", "dTLB-load-misses", "LLC-load-misses|" RETIRED_LOADS ":L3_MISS",   \
            "iTLB-load-misses", "L2_RQSTS:CODE_RD_MISS", "L2_RQSTS:RFO_MISS", RETIRED_LOADS ":L1_MISS", \
            "L2_RQSTS:ALL_RFO", NULL                                                                    \
    }

static const char *const haswell_pmus[] = { "hsw", "hsw_ep", "bdw", "bdw_ep", NULL };
static const char *const haswell_events[] = INTEL_EVENTS("MEM_LOAD_UOPS_RETIRED");

/* The generic LLC-load-misses needs an extra register, which a hypervisor may hide; retired loads do not. */
static const char *const skylake_pmus[] = { "skl", "skx", "clx", "icl", "icx", "spr", NULL };
static const char *const skylake_events[] = INTEL_EVENTS("MEM_LOAD_RETIRED");

/* ---- Arm ---- */

/*
 * The level 2 cache is unified, and its refills are not told apart by data and instructions.  The generic TLB events
 * are those of the first level only, the generic branch-misses counts speculative branches, too.
 */
static const char *const neoverse_pmus[] = { "arm_n1", "arm_n2", "arm_v1", "arm_v2", NULL };
static const char *const neoverse_events[] = {
    CORE_EVENTS,
    "L1D_CACHE_REFILL|L1-dcache-load-misses",
    "BR_MIS_PRED_RETIRED|branch-misses",
    "L2D_CACHE_REFILL",
    "L1I_CACHE_REFILL|L1-icache-load-misses",
    "DTLB_WALK|dTLB-load-misses",
    "LL_CACHE_MISS_RD|LLC-load-misses",
    "ITLB_WALK|iTLB-load-misses",
    "L1D_CACHE_REFILL_RD",
    "L1D_CACHE_REFILL_WR",
    "L2D_CACHE_REFILL_RD",
    "L2D_CACHE_REFILL_WR",
    NULL,
};

/* Cores of Armv8.0 have no event for page walks.  libpfm4 4.13 does not know the Cortex-A72. */
static const char *const cortex_pmus[] = { "arm_ac57", "arm_ac53", NULL };
static const char *const cortex_events[] = {
    CORE_EVENTS,
    "L1D_CACHE_REFILL|L1-dcache-load-misses",
    "BRANCH_MISPRED|branch-misses",
    "L2D_CACHE_REFILL",
    "L1I_CACHE_REFILL|L1-icache-load-misses",
    "L1D_TLB_REFILL|dTLB-load-misses",
    "L1I_TLB_REFILL|iTLB-load-misses",
    NULL,
};

/* ---- any other ---- */

static const char *const generic_events[] = {
    CORE_EVENTS,
    "L1-dcache-load-misses",
    "branch-misses",
    "LLC-load-misses",
    "L1-icache-load-misses",
    "dTLB-load-misses",
    "iTLB-load-misses",
    NULL,
};

const struct default_set default_sets[] = {
    { zen1_pmus, zen1_events },         { zen2_pmus, zen2_events },       { zen3_pmus, zen3_events },
    { zen4_pmus, zen4_events },         { haswell_pmus, haswell_events }, { skylake_pmus, skylake_events },
    { neoverse_pmus, neoverse_events }, { cortex_pmus, cortex_events },   { NULL, generic_events },
};

const struct default_set *default_set_for(const char *pmu)
{
    const struct default_set *set = default_sets;
    for (; set->pmus != NULL; set++)
        for (const char *const *name = set->pmus; *name != NULL; name++)
            if (strcmp(*name, pmu) == 0)
                return set;
    return set;
}

size_t default_set_alternative(const char **at, char *out, size_t n)
{
    size_t length = strcspn(*at, "|");
    if (length >= n)
        length = n - 1;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += strcspn(*at, "|");
    *at += **at == '|';
    return length;
}
