/*
 * What the plugin keeps of each block of instructions that QEMU has translated.
 *
 * A block's last instruction may not be executed with it, and then begins the next block: QEMU tells of an instruction
 * that crosses the page's end before it leaves it to the next block, and of 'rep movs' and its like once for each
 * iteration.  A block that begins where the one before had its last instruction, which is no branch, does not count it
 * again.
 */
#ifndef CORE_EMU_PLUGIN_SIM_BLOCKS_H
#define CORE_EMU_PLUGIN_SIM_BLOCKS_H

#include "core/emu/model/sim_decode.h"
#include "core/emu/model/sim_foreseen.h"

struct sim_block {
    uint64_t at, last_at, behind;   /* its first and last instruction, the first one behind it */
    uint64_t again_at;              /* where a block begins that counts one instruction less; SIM_BLOCK_NOWHERE */
    uint64_t first_line, last_line; /* of code */
    uint32_t n_instructions, kind;  /* of the last instruction: enum sim_branch_kind */
    struct sim_foreseen foreseen;   /* of its loads and stores */
};

#define SIM_BLOCK_NOWHERE UINT64_MAX

struct sim_blocks_chunk;

struct sim_blocks {
    struct sim_blocks_chunk *newest; /* owned */
    size_t n_in_newest;              /* bytes */
};

/*
 * A copy that stays until they are cleared, with what is foreseen of it, if it is foreseen (NULL: it is not); NULL: no
 * memory.
 */
struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block,
                                 const struct sim_foresight *foresight);

void sim_blocks_clear(struct sim_blocks *blocks);

#endif
