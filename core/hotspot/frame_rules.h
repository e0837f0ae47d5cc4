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

#define FRAME_CODE_BYTES 8u /* that the functions look at */

struct frame_rules {
    /* Of an interpreted frame, in words: of the sender's stack pointer from the frame pointer on, of others from it. */
    int32_t sender_sp, method, bytecode;
    int32_t call_wrapper; /* of the frame of a call from the JVM, in words from its frame pointer on */

    /*
     * Which FRAME_ bits are possible at an instruction; 0: the whole frame is there.  code: the FRAME_CODE_BYTES from
     * it on; 0: not read.  is_before: it is in front of where the JVM says that the frame is complete.
     */
    unsigned (*shapes)(const uint8_t *code, bool is_before);

    /* Is an instruction behind a call?  code: the FRAME_CODE_BYTES in front of it; 0: not read.  NULL: never asked. */
    bool (*is_behind_call)(const uint8_t *code);
};

extern const struct frame_rules frame_rules_x86;

/* This processor's; NULL: there are none. */
const struct frame_rules *frame_rules_here(void);

#endif
