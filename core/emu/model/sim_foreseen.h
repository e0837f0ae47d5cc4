/*
 * Which loads and stores of a block of x86-64 instructions are known when it begins, because their addresses are made
 * of registers that hold what they held then, or that much more: of four fifths of all that programs execute, and more.
 *
 * So they need no callback each.  Those by the same registers that are within a line's length of each other are a
 * group: mostly they are in one line, and all of them are one look at it.
 */
#ifndef CORE_EMU_MODEL_SIM_FORESEEN_H
#define CORE_EMU_MODEL_SIM_FORESEEN_H

#include "core/emu/model/sim_machine.h"

/*
 * What an instruction of x86-64 loads and stores, by which registers, and which general registers it writes.
 *
 * Common instructions are known, after QEMU 7.2's way with them: it makes several loads of 8 bytes of one of 16 or 32,
 * and a load and a store of 'add %eax, (%rdx)'.  What is not known says so: locked and exchanging instructions, string
 * instructions, x87, addresses by fs, gs or 32 bits, gathers, AVX-512.
 */

#define SIM_N_REGISTERS  16 /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, as instructions number them */
#define SIM_NO_REGISTER  16
#define SIM_ACCESSES_MAX 4

enum { SIM_RAX, SIM_RCX, SIM_RDX, SIM_RBX, SIM_RSP, SIM_RBP };

/* base + index * 2^shift + offset, of the registers before the instruction. */
struct sim_addressing {
    uint8_t base, index, shift; /* SIM_NO_REGISTER */
    int64_t offset;
};

struct sim_operand {
    struct sim_addressing addressing;
    uint8_t n_bytes;
    bool is_store;
};

struct sim_operands {
    bool is_known;      /* all of 'accesses'; else they are what they are */
    uint8_t n_accesses; /* in the order in which they happen */
    uint16_t written;   /* a bit for each register; what is not known writes all */
    struct sim_operand accesses[SIM_ACCESSES_MAX];
    /* One written register's new value, 'from' with 'plus' (no index); to is SIM_NO_REGISTER: none is known. */
    uint8_t to, from;
    int64_t plus;
};

/* Of n bytes of one instruction at an address. */
void sim_operands_x86(const uint8_t *bytes, size_t n, uint64_t at, struct sim_operands *operands);

/* The little that the simulator needs to know of an instruction: whether it is a branch, and of which kind. */

/* The kind of branch that n bytes of one instruction are; cut or unknown ones are SIM_NO_BRANCH. */
enum sim_branch_kind sim_decode_x86(const uint8_t *bytes, size_t n);
enum sim_branch_kind sim_decode_arm64(const uint8_t *bytes, size_t n);

/* Does it only go elsewhere, always to the same place? */
bool sim_decode_is_jump_x86(const uint8_t *bytes, size_t n);
bool sim_decode_is_jump_arm64(const uint8_t *bytes, size_t n);

/* Does it take a word off the stack, into a register: pop, leave? */
bool sim_decode_is_pop_x86(const uint8_t *bytes, size_t n);

/*
 * Does HotSpot's interpreter (x86-64, JDK 17 to 25) fetch a bytecode by it?  It loads a byte at an offset from r13,
 * where it keeps the bytecode's address, into rbx: of what is executed next, just before it is executed.  Other code
 * may do so, too.
 */
bool sim_decode_is_dispatch(const uint8_t *bytes, size_t n);

#define SIM_FORESEEN_MAX 128 /* of a block; what is beyond is not foreseen */
#define SIM_GROUP_BYTES  64

/* One access, by the registers as the block's begin has them. */
struct sim_member {
    struct sim_operand operand;
    uint64_t instruction; /* its address */
};

/*
 * base + index * 2^shift + offset; of one that is not there, the mask is 0: no branch is needed for it.  What is seldom
 * asked for stands elsewhere: all groups of a program's code are more than caches have.
 */
struct sim_group {
    int64_t offset; /* of the lowest byte */
    uint8_t base, index, shift;
    int8_t base_mask, index_mask;
    uint8_t span; /* from the lowest byte to the highest one */
    uint8_t n;    /* members */
    uint8_t stores;
};

/* Of its stores: any member is one; the first is. */
#define SIM_SOME_STORES  1u
#define SIM_FIRST_STORES 2u

/* The rest of a group. */
struct sim_group_rest {
    const struct sim_member *members; /* in their order; borrowed */
    /* For one that is in two lines: where it can be divided, and which of its bytes are stored. */
    uint8_t first_written, last_written; /* the lowest and the highest one, or UINT8_MAX and 0 */
    uint64_t inner;                      /* bit i: byte i is in an access that begins before it */
};

/* Of a block: n_simple groups that have a base and no index, and n_general others. */
struct sim_foreseen {
    uint8_t n_simple, n_general, n_loads, n_stores;
    const struct sim_group_rest *rest; /* of each group; NULL: there are none */
    const struct sim_member *members;  /* one group's behind the other's */
};

/* What is in a register: another's at the block's begin, and something. */
struct sim_followed {
    uint8_t from; /* SIM_NO_REGISTER: the number alone; SIM_ANYTHING: not known */
    int64_t plus;
};

#define SIM_ANYTHING 17

/* A block, while it is looked at. */
struct sim_foresight {
    struct sim_followed registers[SIM_N_REGISTERS + 1]; /* the last is SIM_NO_REGISTER: 0 */
    uint32_t n;
    struct sim_member members[SIM_FORESEEN_MAX];
};

void sim_foresight_begin(struct sim_foresight *foresight);

/*
 * The next instruction, at an address.  is_told: its accesses shall not be foreseen.  Returns whether they are, all of
 * them; it may have none.
 */
bool sim_foresight_add(struct sim_foresight *foresight, const struct sim_operands *operands, uint64_t instruction,
                       bool is_told);

/* What the memory of a block's groups, and of the rest of them, is to have, in bytes; aligned to 8. */
struct sim_foresight_bytes {
    size_t groups, rest;
};

/* The block has ended; 0: nothing is foreseen. */
struct sim_foresight_bytes sim_foresight_bytes(const struct sim_foresight *foresight);

/* Makes both there. */
struct sim_foreseen sim_foresight_make(const struct sim_foresight *foresight, struct sim_group *groups, void *rest);

static inline uint64_t sim_effective_address(const struct sim_addressing *addressing, const uint64_t *registers)
{
    uint64_t address = (uint64_t)addressing->offset;
    if (addressing->base != SIM_NO_REGISTER)
        address += registers[addressing->base];
    if (addressing->index != SIM_NO_REGISTER)
        address += registers[addressing->index] << addressing->shift;
    return address;
}

/* is_simple: it has a base and no index. */
static inline uint64_t sim_group_address(const struct sim_group *group, const uint64_t *registers, bool is_simple)
{
    uint64_t base = registers[group->base];
    if (is_simple)
        return base + (uint64_t)group->offset;
    uint64_t index = registers[group->index] & (uint64_t)(int64_t)group->index_mask;
    return (base & (uint64_t)(int64_t)group->base_mask) + (index << group->shift) + (uint64_t)group->offset;
}

/* Does its first n bytes' end divide none of a group's accesses? */
static inline bool sim_group_divides(const struct sim_group_rest *group, unsigned n)
{
    return (group->inner >> n & 1) == 0;
}

#endif
