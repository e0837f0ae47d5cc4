/*
 * Processors that are known by name.  The sizes are those of the sources named; what these do not tell is marked as
 * chosen.  The costs are round figures of such machines, so that a miss weighs in CPI about as much as it did or does
 * there: simulated cycles order methods by what they lose; they predict no real processor's time.
 */
#include "core/emu/model/sim_machine.h"

#define K 1024u
#define M (1024u * K)

static const struct {
    struct sim_model model;
    const char *what;
} presets[] = {
    {
        .what = "AMD Zen 4 (Software Optimization Guide 57647): what mmprof simulates unless told otherwise",
        .model = {
            .name = "zen4",
            .l1i = { 32 * K, 8, 64 }, .l1d = { 32 * K, 8, 64 }, .l2 = { 1 * M, 8, 64 },
            .inclusion = SIM_INCLUSIVE,
            .itlb = { 64, 64 }, .dtlb = { 72, 72 }, .tlb2 = { 2048, 16 }, /* 512 for code, 3072 for data there */
            .page_bytes = 4 * K,
            .gshare_bits = 14, .history_bits = 14, .target_bits = 11, .path_bits = 8, /* chosen: a TAGE there */
            .n_returns = 32,
            .cost = { 25, 1000, 4000, 700, 3000, 1300 }, /* a miss of L2: as if L3 had it */
        },
    },
    {
        .what = "Intel Golden Cove, server (Optimization Reference Manual 248966)",
        .model = {
            .name = "goldencove",
            .l1i = { 32 * K, 8, 64 }, .l1d = { 48 * K, 12, 64 }, .l2 = { 2 * M, 16, 64 },
            .inclusion = SIM_INDEPENDENT,
            .itlb = { 256, 8 }, .dtlb = { 96, 96 }, .tlb2 = { 2048, 16 }, .tlb2_shared = 1,
            .page_bytes = 4 * K,
            .gshare_bits = 14, .history_bits = 14, .target_bits = 11, .path_bits = 8, /* chosen */
            .n_returns = 24, /* chosen */
            .cost = { 20, 1000, 5000, 700, 3000, 1700 },
        },
    },
    {
        .what = "Arm Neoverse N1 (Technical Reference Manual 100616)",
        .model = {
            .name = "neoverse-n1",
            .l1i = { 64 * K, 4, 64 }, .l1d = { 64 * K, 4, 64 }, .l2 = { 1 * M, 8, 64 },
            .inclusion = SIM_INCLUSIVE,
            .itlb = { 48, 48 }, .dtlb = { 48, 48 }, .tlb2 = { 1280, 5 }, .tlb2_shared = 1,
            .page_bytes = 4 * K,
            .gshare_bits = 14, .history_bits = 14, .target_bits = 10, .path_bits = 8, .n_returns = 16, /* chosen */
            .cost = { 25, 800, 4000, 500, 3000, 1100 },
        },
    },
    {
        .what = "the machine that thesis chapter 2 simulates (2.4.1); its caches' sizes, the rest is chosen",
        .model = {
            .name = "javana",
            .l1i = { 32 * K, 4, 32 }, .l1d = { 32 * K, 4, 32 }, .l2 = { 1 * M, 8, 128 },
            .inclusion = SIM_INDEPENDENT, /* as SimpleScalar, which it used */
            .itlb = { 64, 4 }, .dtlb = { 128, 4 }, /* chosen: SimpleScalar's */
            .page_bytes = 4 * K,
            .gshare_bits = 12, .history_bits = 8, .target_bits = 9, .n_returns = 8, /* chosen */
            .cost = { 100, 600, 10000, 0, 3000, 300 },
        },
    },
    {
        .what = "AMD Athlon XP 1500+ (thesis chapter 3; sizes from AMD's optimization guide 22007)",
        .model = {
            .name = "athlonxp",
            .l1i = { 64 * K, 2, 64 }, .l1d = { 64 * K, 2, 64 }, .l2 = { 256 * K, 16, 64 },
            .inclusion = SIM_EXCLUSIVE,
            .itlb = { 16, 16 }, .dtlb = { 32, 32 }, .tlb2 = { 256, 4 }, /* those for pages of 4 KB */
            .page_bytes = 4 * K,
            .gshare_bits = 12, .history_bits = 8, .target_bits = 11, .n_returns = 12,
            .cost = { 50, 1100, 12000, 500, 3000, 1000 },
        },
    },
    {
        .what = "UltraSPARC III+ as in SA section 5: data caches only, no penalties",
        .model = {
            .name = "ultrasparc3",
            .l1d = { 64 * K, 4, 32 }, .l2 = { 1 * M, 1, 64 },
            .inclusion = SIM_INDEPENDENT, /* chosen; write-back and allocation, too */
            .l2_shared = 1,               /* SA's machine has one processor */
            .page_bytes = 8 * K,
            .cost = { 100, 0, 0, 0, 0, 0 },
        },
    },
};

#define N_PRESETS (sizeof presets / sizeof presets[0])

const char *sim_model_preset(size_t i, const char **what)
{
    if (i >= N_PRESETS)
        return NULL;
    *what = presets[i].what;
    return presets[i].model.name;
}

int sim_model_find(const char *name, struct sim_model *model, struct err *err)
{
    for (size_t i = 0; i < N_PRESETS; i++)
        if (strcmp(presets[i].model.name, name) == 0) {
            *model = presets[i].model;
            return 0;
        }
    err_set(err, "there is no model '%s'", name);
    return err_next(err, "run 'mmprof list --models', or give a file of 'key value' lines");
}
