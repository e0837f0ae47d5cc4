/*
 * Shared by the files that build the call tree: the node store and the clock of a thread.
 */
#ifndef PHASES_CALLTREE_INTERNAL_H
#define PHASES_CALLTREE_INTERNAL_H

#include "phases/calltree.h"

/* ---- nodes ---- */

struct node_store {
    struct calltree_node *nodes; /* mapped, page aligned: a node is a cache line */
    uint32_t n_nodes, n_mapped;
    uint32_t max_nodes; /* beyond it only roots and folded nodes are made */
    uint32_t *slots;    /* (parent, method) -> node, open addressing; 0: free */
    uint32_t n_slots;   /* a power of two */
    size_t n_metrics;   /* per node; 0: none yet */
    uint64_t *metrics;  /* n_mapped * n_metrics */
    uint32_t n_methods; /* highest id seen, plus 1 */
};

int node_store_open(struct node_store *store, uint32_t max_nodes, struct err *err);
void node_store_close(struct node_store *store);

/* A node without siblings.  CALLTREE_NONE and *err set: no memory. */
uint32_t node_store_root(struct node_store *store, struct err *err);

/*
 * The child of a node by method, made if need be.  *node is CALLTREE_NONE when the store is full and has no such child.
 * Returns 0, or -1 with *err set.
 */
int node_store_child(struct node_store *store, uint32_t parent, uint32_t method, uint32_t *node, struct err *err);

/* The child that takes what found no room; made beyond the limit. */
int node_store_folded_child(struct node_store *store, uint32_t parent, uint32_t *node, struct err *err);

/* From now on there are metrics.  Returns 0, or -1 with *err set. */
int node_store_metrics(struct node_store *store, size_t n_metrics, struct err *err);

/* ---- a thread's clock ---- */

enum clock_state { CLOCK_UNSEEN, CLOCK_OFF, CLOCK_ON, CLOCK_ENDED };

struct clock_event {
    uint64_t ticks;
    enum trace_kind kind;
};

/* Joins the kernel's events with the records of one thread. */
struct thread_clock {
    uint64_t now;       /* accounted up to here */
    uint64_t cpu, wall; /* since the record before: not a node's yet */
    enum clock_state state;
    struct clock_event *pending; /* kernel events ahead of the records: a ring of n_room; owned */
    uint32_t first, n_pending, n_room;
    uint64_t round; /* of the pending events */
};

static inline void clock_advance(struct thread_clock *clock, uint64_t ticks)
{
    if (ticks <= clock->now)
        return;
    uint64_t passed = ticks - clock->now;
    clock->now = ticks;
    if (clock->state == CLOCK_ENDED)
        return;
    clock->wall += passed;
    if (clock->state == CLOCK_ON)
        clock->cpu += passed;
}

/* Queue a kernel event; they come sorted.  Returns 0, or -1 with *err set: no memory. */
int clock_push(struct thread_clock *clock, const struct clock_event *event, struct err *err);

/* Take the first pending event if it is not later than ticks, and account the time up to it. */
bool clock_apply(struct thread_clock *clock, uint64_t ticks, struct clock_event *event);

/* The thread writes a record at ticks: it is on the CPU, whatever was said before. */
void clock_record(struct thread_clock *clock, uint64_t ticks);

/* Fill in the inclusive values.  Returns 0, or -1 with *err set. */
int calltree_sum_up(struct calltree *tree, struct err *err);

#endif
