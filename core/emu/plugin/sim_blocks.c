#include "core/emu/plugin/sim_core.h"

#include <sys/mman.h>

/* More than the largest block needs. */
#define CHUNK_BYTES (1u << 18)

/* Of the processor that simulates. */
#define LINE_BYTES 64u

struct sim_blocks_chunk {
    struct sim_blocks_chunk *before;
    uint64_t unused[7];
    uint8_t bytes[];
};

/* Where so many bytes, or a line of them, divide no line that they need not. */
static size_t fit_lines(size_t at, size_t n_bytes)
{
    size_t first = n_bytes < LINE_BYTES ? n_bytes : LINE_BYTES;
    return at % LINE_BYTES + first > LINE_BYTES ? (at | (LINE_BYTES - 1)) + 1 : at;
}

static void *take_bytes(struct sim_room *room, size_t n_bytes)
{
    size_t at = fit_lines(room->n_in_newest, n_bytes);
    if (room->newest == NULL || at + n_bytes > CHUNK_BYTES - sizeof(struct sim_blocks_chunk)) {
        struct sim_blocks_chunk *chunk = sim_map(CHUNK_BYTES);
        chunk->before = room->newest;
        room->newest = chunk;
        at = 0;
    }
    room->n_in_newest = at + n_bytes;
    return room->newest->bytes + at;
}

struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block,
                                 const struct sim_foresight *foresight)
{
    struct sim_foresight_bytes n = { 0 };
    if (foresight != NULL)
        n = sim_foresight_bytes(foresight);
    struct sim_block *kept = take_bytes(&blocks->blocks, sizeof *kept + n.groups);
    *kept = *block;
    if (n.rest == 0)
        return kept;
    const struct sim_foreseen foreseen =
        sim_foresight_make(foresight, (struct sim_group *)(void *)(kept + 1), take_bytes(&blocks->rest, n.rest));
    kept->rest = foreseen.rest;
    kept->n_simple = foreseen.n_simple;
    kept->n_general = foreseen.n_general;
    kept->n_loads = foreseen.n_loads;
    kept->n_stores = foreseen.n_stores;
    return kept;
}

static void clear_room(struct sim_room *room)
{
    while (room->newest != NULL) {
        struct sim_blocks_chunk *chunk = room->newest;
        room->newest = chunk->before;
        munmap(chunk, CHUNK_BYTES);
    }
    room->n_in_newest = 0;
}

void sim_blocks_clear(struct sim_blocks *blocks)
{
    clear_room(&blocks->blocks);
    clear_room(&blocks->rest);
}
