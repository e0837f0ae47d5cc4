/*
 * Which loads and stores of a block of x86-64 instructions are known when it begins, because their addresses are made
 * of registers that hold what they held then, or that much more: of four fifths of all that programs execute, and more.
 *
 * So they need no callback each.  Those by the same registers that are within a line's length of each other are a
 * group: mostly they are in one line, and all of them are one look at it.
 */
#ifndef CORE_EMU_MODEL_SIM_FORESEEN_H
#define CORE_EMU_MODEL_SIM_FORESEEN_H

#include "core/emu/model/sim_operands.h"

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
