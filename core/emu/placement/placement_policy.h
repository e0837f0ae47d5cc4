/*
 * The policies: where objects go that a collection has copied to the old generation (PEBSI §4.2, §5.2).
 *
 *     identity   where they are: the second model is to say what the first does
 *     hot-cold   objects of hot classes into a space of their own, which has at most 30 % of the bytes of both; within
 *                a space as they came (§4.2.1)
 *     children   the same, and in the hot space objects behind those that refer to them, the hottest field first, as a
 *                copying collector comes to them (§4.2.2)
 *     fields     where they are, with the fields of each class in the order of their heat
 *
 * What has been placed stays.  No memory is used again before all objects are placed anew.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_POLICY_H
#define CORE_EMU_PLACEMENT_PLACEMENT_POLICY_H

#include "core/emu/placement/placement_classes.h"

enum placement_kind { PLACEMENT_IDENTITY, PLACEMENT_HOT_COLD, PLACEMENT_CHILDREN, PLACEMENT_FIELDS, PLACEMENT_KINDS };

#define PLACEMENT_HOT_SHARE 0.3 /* PEBSI §5.2.1 */
#define PLACEMENT_HOTTEST   8   /* fields whose children are placed by heat; those behind them as they stand */

extern const char *const placement_kind_names[PLACEMENT_KINDS];

struct placement_policy {
    enum placement_kind kind;
    enum placement_heat heat;
    /* Of the cold space and the hot one. */
    uint64_t next[2];    /* in units of 8 bytes: the first free place */
    uint64_t n_bytes[2]; /* placed */
};

struct placement_world {
    struct placement_map map;
    struct placement_classes classes;
    struct placement_policy policies[PLACEMENT_MAX];
    uint32_t n_policies;
    /* The object that a reference points to, at an address of the program's memory; 0: none. */
    uint64_t (*read_reference)(void *context, uint64_t at);
    uint64_t reference_bytes;
    void *context;   /* borrowed */
    uint32_t *queue; /* owned; of objects, as queue_room has room */
    uint32_t queue_room;
};

/* Zeroes what is placed: after placement_map_clear_all, too. */
void placement_policies_reset(struct placement_world *world);

/*
 * Place the objects from this number of the map on, which came just now, with so many bytes each, in the order of their
 * addresses.  Returns 0, or -1: no memory, and they stay where they are.
 */
int placement_place(struct placement_world *world, uint32_t first, const uint64_t *n_bytes);

#endif
