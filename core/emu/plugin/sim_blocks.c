#include "core/emu/plugin/sim_blocks.h"

#include <sys/mman.h>

/* More than the largest block needs. */
#define CHUNK_BYTES (1u << 18)

struct sim_blocks_chunk {
    struct sim_blocks_chunk *before;
    uint64_t unused[7];
    uint8_t bytes[];
};

static void *take_bytes(struct sim_blocks *blocks, size_t n_bytes)
{
    size_t room = CHUNK_BYTES - sizeof(struct sim_blocks_chunk);
    if (blocks->newest == NULL || n_bytes > room - blocks->n_in_newest) {
        /* cppcheck-suppress invalidFunctionArg */
        void *at = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        struct sim_blocks_chunk *chunk = at;
        chunk->before = blocks->newest;
        blocks->newest = chunk;
        blocks->n_in_newest = 0;
    }
    void *taken = blocks->newest->bytes + blocks->n_in_newest;
    blocks->n_in_newest += n_bytes;
    return taken;
}

struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block,
                                 const struct sim_foresight *foresight)
{
    size_t n_foreseen = foresight == NULL ? 0 : sim_foresight_bytes(foresight);
    struct sim_block *kept = take_bytes(blocks, sizeof *kept + n_foreseen);
    if (kept == NULL)
        return NULL;
    *kept = *block;
    if (n_foreseen > 0)
        kept->foreseen = sim_foresight_make(foresight, kept + 1);
    return kept;
}

void sim_blocks_clear(struct sim_blocks *blocks)
{
    while (blocks->newest != NULL) {
        struct sim_blocks_chunk *chunk = blocks->newest;
        blocks->newest = chunk->before;
        munmap(chunk, CHUNK_BYTES);
    }
    blocks->n_in_newest = 0;
}
