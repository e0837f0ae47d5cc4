#include "core/emu/tool/tool_host.h"

#include "core/base/xalloc.h"
#include "core/emu/model/sim_machine.h"

struct mmprof_caches {
    uint64_t counts[SIM_N_COUNTS];
    struct sim_machine machine; /* its memory is behind it */
};

static struct mmprof_caches *make(const char *name, char *why, size_t n)
{
    struct sim_model model;
    struct err err;
    if (sim_model_load(name == NULL ? SIM_MODEL_DEFAULT : name, &model, &err) < 0) {
        snprintf(why, n, "%s", err.text);
        return NULL;
    }
    struct mmprof_caches *caches = xmalloc(sizeof *caches + sim_machine_bytes(&model));
    memset(caches->counts, 0, sizeof caches->counts);
    sim_machine_init(&caches->machine, &model, caches + 1, caches->counts);
    return caches;
}

static struct mmprof_missed missed(const uint64_t *counts)
{
    return (struct mmprof_missed){
        .l1d = counts[SIM_L1D_LOAD_MISSES] + counts[SIM_L1D_STORE_MISSES],
        .l2 = counts[SIM_L2_LOAD_MISSES] + counts[SIM_L2_STORE_MISSES],
        .dtlb = counts[SIM_DTLB_MISSES],
    };
}

static struct mmprof_missed touch(struct mmprof_caches *caches, uint64_t address, uint32_t bytes, bool is_store)
{
    struct mmprof_missed before = missed(caches->counts);
    if (bytes == 0)
        return (struct mmprof_missed){ 0, 0, 0 };
    if (is_store)
        sim_machine_store(&caches->machine, address, bytes);
    else
        sim_machine_load(&caches->machine, address, bytes);
    struct mmprof_missed after = missed(caches->counts);
    return (struct mmprof_missed){ after.l1d - before.l1d, after.l2 - before.l2, after.dtlb - before.dtlb };
}

static void discard(struct mmprof_caches *caches)
{
    free(caches);
}

const struct mmprof_model tool_model = { make, touch, discard };
