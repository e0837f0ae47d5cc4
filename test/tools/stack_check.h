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
    int32_t unused;
};

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
