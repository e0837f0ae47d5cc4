/* A stack sampler, shared by stack_sampler.c, stack_waits.c and stack_virtuals.c; nobody else includes it. */
#ifndef CORE_RECORDER_STACK_SAMPLER_STATE_H
#define CORE_RECORDER_STACK_SAMPLER_STATE_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/hotspot/vm_objects.h"
#include "core/recorder/thread_names.h"
#include "core/recorder/sample_periods.h"
#include "core/recorder/stack_sampler.h"

struct kept_stack;
struct stack_virtuals;

/* A thread at this visit. */
struct visited {
    int32_t tid;
    uint64_t time_ns, weight_ns, ready_ns;
    bool is_same;
    const struct kept_stack *stack; /* the wait sampler's; NULL: it does not wait */
};

struct stack_sampler {
    pid_t pid;                   /* the JVM; while it is starting, the command */
    pid_t chosen;                /* by stack_sampler_choose */
    struct vm *vm;               /* NULL: it is starting */
    struct stack_walker *walker; /* NULL: likewise */
    uint64_t always_there;       /* an address in it that can be read until it ends */
    struct perf_rings *rings;
    uint64_t cpu_ns;            /* of the process, as it was read last */
    bool is_paused, has_turned; /* with_children: to CPUs, if it could */
    struct stack_sampler_state state;
    struct arena arena;
    struct thread_names names;
    struct java_thread_names java_names;
    struct stack_sampler_options options;
    struct sample_periods periods;
    struct wait_sampler *waits;      /* NULL: none, or not yet */
    struct stack_virtuals *virtuals; /* owned; NULL: they have not been looked at yet */
    void (*close_virtuals)(struct stack_virtuals *virtuals);
    struct vm_monitors monitors;
    struct stack_anchors anchors;
    bool has_anchors;
    struct visited *visited; /* owned */
    uint32_t n_visited, visited_room;
    uint64_t counters[KERNEL_VALUES_MAX];
    struct sampled_method *methods; /* owned */
    uint32_t n_methods, methods_room;
    struct hash_set loaders; /* of a class name: how many there are; of it and a loader: which one that is */
    /* where a drain hands out */
    stack_sample_fn *fn;
    void *context;
    struct err *err;
    struct last_stacks last;
    struct java_stack stack;
    uint32_t numbers[STACK_FRAMES_MAX];
    struct frame_traits traits[STACK_FRAMES_MAX];
    bool has_round; /* for what is handed out now */
    struct vm_collections collections;
    /* When the last drain and this one began, and in its round: its samples came between the first and the last. */
    uint64_t n_collections[3];
    struct vm_method described;
    uint8_t bytecodes[BYTECODES_MAX];
};

/* The stack of a thread (NULL: not to be walked) into sampler->stack, its methods into sampler->numbers. */
void stack_sampler_walk(struct stack_sampler *sampler, int32_t tid, const struct thread_state *thread);

/* What is known of code and methods is compared again, once in a round. */
void stack_sampler_begin_round(struct stack_sampler *sampler);

/* The sampler's number of a method; SAMPLED_UNKNOWN: there is none. */
uint32_t stack_sampler_number(struct stack_sampler *sampler, struct known_method *method);

/* sampler->stack is new: its methods into sampler->numbers; what was cut off is what it was before. */
void stack_sampler_walked(struct stack_sampler *sampler, int32_t tid, const struct thread_state *thread);

/*
 * JIT compilers and collectors run no Java code: their stacks, deep ones of native code and each of them another one,
 * need not be walked.  (Compilers that are written in Java are "JVMCI ...".)
 */
bool stack_sampler_has_no_java(const char *thread_name);

#endif
