/*
 * What a run found, as lines of text: written by the plugin in the emulator, read by the command that has started it;
 * and heat, which one run writes and a later one reads.
 *
 *     mmprof-placement 1
 *     run ACCESSES PLACED COLLECTIONS FULL OBJECTS BYTES SAMPLES EVENT PERIOD MODEL
 *     policy identity samples                       (each, in order)
 *     class NUMBER OBJECTS BYTES NAME               (0: not placed, in the heap; 1: not in the heap)
 *     misses MACHINE CLASS L1D L2 DTLB              (machine 0: as it is; i: of policy i - 1)
 *     heat CLASS OFFSET SAMPLES                     (offset -1: the class')
 *     end
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_RESULT_H
#define CORE_EMU_PLACEMENT_PLACEMENT_RESULT_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/emu/placement/placement_thread.h"

#include <stdio.h>

extern const char *const placement_event_names[PLACEMENT_EVENTS];

/* What is not in the counts. */
struct placement_run {
    uint64_t n_accesses, n_placed, n_collections, n_full, n_objects, n_object_bytes, n_samples;
    enum placement_event event;
    uint64_t period;
    char model[SIM_NAME_BYTES];
};

/* Classes that have misses, objects or heat. */
void placement_result_write(FILE *out, const struct placement_run *run, const struct placement_world *world,
                            const struct placement_counts *counts);

struct placement_result_class {
    const char *name; /* the arena's; NULL: not there */
    uint64_t n_objects, n_bytes;
    uint64_t misses[PLACEMENT_MACHINES][PLACEMENT_EVENTS];
};

struct placement_result {
    struct placement_run run;
    struct placement_policy policies[PLACEMENT_MAX]; /* kind and heat */
    uint32_t n_policies, n_classes;
    struct placement_result_class *classes; /* the arena's; the first PLACEMENT_OWNERS are none */
};

/* Returns 0, or -1 with *err set: it is damaged or cut; path: its name in errors. */
int placement_result_read(const char *text, size_t n, const char *path, struct arena *arena,
                          struct placement_result *result, struct err *err);

/* The heat that a result has, for hindsight: calls take for each.  Returns 0, or -1: it is damaged. */
typedef void placement_heat_take(void *context, const char *class_name, int64_t offset, double heat);
int placement_heat_read(const char *text, size_t n, placement_heat_take *take, void *context);

/* A class' name at a number, from 'class' lines before.  Policies by name, "hot-cold"; returns whether there is one. */
bool placement_kind_parse(const char *name, size_t n, enum placement_kind *kind);
bool placement_event_parse(const char *name, enum placement_event *event);

#endif
