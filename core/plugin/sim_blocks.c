#include "core/plugin/sim_blocks.h"

#include <sys/mman.h>

struct sim_blocks_chunk {
    struct sim_blocks_chunk *before;
    uint64_t unused;
    struct sim_block blocks[SIM_BLOCKS_PER_CHUNK];
};

struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block)
{
    if (blocks->newest == NULL || blocks->n_in_newest == SIM_BLOCKS_PER_CHUNK) {
        /* cppcheck-suppress invalidFunctionArg */
        void *at = mmap(NULL, sizeof *blocks->newest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        struct sim_blocks_chunk *chunk = at;
        chunk->before = blocks->newest;
        blocks->newest = chunk;
        blocks->n_in_newest = 0;
    }
    struct sim_block *kept = &blocks->newest->blocks[blocks->n_in_newest++];
    *kept = *block;
    return kept;
}

void sim_blocks_clear(struct sim_blocks *blocks)
{
    while (blocks->newest != NULL) {
        struct sim_blocks_chunk *chunk = blocks->newest;
        blocks->newest = chunk->before;
        munmap(chunk, sizeof *chunk);
    }
    blocks->n_in_newest = 0;
}
