/*
 * What the plugin keeps of each block of instructions that QEMU has translated.
 *
 * A block's last instruction may not be executed with it, and then begins the next block: QEMU tells of an instruction
 * that crosses the page's end before it leaves it to the next block, and of 'rep movs' and its like once for each
 * iteration.  A block that begins where the one before had its last instruction, which is no branch, does not count it
 * again.
 */
#ifndef CORE_PLUGIN_SIM_BLOCKS_H
#define CORE_PLUGIN_SIM_BLOCKS_H

#include "core/sim/sim_decode.h"

struct sim_block {
    uint64_t at, last_at, behind;   /* its first and last instruction, the first one behind it */
    uint64_t again_at;              /* where a block begins that counts one instruction less; SIM_BLOCK_NOWHERE */
    uint64_t first_line, last_line; /* of code */
    uint32_t n_instructions, kind;  /* of the last instruction: enum sim_branch_kind */
};

#define SIM_BLOCK_NOWHERE    UINT64_MAX
#define SIM_BLOCKS_PER_CHUNK 4095

struct sim_blocks_chunk;

struct sim_blocks {
    struct sim_blocks_chunk *newest; /* owned */
    uint32_t n_in_newest;
};

/* A copy that stays until they are cleared; NULL: no memory. */
struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block);

void sim_blocks_clear(struct sim_blocks *blocks);

#endif
