/*
 * Threads that wait, from outside: at each visit, which of a process' threads have no CPU and want none, and where.
 *
 * /proc tells how often a thread has got a CPU (schedstat), and where in user space a thread that waits called the
 * kernel (syscall).  Its stack stands still then, and is copied from its memory; if it has got a CPU meanwhile, the
 * copy is not used.  One that has got none since the visit before waits in the same place, and is not looked at again.
 *
 * Nothing happens in the thread, nor when it is switched to or from: what this costs is mmprof's own time, bounded by
 * the number of visits and threads, however often these are switched.  Waits that began before the sampling are seen,
 * too.  Samples that the kernel takes at switches would be neither: each copies a stack in the thread, which took two
 * threads that wake each other twice as much as these samples (mmprof-figures(7)); and of a thread that waits all the
 * time there is none.
 */
#ifndef CORE_RECORDER_WAIT_SAMPLER_H
#define CORE_RECORDER_WAIT_SAMPLER_H

#include "core/base/err.h"
#include "core/base/method_name.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_virtual.h"
#include "core/trace/trace.h"

struct vm;
struct wait_sampler;

/*
 * Why a thread waits, from what is seen of it from outside: the system call that it is in, what the JVM says of the
 * monitor that it wants, and the innermost methods of its stack.
 */

#define WAIT_NO_CALL (-1L) /* it is in no system call: a page of memory is missing */

/* What the descriptor of a system call is. */
enum wait_descriptor { WAIT_NO_DESCRIPTOR, WAIT_SOCKET, WAIT_FILE };

struct wait_evidence {
    long call; /* number of the system call, or WAIT_NO_CALL */
    enum wait_descriptor descriptor;
    bool is_entering;                 /* a monitor, as the JVM says */
    const struct method_name *frames; /* of its Java methods the innermost ones, that first; borrowed */
    uint32_t n;                       /* more than WAIT_FRAMES tell nothing */
};

#define WAIT_FRAMES 20u

enum trace_cause wait_cause_find(const struct wait_evidence *evidence);

/* The same of a virtual thread without a carrier, by its innermost methods, as above. */
enum trace_cause wait_cause_of_virtual(enum vm_virtual_state state, const struct method_name *frames, uint32_t n);

/* Does a system call name a descriptor by its first argument, so that it matters what that is? */
bool wait_cause_has_descriptor(long call);

/* A thread at a visit; all of it is the sampler's, until the function that gets it returns. */
struct thread_wait {
    int32_t tid;
    uint64_t time_ns;   /* of the visit, of all threads the same: CLOCK_MONOTONIC_RAW */
    uint64_t weight_ns; /* since its visit before, or its start: a wait that is as likely to be met as it is long */
    uint64_t ready_ns;  /* of that it could run, but had no CPU: exact */
    bool is_waiting;    /* or it runs, or is about to: nothing that follows is known */
    bool is_same;       /* it has waited since its visit before: 'state' and what follows is not read again */
    struct thread_state state; /* the frame pointer is not known: 0 */
    long call;                 /* the system call that it is in, or WAIT_NO_CALL */
    enum wait_descriptor descriptor;
    void **kept; /* of the thread, for what is made of its state; the sampler frees it; NULL at first */
};

/* Returns 0; 1: leave this thread out from now on; or -1 to stop. */
typedef int thread_wait_fn(const struct thread_wait *wait, void *context);

/*
 * The threads of a JVM: those that are there.
 *
 * stack_bytes  to copy of each stack
 *
 * Returns 0, or -1 with *err set: the kernel does not tell, or not this user.
 */
int wait_sampler_open(struct wait_sampler **waits, struct vm *vm, uint32_t stack_bytes, struct err *err);

/*
 * There is another thread, which has begun since the visit before: its first visit stands for the time since then, as
 * the next ones will, so that threads that live shortly have on the average the time that they were there.
 * wait_sampler_meet is for one that may be known, and left out.
 */
void wait_sampler_add(struct wait_sampler *waits, int32_t tid);
void wait_sampler_meet(struct wait_sampler *waits, int32_t tid);

/*
 * See what each thread does.  Of more than 256, each visit sees 256, in turn: their weights are so much larger.
 *
 * Returns 0, or -1: fn said so.
 */
int wait_sampler_visit(struct wait_sampler *waits, thread_wait_fn *fn, void *context);

/* The beginning of the stack has been copied: the rest, in fn.  Returns whether there is more of it now. */
bool wait_sampler_read_rest(struct wait_sampler *waits, struct thread_wait *wait);

/* Copy the stack from another address on, in fn.  Returns whether it still waits there. */
bool wait_sampler_read_from(struct wait_sampler *waits, struct thread_wait *wait, uint64_t sp);

struct wait_sampler_state {
    uint64_t n_visits;
    uint64_t n_visited, n_same, n_moved; /* threads; moved: they ran while their stack was copied */
    uint64_t ready_ns;                   /* that threads could have run, and had no CPU */
};

void wait_sampler_state(const struct wait_sampler *waits, struct wait_sampler_state *state);
void wait_sampler_close(struct wait_sampler *waits); /* NULL is fine */

#endif
