/*
 * Virtual threads of a JVM that is read from outside while it runs (JDK 21 and later), and the frames of those that
 * have no carrier, which lie in the heap.
 *
 * They are found as jcmd Thread.dump_to_file finds them: in the set of all that were started by Thread's own methods,
 * and in those of executors (jdk.internal.vm.ThreadContainers).  Nothing is stopped.  Objects may move and threads go
 * on meanwhile: what is read is read again, and counts if it is the same and if no collection came between.
 */
#ifndef CORE_HOTSPOT_VM_VIRTUAL_H
#define CORE_HOTSPOT_VM_VIRTUAL_H

#include "core/base/std.h"

struct java_stack;
struct stack_walker;
struct vm;
struct vm_virtuals;

enum vm_virtual_state {
    VM_VIRTUAL_MOUNTED, /* on a carrier, whose stack has its frames */
    VM_VIRTUAL_READY,   /* it could run, and has no carrier */
    VM_VIRTUAL_PARKED,
    VM_VIRTUAL_BLOCKED, /* it wants to enter a monitor: JDK 24 and later */
    VM_VIRTUAL_WAITING, /* in Object.wait, likewise */
    VM_VIRTUAL_STATES
};

/* Why one is not known. */
enum vm_virtual_loss {
    VM_VIRTUAL_MOVED,   /* a collector worked each time */
    VM_VIRTUAL_CHANGED, /* it went on meanwhile */
    VM_VIRTUAL_BROKEN,  /* what is there is no virtual thread, or no stack */
    VM_VIRTUAL_LOSSES
};

const char *vm_virtual_loss_name(enum vm_virtual_loss loss);

/* Of one pass over them: how many there are, found or estimated (so many as 'weight' says stand for each). */
struct vm_virtual_counts {
    uint64_t n_by_state[VM_VIRTUAL_STATES], n_lost[VM_VIRTUAL_LOSSES];
    uint64_t n_seen;       /* that were looked at */
    bool is_whole;         /* all were */
    bool is_torn;          /* a set got another table meanwhile: some may be missing, or there twice */
    uint64_t n_collectors; /* times that something was read again */
};

/* One of them; all of it is the reader's, until the function that gets it returns. */
struct vm_virtual {
    enum vm_virtual_state state;
    uint64_t weight;                /* this many threads */
    uint64_t object;                /* where it was */
    const struct java_stack *stack; /* of PARKED, BLOCKED and WAITING; else NULL */
};

typedef void vm_virtual_fn(const struct vm_virtual *thread, void *context);

/* walker: of the same JVM; both are borrowed. */
struct vm_virtuals *vm_virtuals_open(struct vm *vm, struct stack_walker *walker);
void vm_virtuals_close(struct vm_virtuals *virtuals); /* NULL is fine */

/*
 * Look at all of them, or if they are more than 'most', at about so many, drawn by chance.  After stack_walker_round.
 *
 * Returns whether there are any; if not, why_not tells why they are not known, NULL: there are none.
 */
bool vm_virtuals_visit(struct vm_virtuals *virtuals, uint64_t most, vm_virtual_fn *fn, void *context,
                       struct vm_virtual_counts *counts);
const char *vm_virtuals_why_not(const struct vm_virtuals *virtuals);

/* The class of what one of them is parked for, as LockSupport.park was told: "java/util/..."; false: not known. */
bool vm_virtual_blocker(struct vm_virtuals *virtuals, const struct vm_virtual *thread, char *class_name, size_t n);

#endif
