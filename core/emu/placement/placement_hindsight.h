/*
 * Heat that an earlier run of the same program has sampled: by the names of classes and the offsets of fields.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_HINDSIGHT_H
#define CORE_EMU_PLACEMENT_PLACEMENT_HINDSIGHT_H

#include "core/emu/placement/placement_classes.h"

struct placement_hindsight {
    struct placement_heat_row *rows; /* owned; in the order of names */
    uint32_t n, room;
};

/* From a file (placement_result.h).  Returns 0, or -1: it cannot be read, it is damaged, or there is no memory. */
int placement_hindsight_read(struct placement_hindsight *hindsight, const char *path);
void placement_hindsight_free(struct placement_hindsight *hindsight);

/* Give a class, whose fields are known, the heat that its name had. */
void placement_hindsight_apply(const struct placement_hindsight *hindsight, struct placement_class *class);

#endif
