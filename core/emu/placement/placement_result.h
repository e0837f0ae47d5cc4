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
#include "core/emu/model/sim_machine.h"
#include "core/emu/placement/placement_policy.h"
#include "core/emu/plugin/vm_memory.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A thread's loads and stores, in a machine for the program as it is, and one for each policy's address space.  Each
 * machine counts its misses by the class of the object: of those that were placed; of others by where they are.
 *
 * Of data only: instructions are not fetched, so that L2 has data alone, the same in each machine.
 */

enum placement_event { PLACEMENT_L1D, PLACEMENT_L2, PLACEMENT_DTLB, PLACEMENT_EVENTS };

/* Owners besides classes, whose numbers begin behind them. */
enum placement_owner { PLACEMENT_IN_HEAP, PLACEMENT_ELSEWHERE, PLACEMENT_OWNERS };

#define PLACEMENT_OWNERS_MAX (PLACEMENT_CLASSES_MAX + PLACEMENT_OWNERS)
#define PLACEMENT_MACHINES   (PLACEMENT_MAX + 1) /* the first is of the program as it is */

/* Of one machine of all threads: by owner. */
struct placement_misses {
    _Atomic uint64_t counts[PLACEMENT_OWNERS_MAX][PLACEMENT_EVENTS];
};

/* What all threads share. */
struct placement_counts {
    struct placement_misses *misses; /* mapped: of each machine */
    _Atomic uint64_t n_accesses, n_placed;
    enum placement_event event; /* that is sampled */
    uint64_t period;            /* one in so many on average */
    /* Of a sampled miss in the heap, by any thread. */
    void (*sampled)(uint64_t address);
};

struct placement_thread {
    const struct placement_world *world; /* borrowed, as counts */
    struct placement_counts *counts;
    uint64_t n_accesses, n_placed; /* not yet in counts */
    uint64_t until_sample, random;
    struct sim_machine *machines[PLACEMENT_MACHINES]; /* in this mapping */
    uint64_t *events[PLACEMENT_MACHINES];             /* SIM_N_COUNTS of each, likewise */
    size_t n_bytes;                                   /* of this mapping */
};

void placement_counts_open(struct placement_counts *counts, uint32_t n_policies);
void placement_counts_close(struct placement_counts *counts, uint32_t n_policies);

/* number: another one for each thread, so that they do not sample in step. */
struct placement_thread *placement_thread_make(const struct placement_world *world, struct placement_counts *counts,
                                               const struct sim_model *model, uint64_t number);
/* Its counts go into those of all. */
void placement_thread_flush(struct placement_thread *thread);
void placement_thread_free(struct placement_thread *thread);

/* A load or store of n_bytes (1 or more).  One that crosses an object's end is in the object that it begins in. */
void placement_thread_access(struct placement_thread *thread, uint64_t address, uint32_t n_bytes, bool is_store);

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

/* Heat that an earlier run of the same program has sampled: by the names of classes and the offsets of fields. */

struct placement_hindsight {
    struct placement_heat_row *rows; /* owned; in the order of names */
    uint32_t n, room;
};

/* From a file (placement_result.h).  Returns 0, or -1: it cannot be read, or it is damaged. */
int placement_hindsight_read(struct placement_hindsight *hindsight, const char *path);
void placement_hindsight_free(struct placement_hindsight *hindsight);

/* Give a class, whose fields are known, the heat that its name had. */
void placement_hindsight_apply(const struct placement_hindsight *hindsight, struct placement_class *class);

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
