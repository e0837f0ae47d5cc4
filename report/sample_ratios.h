/*
 * What events that are read with stack samples say of a method, as ratios: cycles per instruction, misses per 1,000
 * instructions, page faults per second.
 */
#ifndef REPORT_SAMPLE_RATIOS_H
#define REPORT_SAMPLE_RATIOS_H

#include "core/base/arena.h"

/* numerator / denominator * scale; they are events' numbers. */
struct sample_ratio_kind {
    const char *heading, *key;
    uint32_t numerator, denominator;
    double scale;
};

/*
 * The ratios of some events: cycles per instruction, other hardware events per 1,000 instructions; page faults and
 * switches per second, if there is a clock; without instructions or a clock, per event that takes the samples, which is
 * the first one.
 *
 * events  names, n of them
 * kinds   room for n; their texts are the arena's
 *
 * Returns how many there are.
 */
int sample_ratio_kinds(const char *const *events, uint32_t n, struct arena *arena, struct sample_ratio_kind *kinds);

#endif
