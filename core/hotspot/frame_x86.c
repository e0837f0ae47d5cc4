/* Frames of Java code on x86-64: a call pushes the return address, and 'push rbp' the frame pointer above it. */
#include "core/hotspot/known_methods.h"

#define WAIT_BYTES 11u /* of a jump over a call, at most */

/* As "48 81 ec"; '?' stands for any byte of half of one.  Is it at the code? */
static bool is(const uint8_t *code, const char *pattern)
{
    for (const char *at = pattern; at[0] != '\0'; at += at[2] == ' ' ? 3 : 2, code++)
        for (int half = 0; half < 2; half++) {
            int value = half == 0 ? *code >> 4 : *code & 15;
            if (at[half] != '?' && at[half] != "0123456789abcdef"[value])
                return false;
        }
    return true;
}

/* In front of a return may be a safepoint poll: cmp rsp, [r15 + n]; ja. */
static bool is_at_end(const uint8_t *code)
{
    static const char *const ends[] = {
        "c3",
        "0f 87 ?? ?? ?? ?? c3",
        "49 3b 67 ?? 0f 87 ?? ?? ?? ?? c3",
        "49 3b a7 ?? ?? ?? ?? 0f 87 ?? ?? ?? ?? c3",
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is(code, ends[i]))
            return true;
    return false;
}

/* mov [rsp + n], rbp */
static bool stores_pointer(const uint8_t *code)
{
    return is(code, "48 89 6c 24") || is(code, "48 89 ac 24");
}

/*
 *     push rbp            or  sub rsp, #n
 *     sub rsp, #n             mov [rsp + n], rbp
 *
 * In front of it are a check of the receiver's class and the touch of a page below; behind it, the JVM may wait for the
 * collector (cmp [r15 + n], #epoch; a jump, or a jump over a call) before it calls the frame complete.
 */
static unsigned before(const uint8_t *code, uint64_t n_before)
{
    if (stores_pointer(code))
        return FRAME_TAKEN;
    if (is(code, "48 83 ec"))
        return stores_pointer(code + 4) ? FRAME_NONE : FRAME_PUSHED;
    if (is(code, "48 81 ec"))
        return stores_pointer(code + 7) ? FRAME_NONE : FRAME_PUSHED;
    bool is_waiting = is(code, "41 81 7f") || is(code, "41 81 bf") || is(code, "41 83 7f") || is(code, "41 83 bf") ||
                      (n_before <= WAIT_BYTES && !is(code, "55"));
    return is_waiting ? 0 : FRAME_NONE;
}

static unsigned shapes(const uint8_t *code, uint64_t n_before)
{
    if (is_at_end(code))
        return FRAME_NONE;
    if (is(code, "5d") || is(code, "48 8b ec")) /* pop rbp; mov rbp, rsp */
        return FRAME_PUSHED;
    if (n_before == FRAME_UNKNOWN)
        return FRAME_NONE | FRAME_PUSHED;
    return n_before == 0 ? 0 : before(code, n_before);
}

/* Is there 'sub rsp, #room' in n bytes, at their beginning? */
static bool lowers(const uint8_t *code, size_t n, uint64_t room)
{
    uint32_t number = n < 7 ? 0 : (uint32_t)code[3] | (uint32_t)code[4] << 8 | (uint32_t)code[5] << 16;
    return (n >= 4 && is(code, "48 83 ec") && code[3] == room) ||
           (n >= 7 && is(code, "48 81 ec") && (number | (uint32_t)code[6] << 24) == room);
}

/* The smallest frame is what is pushed. */
static bool takes(const uint8_t *code, size_t n, uint64_t frame_bytes)
{
    bool is_pushed = false;
    for (size_t i = 0; i < n; i++) {
        is_pushed |= code[i] == 0x55;
        if (lowers(code + i, n - i, frame_bytes - 16) || lowers(code + i, n - i, frame_bytes - 8))
            return true;
    }
    return is_pushed && frame_bytes == 16;
}

/* 'call rel32'; 'call r', 'call [r]', 'call [r + n]', 'call [rip + n]' */
static enum frame_call call(const uint8_t *code, int64_t *distance)
{
    const uint8_t *end = code + FRAME_CALL_BYTES;
    uint32_t number = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;
    if (end[-5] == 0xe8) {
        *distance = (int32_t)number;
        return FRAME_CALL_DIRECT;
    }
    bool is_near = end[-2] == 0xff && ((end[-1] & 0xf8) == 0xd0 || (end[-1] & 0xf8) == 0x10);
    bool is_in_memory = (end[-3] == 0xff && (end[-2] & 0xf8) == 0x50) ||
                        (end[-6] == 0xff && ((end[-5] & 0xf8) == 0x90 || end[-5] == 0x15));
    return is_near || is_in_memory ? FRAME_CALL_INDIRECT : FRAME_CALL_NONE;
}

const struct frame_rules frame_rules_x86 = {
    .sender_sp = -1,
    .method = -2,
    .bytecode = -7,
    .call_wrapper = -6,
    .address_bits = UINT64_MAX,
    .shapes = shapes,
    .takes = takes,
    .call = call,
};
