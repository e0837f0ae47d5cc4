/* The log of the JVM's code is written by another process: any bytes, and any moments and addresses. */
#include "core/recorder/recompilation_cost.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct code_map map;
    struct code_frame frames[CODE_FRAMES_MAX];
    uint32_t point;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    code_map_init(&map, fd);
    code_map_read(&map);
    for (uint32_t i = 0; i < map.n_pieces; i++) {
        const struct code_piece *piece = &map.pieces[i];
        uint32_t found = code_map_find(&map, piece->start, piece->from_ticks);
        if (found != UINT32_MAX && (map.pieces[found].start > piece->start || map.pieces[found].end <= piece->start))
            abort();
        uint32_t n = code_piece_frames(piece, 0, frames, &point);
        if (n > CODE_FRAMES_MAX)
            abort();
        for (uint32_t k = 0; k < n; k++)
            if (frames[k].method < map.n_methods && map.methods[frames[k].method].line_bytes != NULL)
                code_log_line(map.methods[frames[k].method].line_bytes, map.methods[frames[k].method].n_line_bytes,
                              frames[k].index);
    }
    const char *const classes[] = { "a/Main", "" };
    struct recompilation_costs prices;
    recompilation_costs_find(&map, classes, 2, &prices);
    if (recompilation_costs_of(&prices, 3, 0) > prices.compiled)
        abort();
    recompilation_costs_free(&prices);
    code_map_free(&map);
    close(fd);
    return 0;
}
