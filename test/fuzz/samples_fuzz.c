/* The samples' log is written by another process: any bytes, in any pieces. */
#include "phases/samples/candidates.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct candidates_wish wish = CANDIDATES_WISH;
    struct arena arena = { NULL, 0 };
    struct candidates *all;
    struct candidate_list list;
    struct err err;
    size_t half = size / 2;
    if (candidates_open(&all, &err) < 0)
        return 0;
    if (candidates_feed(all, data, half, &err) == 0 && candidates_feed(all, data + half, size - half, &err) == 0 &&
        candidates_choose(all, &wish, &arena, &list, &err) == 0 && list.n > list.n_all)
        abort();
    candidates_close(all);
    arena_free(&arena);
    return 0;
}
