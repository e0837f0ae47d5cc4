/*
 * Single calls and the times off the CPU that may explain them, kept while the call tree is built.
 *
 * Of a method with many calls a part is kept, drawn at random: each with the same chance, so that what is true of the
 * slowest hundredth of them is true of the slowest hundredth of all.
 */
#ifndef REPORT_VIEW_SLOW_CALLS_H
#define REPORT_VIEW_SLOW_CALLS_H

#include "phases/select/statistics.h"
#include "phases/tree/calltree.h"

#define SLOW_CALLS_OF_METHOD (UINT32_C(1) << 14) /* kept at most */
#define SLOW_CALLS_OF_ALL    (UINT64_C(1) << 21)
#define SLOW_OFF_OF_ALL      (UINT64_C(1) << 22)

struct slow_call {
    struct statistics_call of;
    uint32_t draw; /* random: it stays as long as the lowest 'shift' bits are 0 */
};

struct slow_method {
    struct slow_call *calls; /* owned */
    uint32_t n, room, shift;
};

/* A time without a CPU. */
struct slow_off {
    uint64_t start_ticks, end_ticks;
    bool is_preempted; /* it could have run */
    uint32_t wait;     /* for the owner: what it waited for */
};

struct slow_thread {
    struct slow_off *off; /* in the order of time; owned */
    uint32_t n, room;
    bool is_preempted; /* the latest switch was so */
};

struct slow_calls {
    struct statistics *statistics; /* of the wall time of all calls; owned */
    struct slow_method *methods;   /* owned */
    uint32_t n_methods;
    struct slow_thread *threads; /* owned */
    uint32_t n_threads;
    uint64_t n_calls, n_off, n_off_lost; /* kept; times that were not, for lack of room */
    uint32_t most;                       /* calls of a method */
    uint64_t random;
};

struct slow_calls *slow_calls_open(void);
void slow_calls_close(struct slow_calls *calls); /* NULL is fine */

/* For calltree_options; lives as long as the calls. */
struct calltree_observer slow_calls_observer(struct slow_calls *calls);

/* The first time off the CPU of a thread that ends after a moment; NULL: there is none.  Others follow it. */
struct slow_off *slow_calls_off(const struct slow_calls *calls, uint32_t thread, uint64_t ticks, size_t *n);

#endif
