/*
 * What of the frames of Java code differs between processors: where an interpreted frame has what (HotSpot's
 * frame_x86.hpp and frame_aarch64.hpp), and how much of a compiled frame is there at an instruction.
 *
 * The rules of all processors are compiled everywhere, so that they can be tested everywhere.
 */
#ifndef CORE_HOTSPOT_FRAME_RULES_H
#define CORE_HOTSPOT_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may be there of a frame besides the whole of it: bits. */
#define FRAME_NONE   1u /* nothing yet, or no more: the stack pointer is the caller's */
#define FRAME_PUSHED 2u /* frame pointer and return address, at the stack pointer */
#define FRAME_TAKEN  4u /* all of its room, with nothing in it yet but what a call itself stores */

#define FRAME_CODE_BYTES 128u /* that 'shapes' looks at */
#define FRAME_CALL_BYTES 8u   /* that 'call' looks at */
#define FRAME_UNKNOWN    UINT64_MAX

enum frame_call { FRAME_CALL_NONE, FRAME_CALL_DIRECT, FRAME_CALL_INDIRECT };

struct frame_rules {
    /* Of an interpreted frame, in words: of the sender's stack pointer from the frame pointer on, of others from it. */
    int32_t sender_sp, method, bytecode;
    int32_t call_wrapper; /* of the frame of a call from the JVM, in words from its frame pointer on */

    bool has_link;         /* a call leaves the return address in the link register, and not on the stack */
    uint64_t address_bits; /* of a return address: the others may authenticate it */

    /*
     * How far above a return address the stack pointer of the frame that it returns to may be, where native code has
     * stored it: on x86-64 it is the next word; on aarch64 the address is at the lower end of the native frame.
     */
    uint32_t search_bytes;

    /*
     * Which FRAME_ bits are possible at an instruction; 0: the whole frame is there.  code: the FRAME_CODE_BYTES from
     * it on; 0: not read.  n_before: how many bytes later the JVM says that the frame is complete; 0: it is, or
     * FRAME_UNKNOWN.
     */
    unsigned (*shapes)(const uint8_t *code, uint64_t n_before);

    /* Does the code in front of the point where a frame is complete take a frame of so many bytes? */
    bool (*takes)(const uint8_t *code, size_t n, uint64_t frame_bytes);

    /* The call with which these FRAME_CALL_BYTES end; *distance: of what a direct one calls, from behind it on. */
    enum frame_call (*call)(const uint8_t *code, int64_t *distance);
};

extern const struct frame_rules frame_rules_x86, frame_rules_aarch64;

/* Those of the processor that this is compiled for. */
const struct frame_rules *frame_rules_here(void);

#endif
