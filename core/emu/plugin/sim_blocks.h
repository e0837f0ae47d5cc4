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

/*
 * 32 bytes, and behind it its groups of 16 each: with the usual two it is one line of the processor that simulates.  To
 * wait for a block's memory is a quarter of all that a callback does (perf, of a JVM's start); each had three times as
 * much.
 */
struct sim_block {
    uint64_t at, behind;               /* its first instruction, the first one behind it */
    const struct sim_group_rest *rest; /* as in struct sim_foreseen, as are the next four */
    uint8_t n_simple, n_general, n_loads, n_stores;
    uint16_t n_instructions;
    uint8_t kind;   /* of the last instruction: enum sim_branch_kind */
    uint8_t n_last; /* its bytes */
};

/* Of one that is kept. */
static inline const struct sim_group *sim_block_groups(const struct sim_block *block)
{
    return (const struct sim_group *)(const void *)(block + 1);
}

static inline uint64_t sim_block_last_at(const struct sim_block *block)
{
    return block->behind - block->n_last;
}

/* Does the block behind it count one instruction less? */
static inline bool sim_block_goes_on(const struct sim_block *before, const struct sim_block *block)
{
    return before->kind == SIM_NO_BRANCH && sim_block_last_at(before) == block->at;
}

/* Its loads and stores that are foreseen, in the order of groups. */
static inline const struct sim_member *sim_block_members(const struct sim_block *block)
{
    return block->rest->members;
}

/* Owned. */
struct sim_room {
    struct sim_blocks_chunk *newest;
    size_t n_in_newest; /* bytes */
};

struct sim_blocks {
    struct sim_room blocks, rest; /* apart, so that blocks stand close together */
};

/*
 * A copy that stays until they are cleared, with what is foreseen of it, if it is foreseen (NULL: it is not); NULL: no
 * memory.
 */
struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block,
                                 const struct sim_foresight *foresight);

void sim_blocks_clear(struct sim_blocks *blocks);

#endif
