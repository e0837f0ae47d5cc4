#include "core/emu/model/sim_foreseen.h"

#include "test/unit/tap.h"

#include <stdlib.h>

/* A block of instructions, each of which begins where the one before ended; 0x90 ends the text. */
struct instruction {
    uint8_t bytes[8];
    size_t n;
};

/* The registers at a block's begin: each other than the others. */
static uint64_t registers[SIM_N_REGISTERS];

/* Of the block that was looked at last. */
static struct sim_group *groups;

/* Looks at a block.  What is foreseen of it is allocated, if anything is. */
static struct sim_foreseen look(const struct instruction *block, size_t n, uint64_t *which)
{
    struct sim_foresight *foresight = malloc(sizeof *foresight);
    struct sim_foreseen made = { 0 };
    uint64_t at = 0x400000;
    sim_foresight_begin(foresight);
    *which = 0;
    for (size_t i = 0; i < n; i++) {
        struct sim_operands operands;
        sim_operands_x86(block[i].bytes, block[i].n, at, &operands);
        *which |= (uint64_t)sim_foresight_add(foresight, &operands, at, false) << i;
        at += block[i].n;
    }
    struct sim_foresight_bytes bytes = sim_foresight_bytes(foresight);
    groups = bytes.groups > 0 ? malloc(bytes.groups) : NULL;
    if (groups != NULL)
        made = sim_foresight_make(foresight, groups, malloc(bytes.rest));
    free(foresight);
    return made;
}

static void forget(struct sim_foreseen *foreseen)
{
    free((void *)(uintptr_t)foreseen->rest);
    free(groups);
}

/* A method's begin: three pushes, room, a store there, and a load by a register that was loaded. */
static void test_stack(void)
{
    static const struct instruction block[] = {
        { { 0x55 }, 1 },                         /* push %rbp */
        { { 0x48, 0x89, 0xe5 }, 3 },             /* mov %rsp, %rbp */
        { { 0x53 }, 1 },                         /* push %rbx */
        { { 0x48, 0x83, 0xec, 0x10 }, 4 },       /* sub $16, %rsp */
        { { 0x48, 0x89, 0x7c, 0x24, 0x08 }, 5 }, /* mov %rdi, 8(%rsp) */
        { { 0x48, 0x8b, 0x45, 0x00 }, 4 },       /* mov 0(%rbp), %rax */
        { { 0x48, 0x8b, 0x08 }, 3 },             /* mov (%rax), %rcx */
    };
    uint64_t which;
    struct sim_foreseen seen = look(block, 7, &which);
    const struct sim_member *members = seen.members;
    CHECK_NUMBER("all but the load by a loaded register are foreseen", which, 0x3f);
    CHECK_NUMBER("as three stores", seen.n_stores, 3);
    CHECK_NUMBER("and a load", seen.n_loads, 1);
    CHECK_NUMBER("of one group", seen.n_simple + seen.n_general, 1);
    CHECK_NUMBER("that begins at the lowest of them", sim_group_address(groups, registers, true),
                 registers[SIM_RSP] - 24);
    CHECK_NUMBER("and goes to the end of the highest", groups->span, 23);
    CHECK_NUMBER("the second push is 16 below the stack pointer",
                 sim_effective_address(&members[1].operand.addressing, registers), registers[SIM_RSP] - 16);
    CHECK_NUMBER("the frame pointer is followed, too", sim_effective_address(&members[3].operand.addressing, registers),
                 registers[SIM_RSP] - 8);
    CHECK_NUMBER("an instruction has its address", members[1].instruction, 0x400004);
    forget(&seen);
}

static void test_groups(void)
{
    static const struct instruction block[] = {
        { { 0x8b, 0x46, 0x0c }, 3 },                   /* mov 12(%rsi), %eax */
        { { 0x8b, 0x4c, 0xbe, 0x10 }, 4 },             /* mov 16(%rsi,%rdi,4), %ecx */
        { { 0x89, 0x56, 0x40 }, 3 },                   /* mov %edx, 64(%rsi) */
        { { 0x8b, 0x8e, 0x00, 0x01, 0x00, 0x00 }, 6 }, /* mov 256(%rsi), %ecx */
        { { 0x8b, 0x0d, 0x00, 0x00, 0x00, 0x00 }, 6 }, /* mov 0(%rip), %ecx */
        { { 0x31, 0xff }, 2 },                         /* xor %edi, %edi */
        { { 0x8b, 0x4c, 0xbe, 0x10 }, 4 },             /* mov 16(%rsi,%rdi,4), %ecx */
    };
    uint64_t which;
    struct sim_foreseen seen = look(block, 7, &which);
    CHECK_NUMBER("what has a written index is not foreseen", which, 0x3f);
    CHECK_NUMBER("near ones by the same register are a group, far ones another", seen.n_simple, 2);
    CHECK_NUMBER("with an index, or without a base, they are general", seen.n_general, 2);
    CHECK_NUMBER("the first has two members", groups[0].n, 2);
    CHECK("one of which is a store", groups[0].stores == SIM_SOME_STORES && groups[1].stores == 0);
    CHECK_NUMBER("whose bytes are told from the first on: the last four", seen.rest[0].first_written, 52);
    CHECK_NUMBER("to the last one", seen.rest[0].last_written, 55);
    CHECK("where no byte is written none is told", seen.rest[1].first_written == 255 && seen.rest[1].last_written == 0);
    CHECK("a line may end between its members", sim_group_divides(seen.rest, 4) && sim_group_divides(seen.rest, 52));
    CHECK("but not in one",
          !sim_group_divides(seen.rest, 1) && !sim_group_divides(seen.rest, 3) && !sim_group_divides(seen.rest, 55));
    CHECK_NUMBER("an index counts", sim_group_address(&groups[2], registers, false),
                 registers[6] + 4 * registers[7] + 16);
    CHECK_NUMBER("a number stands for itself", sim_group_address(&groups[3], registers, false), 0x400016);
    CHECK("members stand in the order of groups",
          seen.rest[1].members == seen.members + 2 && seen.rest[3].members == seen.members + 4);
    forget(&seen);
}

static void test_not_known(void)
{
    static const struct instruction block[] = {
        { { 0x0f, 0xa2 }, 2 },                         /* cpuid */
        { { 0x8b, 0x06 }, 2 },                         /* mov (%rsi), %eax */
        { { 0x48, 0xbe, 1, 0, 0, 0, 0, 0 }, 8 },       /* cut */
        { { 0x48, 0xc7, 0xc6, 0x00, 0x10, 0, 0 }, 7 }, /* mov $0x1000, %rsi */
        { { 0x8b, 0x06 }, 2 },                         /* mov (%rsi), %eax */
    };
    uint64_t which;
    struct sim_foreseen seen = look(block, 5, &which);
    CHECK_NUMBER("behind what is not known nothing is but what is set again", which, 0x18);
    CHECK_NUMBER("that is, a number", sim_group_address(groups, registers, false), 0x1000);
    forget(&seen);
    seen = look(block, 2, &which);
    CHECK("of a block without any there is nothing", seen.rest == NULL && groups == NULL && which == 0);
}

static void test_many(void)
{
    struct sim_foresight *foresight = malloc(sizeof *foresight);
    struct sim_operands operands;
    const uint8_t push[] = { 0x55 };
    uint32_t n = 0;
    sim_foresight_begin(foresight);
    sim_operands_x86(push, 1, 0x1000, &operands);
    CHECK("what is left to be told is not foreseen", !sim_foresight_add(foresight, &operands, 0x1000, true));
    for (int i = 0; i < 2 * SIM_FORESEEN_MAX; i++)
        n += sim_foresight_add(foresight, &operands, 0x1000, false);
    CHECK_NUMBER("no more are foreseen than there is room", n, SIM_FORESEEN_MAX);
    CHECK_NUMBER("but registers are followed on", (uint64_t)-foresight->registers[SIM_RSP].plus,
                 8 * (2 * SIM_FORESEEN_MAX + 1));
    free(foresight);
}

int main(void)
{
    for (uint64_t i = 0; i < SIM_N_REGISTERS; i++)
        registers[i] = 0x10000000 * (i + 1) + 8 * i;
    test_stack();
    test_groups();
    test_not_known();
    test_many();
    return tap_done();
}
