/* Threads that wait, of a stack sampler: where, why, and who has what they wait for. */
#include "core/recorder/stack_sampler_state.h"

#include "core/base/xalloc.h"

#include <sys/syscall.h>

/* The walked stack of a thread, for as long as it waits, and what it waits for. */
struct kept_stack {
    uint64_t pc;
    enum stack_end end;
    bool is_in_java;
    enum trace_cause cause;
    struct vm_lock lock;
    int32_t owner_tid; /* who has it now; 0: not known */
    uint32_t n, *numbers;
    struct java_frame frames[];
};

static struct kept_stack *keep(struct stack_sampler *sampler, uint64_t pc, void **kept)
{
    const struct java_stack *stack = &sampler->stack;
    size_t frames_bytes = stack->n * sizeof stack->frames[0], numbers_bytes = stack->n * sizeof sampler->numbers[0];
    struct kept_stack *one = xrealloc(*kept, sizeof *one + frames_bytes + numbers_bytes);
    *kept = one;
    *one = (struct kept_stack){ .pc = pc,
                                .end = stack->end,
                                .is_in_java = stack->is_in_java,
                                .n = stack->n,
                                .numbers = (uint32_t *)(one->frames + stack->n) };
    memcpy(one->frames, stack->frames, frames_bytes);
    memcpy(one->numbers, sampler->numbers, numbers_bytes);
    return one;
}

/* Why a thread waits whose stack has just been walked. */
static void find_cause(struct stack_sampler *sampler, const struct thread_wait *wait, struct kept_stack *stack)
{
    struct method_name frames[WAIT_FRAMES];
    struct wait_evidence seen = { .call = wait->call, .descriptor = wait->descriptor, .frames = frames };
    for (uint32_t i = 0; i < stack->n && seen.n < WAIT_FRAMES; i++)
        if (stack->numbers[i] != SAMPLED_UNKNOWN)
            frames[seen.n++] = sampler->methods[stack->numbers[i]].names;
    bool may_enter = wait->call == SYS_futex;
    seen.is_entering = may_enter && vm_monitors_entering(&sampler->monitors, wait->tid, &stack->lock);
    stack->cause = wait_cause_find(&seen);
    if (stack->cause == TRACE_CAUSE_JVM && vm_monitors_blocked(&sampler->monitors, wait->tid))
        stack->cause = TRACE_CAUSE_MONITOR;
    if (stack->cause == TRACE_CAUSE_WAIT)
        vm_monitors_waiting(&sampler->monitors, wait->tid, &stack->lock);
    else if (stack->cause == TRACE_CAUSE_LOCK)
        vm_monitors_parked(&sampler->monitors, wait->tid, &stack->lock);
}

static struct stack_sample sample_of(struct stack_sampler *sampler, const struct visited *at)
{
    const struct kept_stack *stack = at->stack;
    const char *name = thread_names_get(&sampler->names, sampler->pid, at->tid);
    struct stack_sample sample = { .time_ns = at->time_ns,
                                   .weight = at->weight_ns,
                                   .tid = at->tid,
                                   .thread_name = name,
                                   .java_name = java_thread_names_get(&sampler->java_names, &sampler->monitors.threads,
                                                                      at->tid, name, true, !at->is_same),
                                   .known = sampler->methods,
                                   .n_known = sampler->n_methods };
    if (stack == NULL)
        return sample;
    sample.pc = stack->pc;
    sample.is_waiting = true;
    sample.in_native = !stack->is_in_java;
    sample.end = stack->end;
    sample.n = stack->n;
    sample.methods = stack->numbers;
    sample.frames = stack->frames;
    return sample;
}

/* A thread that runs no Java code: one whose name says so, or that the JVM has no Java thread for. */
static bool is_left_out(struct stack_sampler *sampler, const struct thread_wait *wait)
{
    const struct vm_monitors *monitors = &sampler->monitors;
    if (!sampler->options.only_java)
        return false;
    return stack_sampler_has_no_java(thread_names_get(&sampler->names, sampler->pid, wait->tid)) ||
           (wait->is_same && monitors->is_known && vm_threads_by_tid(&monitors->threads, wait->tid) == NULL);
}

/*
 * Of native frames with a frame pointer it is not known, as the system does not tell the register: up to JDK 12 those
 * which read a socket.  The JVM knows the last Java frame.
 */
static void walk_from_anchor(struct stack_sampler *sampler, struct thread_wait wait)
{
    const struct vm_thread *thread = vm_threads_by_tid(&sampler->monitors.threads, wait.tid);
    if (thread == NULL || !sampler->has_anchors || sampler->walker == NULL)
        return;
    struct stack_anchor anchor = stack_anchor_read(sampler->walker, &sampler->anchors, thread->address);
    if (anchor.sp <= wait.state.sp || anchor.sp >= anchor.base ||
        !wait_sampler_read_from(sampler->waits, &wait, anchor.sp - STACK_ANCHOR_BYTES))
        return;
    stack_walk_anchor(sampler->walker, &wait.state, anchor, &sampler->stack);
    stack_sampler_walked(sampler, wait.tid, &wait.state);
}

static int take_wait(const struct thread_wait *wait, void *context)
{
    struct stack_sampler *sampler = context;
    struct kept_stack *stack = wait->is_waiting ? *wait->kept : NULL;
    if (is_left_out(sampler, wait))
        return 1;
    if (wait->is_waiting && !wait->is_same) {
        struct thread_wait whole = *wait;
        stack_sampler_walk(sampler, wait->tid, &wait->state);
        if (sampler->stack.end == STACK_CUT && wait_sampler_read_rest(sampler->waits, &whole))
            stack_sampler_walk(sampler, wait->tid, &whole.state);
        if (sampler->stack.end == STACK_NO_JAVA)
            walk_from_anchor(sampler, *wait);
        stack = keep(sampler, wait->state.pc, wait->kept);
        find_cause(sampler, wait, stack);
    }
    if (stack != NULL && (stack->cause == TRACE_CAUSE_MONITOR || stack->cause == TRACE_CAUSE_LOCK))
        stack->owner_tid = vm_monitors_owner(&sampler->monitors, wait->tid, &stack->lock);
    *xpush(sampler->visited, sampler->visited_room, sampler->n_visited) =
        (struct visited){ .tid = wait->tid,
                          .time_ns = wait->time_ns,
                          .weight_ns = wait->weight_ns,
                          .ready_ns = wait->ready_ns,
                          .is_same = wait->is_same,
                          .stack = stack };
    return 0;
}

/* Where the owner of a lock waits. */
static const struct visited *find_visited(const struct stack_sampler *sampler, int32_t tid)
{
    for (uint32_t i = 0; tid != 0 && i < sampler->n_visited; i++)
        if (sampler->visited[i].tid == tid && sampler->visited[i].stack != NULL)
            return &sampler->visited[i];
    return NULL;
}

static int hand_out(struct stack_sampler *sampler, const struct visited *at, stack_wait_fn *fn, void *context)
{
    const struct kept_stack *stack = at->stack;
    const struct visited *owner = stack == NULL ? NULL : find_visited(sampler, stack->owner_tid);
    struct stack_sample its = { .n = 0 };
    struct stack_wait wait = { .sample = sample_of(sampler, at),
                               .cause = stack == NULL ? TRACE_CAUSE_ON_CPU : stack->cause,
                               .ready_ns = at->ready_ns,
                               .is_same = at->is_same,
                               .lock_class = stack == NULL ? "" : stack->lock.class_name,
                               .owner_tid = stack == NULL ? 0 : stack->owner_tid };
    if (owner != NULL) {
        its = sample_of(sampler, owner);
        wait.owner = &its;
    }
    if (stack != NULL) {
        sampler->state.n_samples++;
        sampler->state.n_waiting++;
        sampler->state.n_by_end[stack->end]++;
    }
    return fn(&wait, context, sampler->err);
}

/* The kernel's rings tell of threads too late for those that live shortly. */
static void meet_threads(struct stack_sampler *sampler)
{
    const struct vm_threads *threads = &sampler->monitors.threads;
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->all[i].tid != 0)
            wait_sampler_meet(sampler->waits, threads->all[i].tid);
}

/* The owner of a lock may be visited behind those that wait for it: all are handed out at the end. */
int stack_sampler_visit(struct stack_sampler *sampler, stack_wait_fn *fn, void *context, struct err *err)
{
    sampler->err = err;
    sampler->has_round = false;
    sampler->n_visited = 0;
    if (sampler->waits == NULL)
        return 0;
    vm_monitors_round(&sampler->monitors);
    meet_threads(sampler);
    int rc = wait_sampler_visit(sampler->waits, take_wait, sampler);
    for (uint32_t i = 0; rc == 0 && i < sampler->n_visited; i++)
        rc = hand_out(sampler, &sampler->visited[i], fn, context);
    return rc;
}
