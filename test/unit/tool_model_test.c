/* The simulated caches that tools may call: what they say of an access, and that it is what the simulator counts. */
#include "core/emu/model/sim_machine.h"
#include "core/emu/tool/tool_host.h"

#include "test/unit/tap.h"

#include <stdlib.h>

static char why[512];

static struct mmprof_missed sum;

static void use(struct mmprof_caches *caches, uint64_t address, uint32_t bytes, bool is_store)
{
    struct mmprof_missed missed = tool_model.access(caches, address, bytes, is_store);
    sum.l1d += missed.l1d;
    sum.l2 += missed.l2;
    sum.dtlb += missed.dtlb;
}

static void test_walk(void)
{
    struct mmprof_caches *caches = tool_model.make("javana", why, sizeof why);
    for (uint64_t i = 0; i < 131072; i++)
        use(caches, 0x10000000 + 8 * i, 8, false);
    CHECK_NUMBER("a megabyte, walked, misses L1D once a line of 32 bytes", sum.l1d, 32768);
    CHECK_NUMBER("and L2 once a line of 128", sum.l2, 8192);
    CHECK_NUMBER("and the TLB once a page", sum.dtlb, 256);
    struct mmprof_missed again = tool_model.access(caches, 0x10000000 + 8 * UINT64_C(131071), 8, true);
    CHECK_NUMBER("what was used just now is there", again.l1d + again.l2 + again.dtlb, 0);
    struct mmprof_missed nothing = tool_model.access(caches, 0x50000000, 0, false);
    CHECK_NUMBER("no bytes are no access", nothing.l1d + nothing.l2 + nothing.dtlb, 0);
    struct mmprof_missed both = tool_model.access(caches, 0x60000ffc, 8, false);
    CHECK_NUMBER("an access over the border of two lines can miss both", both.l1d, 2);
    CHECK_NUMBER("and two pages", both.dtlb, 2);
    tool_model.discard(caches);
}

/* One of 2^22 bytes, most of them near each other. */
static uint64_t next_address(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return 0x10000000 + ((*random & 3) != 0 ? *random >> 40 & 0xffff : *random >> 40 & 0x3fffff);
}

static void test_machine(const char *processor)
{
    struct sim_model model;
    struct err err;
    uint64_t counts[SIM_N_COUNTS] = { 0 }, random = 88172645463325252;
    struct mmprof_caches *caches = tool_model.make(processor, why, sizeof why);
    struct mmprof_caches *others = tool_model.make(processor, why, sizeof why);
    if (sim_model_find(processor, &model, &err) < 0 || caches == NULL || others == NULL)
        exit(1);
    struct sim_machine machine;
    void *memory = malloc(sim_machine_bytes(&model));
    sim_machine_init(&machine, &model, memory, counts);
    sum = (struct mmprof_missed){ 0, 0, 0 };
    for (int i = 0; i < 300000; i++) {
        uint64_t address = next_address(&random);
        bool is_store = (address & 64) != 0;
        if (is_store)
            sim_machine_store(&machine, address, 4);
        else
            sim_machine_load(&machine, address, 4);
        use(caches, address, 4, is_store);
        tool_model.access(others, address ^ 0x40000000, 4, is_store);
    }
    printf("# %s: %llu of L1D, %llu of L2\n", processor, (unsigned long long)sum.l1d, (unsigned long long)sum.l2);
    CHECK_NUMBER("L1D misses what the simulator's misses", sum.l1d,
                 counts[SIM_L1D_LOAD_MISSES] + counts[SIM_L1D_STORE_MISSES]);
    CHECK_NUMBER("L2, too", sum.l2, counts[SIM_L2_LOAD_MISSES] + counts[SIM_L2_STORE_MISSES]);
    CHECK_NUMBER("the TLB, too", sum.dtlb, counts[SIM_DTLB_MISSES]);
    CHECK("these were some", sum.l1d > 1000 && sum.l2 > 1000 && sum.dtlb > 100);
    tool_model.discard(caches);
    tool_model.discard(others);
    free(memory);
}

int main(void)
{
    test_walk();
    test_machine("zen4");
    test_machine("athlonxp");
    CHECK("a processor that is not known is refused", tool_model.make("zen0", why, sizeof why) == NULL);
    CHECK("with what to do", strstr(why, "'zen0'") != NULL && strstr(why, "mmprof list --models") != NULL);
    struct mmprof_caches *usual = tool_model.make(NULL, why, sizeof why);
    CHECK("without a name there is a usual one", usual != NULL);
    tool_model.discard(usual);
    return tap_done();
}
