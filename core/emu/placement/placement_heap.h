/*
 * The emulated JVM's heap, for placement: which objects a collection has copied to the old generation, and which
 * objects sampled misses are in.
 *
 * Placed is what is in the old generation behind a collection and was not there before it: not what was allocated there
 * directly, nor humongous objects, nor what was there when the program began.  A full collection moves all: behind it
 * the whole old generation is placed anew, as it stands.
 *
 * Samples are kept as addresses until the next collection begins: until then no object moves.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_HEAP_H
#define CORE_EMU_PLACEMENT_PLACEMENT_HEAP_H

#include "core/emu/placement/placement_hindsight.h"
#include "core/emu/placement/placement_policy.h"
#include "core/emu/plugin/heap_walk.h"

#include <pthread.h>

#define PLACEMENT_SAMPLES_MAX (1u << 20)

struct placement_old {
    uint64_t bottom, top, end;
};

struct placement_heap {
    struct vm_tables tables;
    struct vm_classes classes;
    struct heap_walk walk;
    struct vm_table numbers; /* mapped: of classes, struct placement_number */
    struct placement_world world;
    struct placement_hindsight hindsight;
    struct placement_old *old; /* mapped: the old generation's parts as they were looked at last */
    uint32_t n_old;
    uint64_t itable, oop_maps, vtable, klass_bytes; /* offsets in an InstanceKlass, its size; VM_NONE: not known */
    uint64_t narrow_base, narrow_base_at, narrow_shift_at;
    uint32_t narrow_shift;
    bool has_narrow_oops;
    uint64_t n_full, n_collections, n_full_collections, n_objects, n_object_bytes;
    uint64_t *promoted; /* owned: the bytes of each */
    uint32_t promoted_room;
    pthread_mutex_t lock; /* for the samples */
    uint64_t *samples;    /* mapped: addresses */
    uint32_t n_samples;
};

/*
 * symbols: where HotSpot's tables are, SIM_N_SYMBOLS addresses; base: from where on no address is the program's.
 * Returns 0, or -1 with *why set: this heap cannot be looked into.
 */
int placement_heap_open(struct placement_heap *heap, const uint64_t *symbols, uint64_t base, const char **why);

/* A miss at an address of the heap was sampled: by any thread. */
void placement_heap_sample(struct placement_heap *heap, uint64_t address);

/* While the program stands: a collection begins, has ended; the program ends. */
void placement_heap_begin(struct placement_heap *heap);
void placement_heap_end(struct placement_heap *heap);
void placement_heap_finish(struct placement_heap *heap);

#endif
