/*
 * Samples that the agent takes, of stacks by polling, at safepoints, or of objects that are allocated: the log that it
 * appends them to, a memory file for each of the two, and that the recorder reads meanwhile.
 *
 * An entry is a u32 (little-endian) with the length of what follows, then a byte, its kind, then numbers (LEB128; a
 * text is its length and its bytes):
 *
 *     0, a method: number, flags (enum poll_method_flag), class, name, descriptor, source file, bytecodes, number of
 *        lines, and of each the index of its first bytecode and its number
 *     1, what is known of a method by now: number, calls, tier of its code plus 1 (0: not known)
 *     2, a sample: thread, its id, moment, CPU time in ns, flags (1: cut), frames, and of each, the outermost first,
 *        its method and its bytecode's index plus 1 (0: not known)
 *     3, the state: struct poll_state in its order
 *     4, a class of sampled objects: number, name
 *     5, a sampled object: the thread's id, moment, class, its bytes, the interval, bytes of the object before, flags
 *        and frames as in 2
 *     6, what is known of allocations: struct poll_allocated in its order
 *     7, what became of a sampled object, or of the heap: struct poll_heap in its order
 *
 * A method, or class, comes before the first sample that has it.  Numbers of methods, classes and threads count from 0
 * and are this log's own.  What is in a log comes from another process: the decoder checks it.
 */
#ifndef CORE_WIRE_POLL_LOG_H
#define CORE_WIRE_POLL_LOG_H

#include "core/base/bytes.h"
#include "core/wire/code_log.h"
#include "core/wire/wire_text.h"

/* No entry is longer: names of 65535 bytes fit, or as much bytecode. */
#define POLL_ENTRY_BYTES ((size_t)512 * 1024)
#define POLL_FRAMES_MAX  512u
#define POLL_METHODS_MAX 65536u
#define POLL_THREADS_MAX 65536u
#define POLL_CLASSES_MAX 65536u
#define POLL_NAME_BYTES  103u                 /* of a thread's name */
#define POLL_LOG_BYTES   ((uint64_t)16 << 20) /* while so much has not been read yet, no samples are taken */

enum poll_method_flag {
    POLL_IS_NATIVE = 1,
    POLL_IS_FIXED = 2 /* its class cannot be changed */
};

struct poll_method {
    uint32_t number, flags;
    struct wire_text class_name, name, descriptor, source, code;
    const struct code_line *lines; /* borrowed, or the decoder's */
    uint32_t n_lines;
};

/* As core/hotspot/vm_methods.h has them. */
struct poll_counts {
    uint32_t number, calls, tier;
};

struct poll_frame {
    uint32_t method;
    int32_t index; /* of its bytecode; -1: not known */
};

/* One thread's stack at a moment when the thread had a CPU, or wanted one. */
struct poll_stack {
    uint32_t thread;
    int32_t tid;      /* as the JVM's PID namespace has it; 0: not known */
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t cpu_ns;  /* that the thread used since its sample before: the sample's weight */
    bool is_cut;      /* there are more frames outside of these */
    uint32_t n_frames;
    const struct poll_frame *frames; /* the outermost first; the caller's, or the decoder's */
    struct wire_text name; /* the thread's in Java, if it is another one than at its sample before; else empty */
};

/* So far. */
struct poll_state {
    uint64_t n_samples;
    uint64_t n_put_off;  /* times that no stacks were taken, for the log was not read */
    uint64_t cost_ns;    /* CPU time of the sampling thread, and of the threads that it stopped */
    uint64_t longest_ns; /* that one thread was stopped, at most */
};

struct poll_class {
    uint32_t number;
    struct wire_text name; /* "java/lang/String", "[B" */
};

/*
 * An object that the JVM sampled: it draws after how many bytes of a thread the next one is, with a mean of
 * interval_bytes.
 */
struct poll_allocation {
    int32_t tid;      /* as the JVM's PID namespace has it */
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
    uint32_t class_number;
    uint64_t size_bytes, interval_bytes;
    uint64_t before_bytes; /* the size of this thread's sampled object before; 0: there was none */
    bool is_cut;
    uint32_t n_frames;
    const struct poll_frame *frames; /* as those of a stack */
};

/* Since the sampling of allocations began. */
struct poll_allocated {
    uint64_t n_samples, n_lost; /* lost: there was no room */
    uint64_t ns;                /* how long it has lasted */
    uint64_t cost_ns, agent_ns; /* its CPU time in the threads that allocate, and in the agent's */
    uint64_t jvm_bytes;         /* allocated by all threads, by the JVM's own counters */
    bool is_counted;            /* these are known */
};

enum poll_heap_kind {
    POLL_HEAP_CHECKED, /* all tracked objects but those freed so far are there; one of 2^number samples is tracked */
    POLL_HEAP_FREED,   /* the object that was sampled as this number, from 0 on, has gone */
    POLL_HEAP_DROPPED, /* it is not tracked, or not any more */
    POLL_HEAP_BEFORE,  /* so many bytes are in use where a collection begins */
    POLL_HEAP_KINDS
};

struct poll_heap {
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
    enum poll_heap_kind kind;
    uint64_t number;
};

enum poll_kind {
    POLL_METHOD,
    POLL_COUNTS,
    POLL_STACK,
    POLL_STATE,
    POLL_CLASS,
    POLL_ALLOCATION,
    POLL_ALLOCATED,
    POLL_HEAP,
    POLL_N_KINDS
};

struct poll_entry {
    enum poll_kind kind;
    struct poll_method method; /* texts point into the entry */
    struct poll_counts counts;
    struct poll_stack stack;
    struct poll_state state;
    struct poll_class class_name;
    struct poll_allocation allocation;
    struct poll_allocated allocated;
    struct poll_heap heap;
    struct poll_frame frames[POLL_FRAMES_MAX];
    struct code_line lines[CODE_LINES_MAX];
};

/* Append an entry with its length in front.  s->full when it does not fit. */
void poll_log_put_method(struct sink *s, const struct poll_method *method);
void poll_log_put_counts(struct sink *s, const struct poll_counts *counts);
void poll_log_put_stack(struct sink *s, const struct poll_stack *stack);
void poll_log_put_state(struct sink *s, const struct poll_state *state);
void poll_log_put_class(struct sink *s, const struct poll_class *class_name);
void poll_log_put_allocation(struct sink *s, const struct poll_allocation *allocation);
void poll_log_put_allocated(struct sink *s, const struct poll_allocated *allocated);
void poll_log_put_heap(struct sink *s, const struct poll_heap *heap);

/*
 * Take the next whole entry from a log.  Returns 1 with *entry set (texts live as long as the cursor's bytes), 0 when
 * less than an entry is left (the cursor stays before it: more may come), or -1 when the log is damaged.
 */
int poll_log_get(struct cursor *c, struct poll_entry *entry);

#endif
