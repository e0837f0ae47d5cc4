/* Parts of readings.c. */
#ifndef CORE_RECORDER_READINGS_PARTS_H
#define CORE_RECORDER_READINGS_PARTS_H

#include "core/recorder/readings.h"

/* For readings.c: a round's readings, which wait to be written; nobody else includes it. */

struct pending_reading {
    uint32_t thread, series;
    uint64_t ticks;
    size_t values; /* index of the first one */
};

/* One more, with room for its values. */
struct pending_reading *readings_pending_new(struct readings *readings);

/* The first one of a thread after these ticks, or NULL. */
struct pending_reading *readings_pending_after(struct readings *readings, uint32_t thread, uint64_t ticks);

void readings_pending_free(struct readings *readings);

#endif
