/*
 * Frames of Java code on x86-64: a call pushes the return address, and 'push rbp' the frame pointer above it.
 */
#include "core/hotspot/frame_rules.h"

/*
 * Before 'push rbp', behind 'pop rbp', between.  What is at the instruction tells: in front of a return may be a
 * safepoint poll ('cmp rsp, [r15 + n]', 'ja', or 'test eax, [...]').
 */
static unsigned shapes(const uint8_t *code, bool is_before)
{
    bool is_at_end = code[0] == 0xc3 || (code[0] == 0x49 && code[1] == 0x3b) || (code[0] == 0x0f && code[1] == 0x87) ||
                     code[0] == 0x85 || (code[0] == 0x41 && code[1] == 0x85);
    unsigned found = is_before ? FRAME_NONE | FRAME_PUSHED : 0;
    if (is_at_end)
        found |= FRAME_NONE;
    if (code[0] == 0x5d)
        found |= FRAME_PUSHED;
    return found;
}

const struct frame_rules frame_rules_x86 = {
    .sender_sp = -1,
    .method = -2,
    .bytecode = -7,
    .call_wrapper = -6,
    .shapes = shapes,
};
