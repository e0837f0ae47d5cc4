/*
 * Stack samples: the log that the agent appends them to, in a memory file, and the recorder reads.
 *
 * An entry is a u32 (little-endian) with the length of what follows, then a byte, its kind, then numbers (LEB128; a
 * text is its length and its bytes):
 *
 *     0, a method: number, bytes of bytecode, flags (enum sample_method_flag), class, name, descriptor; flags of 0: its
 *        code has not been looked at, another entry of the number may follow
 *     1, a sample: thread, ns since the start, CPU time in ns, flags (1: cut), frames, same, and so many methods
 *     2, the end: struct sample_totals in its order
 *
 * A method is named before a sample has it, and once more when its code has been looked at.  Numbers of methods and
 * threads count from 0 and are this log's own.
 *
 * What is in a log comes from another process: the decoder checks it.
 */
#ifndef CORE_WIRE_SAMPLES_H
#define CORE_WIRE_SAMPLES_H

#include "core/wire/wire_text.h"

/* No entry is longer: names of 65535 bytes fit. */
#define SAMPLES_ENTRY_BYTES ((size_t)256 * 1024)
#define SAMPLES_MAX_FRAMES  512u
#define SAMPLES_MAX_METHODS 65536u
#define SAMPLES_MAX_THREADS 4096u
#define SAMPLES_LOG_BYTES   ((size_t)16 << 20) /* an agent stops before its log is longer */

enum sample_method_flag {
    SAMPLE_HAS_LOOP = 1,  /* a backward branch */
    SAMPLE_HAS_CALLS = 2, /* its bytecode calls something */
    SAMPLE_IS_WANTED = 4, /* the session's configuration lets it have probes, and the JVM its class be changed */
    SAMPLE_IS_NATIVE = 8
};

struct sample_method {
    uint32_t number, code_bytes, flags;
    struct wire_text class_name, name, descriptor;
};

/*
 * One thread's stack at a moment when the thread had a CPU.
 *
 * same   the outermost frames that may be the same calls as in this thread's sample before: all of them and their
 *        call sites are as they were.  The frames within are certainly other calls.
 */
struct sample_stack {
    uint32_t thread;
    uint64_t at_ns;  /* since the sampling began */
    uint64_t cpu_ns; /* that the thread used since its sample before: the sample's weight */
    bool is_cut;     /* there are more frames outside of these */
    uint32_t n_frames, n_same;
    const uint32_t *methods; /* outermost first; the caller's buffer or the decoder's */
};

struct sample_totals {
    uint64_t n_rounds;      /* moments at which threads were looked at */
    uint64_t n_samples;     /* stacks taken of threads that had a CPU */
    uint64_t n_late;        /* rounds that were put off because the one before took long */
    uint64_t longest_ns;    /* the longest that one thread may have been held for its stack */
    uint64_t cost_ns;       /* CPU time of the sampling thread, and of the threads it held, meanwhile */
    uint64_t total_ns;      /* from the first to the last moment */
    uint64_t cpu_ns;        /* that all threads looked at used in this time */
    uint64_t unseen_cpu_ns; /* of it: since the last samples of threads that were off the CPU, or too many */
    uint64_t n_no_frames;   /* samples without a Java frame */
    uint64_t is_cut_short;  /* 1: the log was full, or the session ended */
};

enum sample_kind { SAMPLE_METHOD, SAMPLE_STACK, SAMPLE_END };

struct sample_entry {
    enum sample_kind kind;
    struct sample_method method; /* texts point into the entry */
    struct sample_stack stack;   /* methods point to 'frames' */
    struct sample_totals totals;
    uint32_t frames[SAMPLES_MAX_FRAMES];
};

/* Append an entry with its length in front.  s->full when it does not fit. */
void samples_put_method(struct sink *s, const struct sample_method *method);
void samples_put_stack(struct sink *s, const struct sample_stack *stack);
void samples_put_totals(struct sink *s, const struct sample_totals *totals);

/*
 * Take the next whole entry from a log.  Returns 1 with *entry set (texts live as long as the cursor's bytes), 0 when
 * less than an entry is left (the cursor stays before it: more may come), or -1 when the log is damaged.
 */
int samples_get(struct cursor *c, struct sample_entry *entry);

#endif
