/*
 * Objects of the emulated JVM whose creation was told: which one an address is in, where each is after a collection,
 * and which are dead.
 *
 * Of each there is a weak global reference, which the JVM's own collectors keep right, whatever they are: when a
 * collection is over they are read.  An object that a collection did not look at (it is old, the collection was of the
 * young ones) counts as there, as it does for the JVM.
 *
 * The caller's lock guards all of it.
 */
#ifndef CORE_EMU_TOOL_TOOL_OBJECTS_H
#define CORE_EMU_TOOL_TOOL_OBJECTS_H

#include "core/emu/tool/tool_calls.h"

struct tool_object {
    struct mmprof_object object;
    uint64_t reference;
    uint32_t next_free; /* plus 1 */
    bool is_there;
    /* For tools that want_callers: */
    struct tool_call *call;    /* that created it, to be released; NULL: not known */
    struct tool_call *lasting; /* the innermost call that was not over at its latest use */
    uint64_t last_pc;          /* where this one was then, if it may be in what it has inlined; 0 */
};

struct tool_objects {
    uint64_t heap, heap_end;
    uint32_t *map;               /* mapped: for each 8 bytes of heap the object's index plus 1 */
    struct tool_object *objects; /* mapped */
    uint32_t n, first_free;      /* plus 1 */
    uint64_t n_created;
    uint64_t *gone; /* mapped: references to be deleted */
    uint32_t n_gone;
};

struct tool_objects_listener {
    void (*moved)(struct mmprof_object *object, uint64_t from);
    void (*died)(struct mmprof_object *object, bool has_died);
};

/* Returns 0, or -1: no memory. */
int tool_objects_open(struct tool_objects *all, uint64_t heap, uint64_t heap_end);

/*
 * A new one, at the address that its reference points to, to be filled in but for address, bytes and number.  What was
 * there before is dead.  NULL: there is no room, and the reference is to be deleted.
 */
struct mmprof_object *tool_objects_add(struct tool_objects *all, uint64_t reference, uint64_t address, uint64_t bytes,
                                       const struct tool_objects_listener *listener);

/* The object that an address is in, or NULL. */
static inline struct mmprof_object *tool_objects_find(const struct tool_objects *all, uint64_t address)
{
    if (address < all->heap || address >= all->heap_end)
        return NULL;
    uint32_t index = all->map[(address - all->heap) >> 3];
    return index == 0 ? NULL : &all->objects[index - 1].object;
}

/* A collection is over: tell of what has moved and died. */
void tool_objects_collect(struct tool_objects *all, const struct tool_objects_listener *listener);

/* The program ends: tell of all that are there. */
void tool_objects_end(struct tool_objects *all, const struct tool_objects_listener *listener);

/* Up to n references of dead objects, that nobody uses any more; returns how many. */
uint32_t tool_objects_take_gone(struct tool_objects *all, uint64_t *references, uint32_t n);

#endif
