#include "core/emu/model/sim_machine.h"

#include "test/unit/tap.h"

#include <stdlib.h>

static uint64_t counts[SIM_N_COUNTS];
static struct sim_machine machine;
static void *memory;

/* A machine of a preset's sizes, changed by a text of lines. */
static void make(const char *lines)
{
    struct sim_model model;
    struct err err;
    if (sim_model_read(lines, strlen(lines), "test", &model, &err) < 0) {
        printf("# %s\n", err.text);
        exit(1);
    }
    free(memory);
    memory = malloc(sim_machine_bytes(&model));
    if (memory == NULL)
        exit(1);
    memset(counts, 0, sizeof counts);
    sim_machine_init(&machine, &model, memory, counts);
}

/* L1D: 2 sets of 2 lines of 64 bytes; L2: 4 sets of 4. */
#define SMALL "like zen4\nl1d.size 256\nl1d.ways 2\nl2.size 1K\nl2.ways 4\n"

/* A repeatable sequence of numbers that no cache knows: xorshift. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void test_walks(void)
{
    make("like zen4\n");
    for (uint64_t i = 0; i < 100000; i++)
        sim_machine_load(&machine, 0x10000000 + 8 * i, 8);
    CHECK_NUMBER("a walk over an array of 100,000 longs misses once a line", counts[SIM_L1D_LOAD_MISSES], 12500);
    CHECK_NUMBER("in L2, too", counts[SIM_L2_LOAD_MISSES], 12500);
    CHECK_NUMBER("and in the TLB once a page", counts[SIM_DTLB_MISSES], (800000 + 4095) / 4096);
    CHECK_NUMBER("each access is a load", counts[SIM_L1D_LOADS], 100000);
    CHECK_NUMBER("nothing is written", counts[SIM_L2_WRITES] + counts[SIM_MEMORY_WRITES], 0);
    for (uint64_t i = 0; i < 4096; i++)
        sim_machine_load(&machine, 0x20000000 + 8 * i, 8);
    uint64_t before = counts[SIM_L1D_LOAD_MISSES];
    for (uint64_t round = 0; round < 10; round++)
        for (uint64_t i = 0; i < 4096; i++)
            sim_machine_load(&machine, 0x20000000 + 8 * i, 8);
    CHECK_NUMBER("an array as large as L1D, walked again and again, misses no more", counts[SIM_L1D_LOAD_MISSES],
                 before);
    before = counts[SIM_L1D_LOAD_MISSES];
    for (uint64_t i = 0; i < 4608; i++)
        sim_machine_load(&machine, 0x20000000 + 8 * i, 8);
    for (uint64_t i = 0; i < 4608; i++)
        sim_machine_load(&machine, 0x20000000 + 8 * i, 8);
    CHECK_NUMBER("one of nine ways' size misses at each line of all sets, second time round: LRU",
                 counts[SIM_L1D_LOAD_MISSES] - before, 64 + 576);
}

/*
 * Random reads of one of n lines, where L1D holds m of them: once it is full, each read misses with 1 - m / n, whatever
 * is replaced (the lines of a set are equally likely).  Three standard deviations around it.
 */
static void test_random_walk(void)
{
    uint64_t state = 88172645463325252, n_lines = 2048, n_reads = 400000;
    make("like zen4\n");
    for (uint64_t i = 0; i < 50000; i++)
        sim_machine_load(&machine, 0x10000000 + next_random(&state) % n_lines * 64, 8);
    uint64_t before = counts[SIM_L1D_LOAD_MISSES];
    for (uint64_t i = 0; i < n_reads; i++)
        sim_machine_load(&machine, 0x10000000 + next_random(&state) % n_lines * 64, 8);
    uint64_t misses = counts[SIM_L1D_LOAD_MISSES] - before; /* 3/4; deviation sqrt(n * 3/16) = 274 */
    CHECK("random reads of four times L1D's lines miss three times of four", misses > 299178 && misses < 300822);
    CHECK_NUMBER("all of them are in L2", counts[SIM_L2_LOAD_MISSES], n_lines);
}

static void load_line(uint64_t line)
{
    sim_machine_load(&machine, line * 64, 8);
}

static void test_replacement(void)
{
    make(SMALL);
    load_line(0);
    load_line(2);
    load_line(4); /* 0, the least recently used of the set, goes */
    load_line(2);
    CHECK_NUMBER("two ways keep the last two lines of a set", counts[SIM_L1D_LOAD_MISSES], 3);
    load_line(0);
    CHECK_NUMBER("the least recently used one went", counts[SIM_L1D_LOAD_MISSES], 4);
    load_line(2);
    CHECK_NUMBER("one that was used meanwhile stays", counts[SIM_L1D_LOAD_MISSES], 4);
    load_line(1);
    load_line(3);
    load_line(2);
    CHECK_NUMBER("other sets do not matter", counts[SIM_L1D_LOAD_MISSES], 6);
    make("like zen4\nl1d.size 128\nl1d.ways 1\nl2.size 1K\nl2.ways 4\n");
    for (int i = 0; i < 10; i++) {
        load_line(0);
        load_line(2);
    }
    CHECK_NUMBER("two lines of a set take turns in a direct-mapped cache", counts[SIM_L1D_LOAD_MISSES], 20);
    CHECK_NUMBER("and stay in L2", counts[SIM_L2_LOAD_MISSES], 2);
}

static void test_borders(void)
{
    make(SMALL);
    sim_machine_load(&machine, 60, 8);
    CHECK_NUMBER("an access over the border of two lines is two accesses", counts[SIM_L1D_LOADS], 2);
    CHECK_NUMBER("with a miss each", counts[SIM_L1D_LOAD_MISSES], 2);
    sim_machine_load(&machine, 60, 8);
    sim_machine_load(&machine, 60, 4);
    CHECK_NUMBER("then they are there", counts[SIM_L1D_LOAD_MISSES], 2);
    sim_machine_load(&machine, 4092, 8);
    CHECK_NUMBER("over the border of two pages it needs both", counts[SIM_DTLB_MISSES], 2);
}

static void test_write_back(void)
{
    make(SMALL "l2.inclusion independent\n");
    sim_machine_store(&machine, 0, 8);
    CHECK_NUMBER("a store that misses brings the line in", counts[SIM_L2_STORE_MISSES], 1);
    sim_machine_store(&machine, 8, 8);
    load_line(2);
    load_line(4);
    CHECK_NUMBER("a dirty line that has to go is written to L2, once", counts[SIM_L2_WRITES], 1);
    load_line(6);
    CHECK_NUMBER("a clean one is not", counts[SIM_L2_WRITES], 1);
    for (uint64_t line = 8; line < 8 + 4 * 4; line += 4)
        load_line(line);
    CHECK_NUMBER("and from L2 to memory", counts[SIM_MEMORY_WRITES], 1);
    make(SMALL "l1d.write through\n");
    for (int i = 0; i < 5; i++)
        sim_machine_store(&machine, 0, 8);
    CHECK_NUMBER("a cache that writes through writes each store to L2", counts[SIM_L2_WRITES], 5);
    make(SMALL "l1d.write through\nl1d.allocate no\n");
    for (int i = 0; i < 5; i++)
        sim_machine_store(&machine, 0, 8);
    CHECK_NUMBER("without allocation a store brings nothing in", counts[SIM_L1D_STORE_MISSES], 5);
    CHECK_NUMBER("and goes to L2", counts[SIM_L2_WRITES], 5);
    load_line(0);
    sim_machine_store(&machine, 0, 8);
    CHECK_NUMBER("what a load brought in it finds", counts[SIM_L1D_STORE_MISSES], 5);
    CHECK_NUMBER("and writes through", counts[SIM_L2_WRITES], 6);
}

/* L1D has 16 lines in one set, L2 eight sets of one. */
#define WIDE "like zen4\nl1d.size 1K\nl1d.ways 16\nl2.size 512\nl2.ways 1\n"

static void test_inclusion(void)
{
    make(WIDE "l2.inclusion independent\n");
    load_line(0);
    load_line(8);
    load_line(0);
    CHECK_NUMBER("independent: what L2 loses stays in L1", counts[SIM_L1D_LOAD_MISSES], 2);
    make(WIDE "l2.inclusion inclusive\n");
    sim_machine_store(&machine, 0, 8);
    load_line(8);
    CHECK_NUMBER("inclusive: a dirty line that L2 loses goes to memory", counts[SIM_MEMORY_WRITES], 1);
    load_line(0);
    CHECK_NUMBER("and is lost for L1, too", counts[SIM_L1D_LOAD_MISSES], 2);
    make(WIDE "l2.inclusion inclusive\n");
    sim_machine_fetch(&machine, 0, 16, 4);
    load_line(8);
    sim_machine_fetch(&machine, 0, 16, 4);
    CHECK_NUMBER("instructions are no exception", counts[SIM_L1I_MISSES], 2);
    make("like athlonxp\nl1d.size 64\nl1d.ways 1\nl2.size 64\nl2.ways 1\n");
    load_line(0);
    load_line(1);
    for (int i = 0; i < 10; i++) {
        load_line(0);
        load_line(1);
    }
    CHECK_NUMBER("exclusive: one line of L1 and one of L2 hold two", counts[SIM_L2_LOAD_MISSES], 2);
    CHECK_NUMBER("which L1 has in turn", counts[SIM_L1D_LOAD_MISSES], 22);
}

static void test_lines_of_two_sizes(void)
{
    make("like javana\n");
    for (uint64_t i = 0; i < 1024; i++)
        sim_machine_load(&machine, 0x10000 + 4 * i, 4);
    CHECK_NUMBER("lines of 32 bytes in L1", counts[SIM_L1D_LOAD_MISSES], 128);
    CHECK_NUMBER("and of 128 bytes in L2", counts[SIM_L2_LOAD_MISSES], 32);
}

static void test_code(void)
{
    make("like zen4\n");
    for (int i = 0; i < 100; i++)
        sim_machine_fetch(&machine, 0x1000 + 40, 30, 7); /* two lines */
    CHECK_NUMBER("a block counts its instructions", counts[SIM_INSTRUCTIONS], 700);
    CHECK_NUMBER("fetches each of its lines", counts[SIM_L1I_FETCHES], 200);
    CHECK_NUMBER("and misses once a line", counts[SIM_L1I_MISSES], 2);
    CHECK_NUMBER("and once a page", counts[SIM_ITLB_MISSES], 1);
    sim_machine_load(&machine, 0x1040, 8);
    CHECK_NUMBER("L2 has code and data", counts[SIM_L2_LOAD_MISSES], 0);
    make("like ultrasparc3\n");
    sim_machine_fetch(&machine, 0x1000, 30, 7);
    CHECK_NUMBER("a machine without L1I has no misses of it", counts[SIM_L1I_MISSES] + counts[SIM_L2_CODE_MISSES], 0);
}

static void test_tlbs(void)
{
    make("like zen4\ndtlb.entries 4\ndtlb.ways 4\ntlb2.entries 8\ntlb2.ways 8\n");
    for (int round = 0; round < 3; round++)
        for (uint64_t page = 0; page < 6; page++)
            sim_machine_load(&machine, page * 4096, 8);
    CHECK_NUMBER("six pages miss once each, with eight entries behind four", counts[SIM_DTLB_MISSES], 6);
    CHECK_NUMBER("which the second level has, from the second round on", counts[SIM_TLB2_HITS], 12);
}

static void test_branches(void)
{
    make("like zen4\n");
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 4; j++)
            sim_machine_branch(&machine, SIM_CONDITIONAL, 0x100, 0x102, j < 3 ? 0x80 : 0x102);
    CHECK_NUMBER("conditional branches are counted", counts[SIM_BRANCHES], 4000);
    CHECK("a loop of four is learnt from its history", counts[SIM_BRANCH_MISSES] < 40);
    make("like zen4\ngshare.bits 1\ngshare.history 0\n");
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 4; j++)
            sim_machine_branch(&machine, SIM_CONDITIONAL, 0x100, 0x102, j < 3 ? 0x80 : 0x102);
    CHECK_NUMBER("a two-bit counter alone mispredicts its end each time", counts[SIM_BRANCH_MISSES], 1001);
    make("like javana\n");
    for (int i = 0; i < 100; i++)
        sim_machine_branch(&machine, SIM_INDIRECT, 0x100, 0x102, 0x1000 + (uint64_t)(i % 2) * 64);
    CHECK_NUMBER("without a path, targets in turn are never right", counts[SIM_BRANCH_MISSES], 100);
    make("like zen4\n");
    for (int i = 0; i < 100; i++)
        sim_machine_branch(&machine, SIM_INDIRECT, 0x100, 0x102, 0x1000 + (uint64_t)(i % 2) * 64);
    CHECK("with one they are learnt", counts[SIM_BRANCH_MISSES] < 20);
}

static void test_returns(void)
{
    make("like zen4\nreturns.entries 4\n");
    for (uint64_t depth = 0; depth < 6; depth++)
        sim_machine_branch(&machine, depth % 2 ? SIM_CALL : SIM_INDIRECT_CALL, depth, depth + 5, 0x1000);
    uint64_t before = counts[SIM_BRANCH_MISSES];
    for (uint64_t depth = 6; depth-- > 2;)
        sim_machine_branch(&machine, SIM_RETURN, 0x2000, 0x2001, depth + 5);
    CHECK_NUMBER("a stack of four knows four returns", counts[SIM_BRANCH_MISSES], before);
    for (uint64_t depth = 2; depth-- > 0;)
        sim_machine_branch(&machine, SIM_RETURN, 0x2000, 0x2001, depth + 5);
    CHECK_NUMBER("and no more", counts[SIM_BRANCH_MISSES], before + 2);
}

static void test_cycles(void)
{
    struct sim_costs cost = { 25, 1000, 4000, 700, 3000, 1300 };
    uint64_t some[SIM_N_COUNTS] = {
        [SIM_INSTRUCTIONS] = 400, [SIM_L1D_LOAD_MISSES] = 3, [SIM_L1D_STORE_MISSES] = 1, [SIM_L1I_MISSES] = 2,
        [SIM_L2_LOAD_MISSES] = 1, [SIM_TLB2_HITS] = 2,       [SIM_ITLB_MISSES] = 1,      [SIM_BRANCH_MISSES] = 3
    };
    CHECK_NUMBER("cycles are the sum of costs", sim_cycles(&cost, some), 100 + 60 + 40 + 14 + 30 + 39);
}

/* Of the lines from an address on, none is recent. */
static void forget(uint64_t address)
{
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t data = ((address >> machine.l1d.line_bits) + i) % SIM_RECENT;
        uint64_t code = ((address >> machine.l1i.line_bits) + i) % SIM_RECENT;
        machine.recent_data[data] = sim_recent_none(data);
        machine.recent_code[code] = sim_recent_none(code);
    }
}

/* The short cuts change nothing: a machine that never takes them (no line is ever recent) says the same. */
static void test_short_cuts(void)
{
    static const char *const models[] = { SMALL,
                                          SMALL "l2.inclusion independent\n",
                                          WIDE,
                                          "like javana\n",
                                          "like athlonxp\nl1d.size 256\nl2.size 1K\nl2.ways 2\n",
                                          SMALL "l1d.write through\n",
                                          SMALL "l1d.allocate no\n",
                                          SMALL
                                          "page.size 1K\ndtlb.entries 2\ndtlb.ways 2\nitlb.entries 1\nitlb.ways 1\n",
                                          "like javana\npage.size 8K\ndtlb.entries 2\ndtlb.ways 1\n" };
    bool is_same = true;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        uint64_t seen[2][SIM_N_COUNTS];
        for (int without = 0; without < 2; without++) {
            uint64_t state = 88172645463325252;
            make(models[i]);
            for (int k = 0; k < 200000; k++) {
                uint64_t r = next_random(&state), address = (r >> 8) % 65536;
                address = r % 4 == 0 ? address : address % 256;
                if (without)
                    forget(address);
                if (r % 8 < 5)
                    sim_machine_load(&machine, address, 8);
                else if (r % 8 < 7)
                    sim_machine_store(&machine, address, 8);
                else
                    sim_machine_fetch(&machine, address, 20, 5);
            }
            memcpy(seen[without], counts, sizeof counts);
        }
        if (memcmp(seen[0], seen[1], sizeof counts) != 0) {
            printf("# model %zu\n", i);
            for (int c = 0; c < SIM_N_COUNTS; c++)
                printf("# %d: %" PRIu64 " %" PRIu64 "\n", c, seen[0][c], seen[1][c]);
            is_same = false;
        }
    }
    CHECK("short cuts change no count, in nine models", is_same);
}

/* Two threads with an L2 of 16 lines: what one brought in the other finds; what one sweeps away the other misses. */
static void test_shared(void)
{
    static struct sim_machine other;
    static uint64_t of_other[SIM_N_COUNTS];
    struct sim_model model;
    struct err err;
    make(SMALL "l2.inclusion independent\nl2.shared yes\n");
    const char text[] = SMALL "l2.inclusion independent\nl2.shared yes\n";
    void *room = malloc(sim_machine_bytes(&(struct sim_model){ .l1d = { 0 } }) + (1 << 20));
    if (room == NULL || sim_model_read(text, strlen(text), "test", &model, &err) < 0)
        exit(1);
    struct sim_shared *shared = sim_shared_make(&model);
    sim_machine_init(&other, &model, room, of_other);
    sim_machine_share(&machine, shared);
    sim_machine_share(&other, shared);
    for (uint64_t i = 0; i < 16; i++)
        sim_machine_load(&machine, 64 * i, 8);
    for (uint64_t i = 0; i < 16; i++)
        sim_machine_load(&other, 64 * i, 8);
    CHECK_NUMBER("a shared L2: one thread misses each line", counts[SIM_L2_LOAD_MISSES], 16);
    CHECK_NUMBER("another one finds them", of_other[SIM_L2_LOAD_MISSES], 0);
    for (uint64_t i = 16; i < 32; i++)
        sim_machine_load(&other, 64 * i, 8);
    for (uint64_t i = 0; i < 12; i++)
        sim_machine_load(&machine, 64 * i, 8);
    CHECK_NUMBER("what it has swept away the first misses again, but for what L1 has", counts[SIM_L2_LOAD_MISSES], 28);
    free(room);
}

int main(void)
{
    test_shared();
    test_walks();
    test_random_walk();
    test_replacement();
    test_borders();
    test_write_back();
    test_inclusion();
    test_lines_of_two_sizes();
    test_code();
    test_tlbs();
    test_branches();
    test_returns();
    test_cycles();
    test_short_cuts();
    free(memory);
    return tap_done();
}
