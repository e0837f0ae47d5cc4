/*
 * What stack_check_agent.c, in a JVM, tells stack_check.c: a file that both map.  A slot has a thread's state at one
 * moment and what AsyncGetCallTrace said of it.
 */
#ifndef TEST_TOOLS_STACK_CHECK_H
#define TEST_TOOLS_STACK_CHECK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK_SLOTS       256u
#define CHECK_FRAMES      2048u
#define CHECK_STACK_BYTES ((size_t)64 << 10)

enum { SLOT_FREE, SLOT_TAKEN, SLOT_FILLED };

struct check_frame {
    uint64_t method; /* a Method's address; 0: AsyncGetCallTrace had no jmethodID for it */
    int32_t index;   /* of the bytecode; -3: a native method */
    uint32_t name;   /* check_name of it, where method is 0 because jmethodIDs say nothing (JDK 26); else 0 */
};

/* FNV-1a of a text, begun with CHECK_NAME or what it gave before. */
#define CHECK_NAME 2166136261u

static inline uint32_t check_name(uint32_t hash, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash | (uint32_t)(hash == 0);
}

struct check_slot {
    _Atomic uint32_t state;
    int32_t n_frames; /* <= 0: why there are none, as AsyncGetCallTrace has it */
    uint64_t pc, sp, fp, link;
    uint64_t n_stack_bytes;
    struct check_frame frames[CHECK_FRAMES]; /* the innermost first */
    uint8_t stack[CHECK_STACK_BYTES];
};

struct check_file {
    _Atomic uint64_t n_signals, n_dropped, n_no_env;
    struct check_slot slots[CHECK_SLOTS];
};

#endif
