/*
 * The parts of reading virtual threads: which sets have them (vm_virtual_sets.c), a batch of them (vm_virtual_batch.c),
 * and what they are made of and how all are looked at (vm_virtual.c).
 */
#ifndef CORE_HOTSPOT_VM_VIRTUAL_INTERNAL_H
#define CORE_HOTSPOT_VM_VIRTUAL_INTERNAL_H

#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_heap.h"
#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm_virtual.h"

#define VIRTUAL_SETS_MAX 1024u

enum virtual_class { VIRTUAL_THREAD, VIRTUAL_CHUNK, VIRTUAL_ROOT, VIRTUAL_COUNTING, VIRTUAL_REGISTRY, VIRTUAL_CLASSES };

/* A ConcurrentHashMap: its array of bins. */
struct virtual_table {
    uint64_t data; /* of its first element; 0: it has none */
    uint32_t n_bins;
};

struct virtual_sets {
    struct vm *vm; /* borrowed */
    /* Until a virtual thread has been made, its class is not initialized: Thread's subclasses tell. */
    uint64_t java_thread, subclass, sibling, init_state, thread_class;
    int32_t initialized;
    bool may_have_none;
    /* Classes that the boot loader has defined: they come one before the other. */
    uint64_t loaders, next_loader, loader_classes, next_class, name, boot, newest;
    uint64_t classes[VIRTUAL_CLASSES]; /* 0: not loaded yet */
    uint32_t root_field, counting_field, registry_field;
    struct vm_object_field map, table, key, next, first, referent, counter, base, cells, cell;
    struct vm_object_field of_container[2];
    uint64_t sets[VIRTUAL_SETS_MAX]; /* addresses, now */
    uint32_t n;
};

void virtual_sets_open(struct virtual_sets *sets, struct vm *vm);

/* Which there are now.  Returns whether the JVM has the class of virtual threads, and it is known. */
bool virtual_sets_find(struct virtual_sets *sets);

/* How many the JVM has only counted (-Djdk.trackAllThreads=false). */
uint64_t virtual_sets_untracked(struct virtual_sets *sets);

/* How many threads all sets have, as they count them themselves; less than that may be known. */
uint64_t virtual_sets_count(struct virtual_sets *sets);

/* The table of a set; false: it cannot be read. */
bool virtual_sets_table(struct virtual_sets *sets, uint64_t set, struct virtual_table *table);

/* ---- a batch ---- */

#define BINS_AT_ONCE 256u
#define NODES_MAX    1024u /* of so many bins: what is behind them in their chains is left out */
#define OBJECT_BYTES 256u  /* of a thread; of a chunk in front of its frames */
#define STACK_MAX    32768u
#define STATES       32u

/* Where things are in objects of these classes, in bytes; 0: not known. */
struct virtual_layout {
    uint32_t cont, state, carrier, tail;    /* of a thread, of its continuation */
    uint32_t parent, size, sp, bottom, end; /* of a chunk; end: of its fields, where its frames begin */
    uint32_t key, next, hash;               /* of a node of a set */
    uint32_t object_bytes;
    uint8_t kinds[STATES]; /* of a thread's state: 1 + enum vm_virtual_state; 0: it has ended, or not begun */
};

/* A thread on its way through a batch. */
struct virtual_one {
    uint64_t object, cont, chunk, sp;
    uint32_t state_word;
    enum vm_virtual_state state;
    enum vm_virtual_loss loss;
    bool is_lost, is_left_out;
    size_t stack_at, n_stack;
    uint64_t bottom, parent;
};

struct vm_virtuals {
    struct vm *vm; /* borrowed, as the next one is */
    struct stack_walker *walker;
    struct virtual_sets sets;
    struct virtual_layout at;
    struct vm_collections collections;
    struct vm_object_field blocker;
    const char *why_not;
    bool is_known;
    struct virtual_one ones[NODES_MAX];
    uint32_t n;
    bool has_grown;
    uint64_t pass; /* its number: which bins are looked at differs */
    struct vm_piece pieces[2 * NODES_MAX];
    uint8_t bytes[NODES_MAX * OBJECT_BYTES];
    uint8_t *stacks; /* owned */
    size_t stacks_room;
    struct java_stack stack;
};

/* One of each step bins from the first-th on: their threads into 'ones', with the stacks of those without a carrier. */
void virtual_batch_read(struct vm_virtuals *v, const struct virtual_table *table, uint64_t first, uint64_t step);

/* Has it no carrier, and is it known so far? */
bool virtual_is_unmounted(const struct virtual_one *one);

void virtual_lose(struct virtual_one *one, enum vm_virtual_loss loss);

/* Why something is no virtual thread. */
enum vm_virtual_loss virtual_broken(const struct vm_virtuals *v);

/* From a chunk's first bytes.  Returns false: it is no chunk, or has no frames. */
bool virtual_take_chunk(struct vm_virtuals *v, struct virtual_one *one, const uint8_t *bytes);

/* The object that a field of another one, which was read, is a reference to. */
uint64_t virtual_reference(struct vm_virtuals *v, const uint8_t *object, uint32_t field);

#endif
