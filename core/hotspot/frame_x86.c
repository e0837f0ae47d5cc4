/*
 * Frames of Java code on x86-64: a call pushes the return address, and 'push rbp' the frame pointer above it.
 */
#include "core/hotspot/frame_rules.h"

/*
 * 'ret', or a safepoint poll in front of it: 'cmp rsp, [r15 + n]', 'ja', or 'test eax, [...]'.  Polls of loops are the
 * same without the 'ret', and other code has the same instructions.
 */
static bool is_at_end(const uint8_t *code)
{
    return code[0] == 0xc3 || (code[0] == 0x49 && code[1] == 0x3b && code[2] == 0xa7 && code[7] == 0x0f) ||
           (code[0] == 0x49 && code[1] == 0x3b && code[2] == 0x67 && code[4] == 0x0f) ||
           (code[0] == 0x0f && code[1] == 0x87 && code[6] == 0xc3) || (code[0] == 0x85 && code[2] == 0xc3) ||
           (code[0] == 0x41 && code[1] == 0x85 && code[3] == 0xc3);
}

/* Before 'push rbp', behind 'pop rbp', between: what is at the instruction tells. */
static unsigned shapes(const uint8_t *code, bool is_before)
{
    unsigned found = is_before ? FRAME_NONE | FRAME_PUSHED : 0;
    if (is_at_end(code))
        found |= FRAME_NONE;
    if (code[0] == 0x5d)
        found |= FRAME_PUSHED;
    return found;
}

/* 'call rel32'; 'call r', 'call [r]', 'call [r + n]'. */
static bool is_behind_call(const uint8_t *code)
{
    const uint8_t *end = code + FRAME_CODE_BYTES;
    return end[-5] == 0xe8 || (end[-2] == 0xff && ((end[-1] & 0xf8) == 0xd0 || (end[-1] & 0xf8) == 0x10)) ||
           (end[-3] == 0xff && (end[-2] & 0xf8) == 0x50) || (end[-6] == 0xff && (end[-5] & 0xf8) == 0x90);
}

const struct frame_rules frame_rules_x86 = {
    .sender_sp = -1,
    .method = -2,
    .bytecode = -7,
    .call_wrapper = -6,
    .shapes = shapes,
    .is_behind_call = is_behind_call,
};
