/* Virtual threads of a stack sampler: where those without a carrier wait, and why; those that do the same together. */
#include "core/recorder/stack_sampler_state.h"

#include "core/base/xalloc.h"
#include "core/perf/perf_rings.h"

#define GROUPS_MAX 4096u /* of one look: what is behind them has no stack */
#define LOOKS      3     /* when a set of threads has grown meanwhile */

/* Threads of the same state and stack. */
struct virtual_group {
    enum trace_cause cause;
    uint64_t n;
    enum stack_end end;
    char lock_class[VM_CLASS_NAME_BYTES];
    uint32_t n_frames, *numbers;
    struct java_frame *frames;
};

struct stack_virtuals {
    struct vm_virtuals *reader;
    struct stack_sampler *sampler; /* whose they are */
    struct hash_set by_stack;      /* 1 + the number of a group */
    struct virtual_group *groups;  /* owned */
    uint32_t n, room;
    uint64_t by_cause[TRACE_CAUSES]; /* threads that have no group */
    struct arena arena;              /* of the groups of this look */
    uint64_t last_ns;
};

static void close_virtuals(struct stack_virtuals *virtuals)
{
    vm_virtuals_close(virtuals->reader);
    hash_free(&virtuals->by_stack);
    free(virtuals->groups);
    arena_free(&virtuals->arena);
    free(virtuals);
}

static void forget(struct stack_virtuals *virtuals)
{
    hash_clear(&virtuals->by_stack);
    arena_free(&virtuals->arena);
    memset(virtuals->by_cause, 0, sizeof virtuals->by_cause);
    virtuals->n = 0;
}

static uint64_t key_of(const struct vm_virtual *thread)
{
    const struct java_stack *stack = thread->stack;
    uint64_t key = hash_address((uint64_t)thread->state << 8 | stack->end);
    for (uint32_t i = 0; i < stack->n; i++) {
        const struct known_method *method = stack->frames[i].method;
        uint64_t frame = (method == NULL ? 0 : method->address) ^ (uint64_t)(uint32_t)stack->frames[i].index << 48;
        key = hash_address(key ^ hash_address(frame + stack->frames[i].kind));
    }
    return key;
}

static void find_cause(struct stack_virtuals *virtuals, const struct vm_virtual *thread, struct virtual_group *group)
{
    struct method_name frames[WAIT_FRAMES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->n_frames && n < WAIT_FRAMES; i++)
        if (group->numbers[i] != SAMPLED_UNKNOWN)
            frames[n++] = virtuals->sampler->methods[group->numbers[i]].names;
    group->cause = wait_cause_of_virtual(thread->state, frames, n);
    if (group->cause != TRACE_CAUSE_LOCK ||
        !vm_virtual_blocker(virtuals->reader, thread, group->lock_class, sizeof group->lock_class))
        group->lock_class[0] = '\0';
}

/* Its stack is the reader's: what of it is needed is kept. */
static void add_group(struct stack_virtuals *virtuals, const struct vm_virtual *thread)
{
    const struct java_stack *stack = thread->stack;
    struct virtual_group *group = xpush(virtuals->groups, virtuals->room, virtuals->n);
    *group = (struct virtual_group){ .end = stack->end, .n_frames = stack->n };
    group->frames = arena_alloc(&virtuals->arena, (stack->n + 1) * sizeof *group->frames);
    group->numbers = arena_alloc(&virtuals->arena, (stack->n + 1) * sizeof *group->numbers);
    memcpy(group->frames, stack->frames, stack->n * sizeof *group->frames);
    for (uint32_t i = 0; i < stack->n; i++)
        group->numbers[i] = stack_sampler_number(virtuals->sampler, stack->frames[i].method);
    find_cause(virtuals, thread, group);
}

static void take_thread(const struct vm_virtual *thread, void *context)
{
    struct stack_virtuals *virtuals = context;
    if (thread->stack == NULL) {
        virtuals->by_cause[wait_cause_of_virtual(thread->state, NULL, 0)] += thread->weight;
        return;
    }
    struct hash_slot *slot = xhash_put(&virtuals->by_stack, key_of(thread));
    if (slot->value == 0 && virtuals->n < GROUPS_MAX) {
        add_group(virtuals, thread);
        slot->value = virtuals->n;
    }
    if (slot->value != 0)
        virtuals->groups[slot->value - 1].n += thread->weight;
    else
        virtuals->by_cause[wait_cause_of_virtual(thread->state, NULL, 0)] += thread->weight;
}

/* ---- a look ---- */

static bool look(struct stack_virtuals *virtuals, uint64_t most, struct vm_virtual_counts *counts)
{
    bool any = false;
    for (int i = 0; i < LOOKS && (i == 0 || counts->is_torn); i++) {
        forget(virtuals);
        any = vm_virtuals_visit(virtuals->reader, most, take_thread, virtuals, counts);
    }
    for (size_t i = 0; i < VM_VIRTUAL_LOSSES; i++)
        virtuals->by_cause[TRACE_CAUSE_UNKNOWN] += counts->n_lost[i];
    return any;
}

static void count(const struct stack_virtuals *virtuals, const struct vm_virtual_counts *counts)
{
    struct stack_virtual_state *state = &virtuals->sampler->state.virtuals;
    state->n_visits++;
    state->n_whole += counts->is_whole && !counts->is_torn;
    for (size_t i = 0; i < VM_VIRTUAL_STATES; i++)
        state->n_found += counts->n_by_state[i];
    for (size_t i = 0; i < VM_VIRTUAL_LOSSES; i++) {
        state->n_found += counts->n_lost[i];
        state->n_lost += counts->n_lost[i];
        state->n_by_loss[i] += counts->n_lost[i];
    }
}

static int hand_out(struct stack_virtuals *virtuals, uint64_t now_ns, stack_virtual_fn *fn, void *context,
                    struct err *err)
{
    const struct stack_sampler *sampler = virtuals->sampler;
    struct stack_virtual threads = { .sample = { .time_ns = now_ns,
                                                 .weight = now_ns - virtuals->last_ns,
                                                 .thread_name = "",
                                                 .java_name = "",
                                                 .pc = KERNEL_UNKNOWN,
                                                 .is_waiting = true,
                                                 .known = sampler->methods,
                                                 .n_known = sampler->n_methods } };
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < virtuals->n; i++) {
        const struct virtual_group *group = &virtuals->groups[i];
        threads.cause = group->cause;
        threads.lock_class = group->lock_class;
        threads.n = group->n;
        threads.sample.end = group->end;
        threads.sample.n = group->n_frames;
        threads.sample.methods = group->numbers;
        threads.sample.frames = group->frames;
        rc = fn(&threads, context, err);
    }
    threads.sample.n = 0;
    threads.lock_class = "";
    for (enum trace_cause cause = 0; rc == 0 && cause < TRACE_CAUSES; cause++)
        if (virtuals->by_cause[cause] > 0) {
            threads.cause = cause;
            threads.n = virtuals->by_cause[cause];
            rc = fn(&threads, context, err);
        }
    return rc;
}

static struct stack_virtuals *open_virtuals(struct stack_sampler *sampler)
{
    struct stack_virtuals *virtuals = xcalloc(1, sizeof *virtuals);
    virtuals->sampler = sampler;
    virtuals->reader = vm_virtuals_open(sampler->vm, sampler->walker);
    virtuals->last_ns = kernel_now_ns();
    sampler->close_virtuals = close_virtuals;
    return virtuals;
}

int stack_sampler_visit_virtual(struct stack_sampler *sampler, uint64_t most, stack_virtual_fn *fn, void *context,
                                struct err *err)
{
    struct vm_virtual_counts counts;
    if (sampler->walker == NULL || sampler->waits == NULL)
        return 0;
    if (sampler->virtuals == NULL)
        sampler->virtuals = open_virtuals(sampler);
    struct stack_virtuals *virtuals = sampler->virtuals;
    stack_sampler_begin_round(sampler);
    uint64_t now_ns = kernel_now_ns();
    bool any = look(virtuals, most, &counts);
    sampler->state.virtuals.why_not = vm_virtuals_why_not(virtuals->reader);
    if (any)
        count(virtuals, &counts);
    int rc = any ? hand_out(virtuals, now_ns, fn, context, err) : 0;
    virtuals->last_ns = now_ns;
    return rc;
}
