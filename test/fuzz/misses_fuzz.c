/*
 * Entries of the log of misses from bytes.  What is read is written and read again, and is the same.
 */
#include "core/trace/misses.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void hold(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static uint8_t bytes[2 * LOCATION_ENTRY_BYTES];
    struct cursor c = cursor_over(data, n);
    struct miss_entry entry, again;
    while (cursor_left(&c) > 0 && misses_get(&c, &entry) == 0) {
        hold(entry.number < MISSES_NUMBERS_MAX && entry.cell < MISSES_NUMBERS_MAX && entry.space < MISS_SPACES);
        struct sink s = sink_into(bytes, sizeof bytes);
        misses_put(&s, &entry);
        struct cursor inner = cursor_over(bytes, (size_t)(s.at - bytes));
        hold(!s.full && misses_get(&inner, &again) == 0 && cursor_left(&inner) == 0);
        hold(again.kind == entry.kind && again.number == entry.number && again.ticks == entry.ticks &&
             again.location == entry.location && again.name.n == entry.name.n && again.thread == entry.thread &&
             again.cell == entry.cell && again.n_accesses == entry.n_accesses && again.n_kept == entry.n_kept &&
             memcmp(again.counts, entry.counts, sizeof entry.counts) == 0);
    }
    return 0;
}
