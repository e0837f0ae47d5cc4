/*
 * Which object an address of the emulated JVM's heap is in: the heap's spaces are walked from object to object, as the
 * JVM's own collectors do, over memory that is there and does not move meanwhile (the caller sees to that).
 *
 * A part of a space that a thread allocates in is left out behind what the thread has allocated.  Of each 32 KB of heap
 * the first object is remembered until objects move, so that the next walk begins near an address.  Serial, Parallel
 * and G1.
 */
#ifndef CORE_EMU_PLUGIN_HEAP_WALK_H
#define CORE_EMU_PLUGIN_HEAP_WALK_H

#include "core/emu/plugin/vm_classes.h"

enum heap_space { HEAP_NO_SPACE, HEAP_EDEN, HEAP_SURVIVOR, HEAP_OLD, HEAP_HUMONGOUS, HEAP_SPACES };

enum heap_answer {
    HEAP_OBJECT,
    HEAP_NOT_HEAP,
    HEAP_UNUSED, /* nothing is allocated there now */
    HEAP_BROKEN, /* what is there cannot be read as objects */
};

struct heap_object {
    uint64_t start;
    const struct vm_class *class; /* until the next call of vm_classes_forget */
    enum heap_space space;        /* of all answers but NOT_HEAP; NO_SPACE: a free part of the heap */
};

struct heap_part {
    uint64_t bottom, top, end;
    enum heap_space space;
};

struct heap_walk {
    const struct vm_tables *tables; /* borrowed, as classes */
    struct vm_classes *classes;
    uint64_t base, end;                /* of what is reserved for it */
    uint16_t *firsts;                  /* mapped: of each 32 KB the first object's offset / 8 plus 1 */
    struct heap_part *parts, *buffers; /* mapped, sorted: spaces or regions; threads' buffers (top: allocated) */
    uint32_t n_parts, n_buffers;
    /* Where the walk is. */
    uint64_t at, stretch, stretch_end;
    uint64_t broken; /* from here on the stretch cannot be read */
    bool in_buffer;
};

/* Returns 0, or -1: no memory, or no heap yet. */
int heap_walk_open(struct heap_walk *heap, const struct vm_tables *tables, struct vm_classes *classes);

/* How the heap is divided now. */
void heap_walk_look(struct heap_walk *heap);

/* Objects have moved. */
void heap_walk_forget(struct heap_walk *heap);

/*
 * Where the JVM counts, in 4 bytes that stay there, the collections that move all objects within their spaces.  A young
 * one only copies objects to where nothing was: what was there before, walked as it was looked at before, stays
 * readable until it ends.  0: not known.
 */
uint64_t heap_walk_full_count(const struct heap_walk *heap);

/* In which space an address of the heap was when heap_walk_look was called last. */
enum heap_space heap_walk_space(const struct heap_walk *heap, uint64_t address);

/* How many bytes of each space were in use then. */
void heap_walk_used(const struct heap_walk *heap, uint64_t used[HEAP_SPACES]);

/* The object at an address, after heap_walk_look; fast for addresses that ascend. */
enum heap_answer heap_walk_find(struct heap_walk *heap, uint64_t address, struct heap_object *object);

#endif
