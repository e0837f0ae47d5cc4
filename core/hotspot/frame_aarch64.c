/*
 * Frames of Java code on aarch64: a call leaves the return address in the link register (x30).  A compiled method's
 * frame has it and the frame pointer (x29) in its two outermost words, as on x86-64.
 *
 *     sub sp, sp, #n                  or  stp x29, x30, [sp, #-16]!
 *     stp x29, x30, [sp, #n - 16]         sub sp, sp, #n - 16       (a register, where n is large)
 *     ...                                 ...
 *     ldp x29, x30, [sp, #n - 16]         add sp, sp, #n - 16
 *     add sp, sp, #n                      ldp x29, x30, [sp], #16
 *     (safepoint poll)  ret               (safepoint poll)  ret
 */
#include "core/hotspot/known_methods.h"

#define POLL_INSTRUCTIONS 6u /* at most, in front of 'ret' */

struct opcode_pattern {
    uint32_t mask, value;
};

static const struct opcode_pattern store_pair = { 0xffc07fff, 0xa9007bfd };    /* stp x29, x30, [sp, #n] */
static const struct opcode_pattern push_pair = { 0xffffffff, 0xa9bf7bfd };     /* stp x29, x30, [sp, #-16]! */
static const struct opcode_pattern pop_pair = { 0xffffffff, 0xa8c17bfd };      /* ldp x29, x30, [sp], #16 */
static const struct opcode_pattern take_number = { 0xff8003ff, 0xd10003ff };   /* sub sp, sp, #n */
static const struct opcode_pattern take_register = { 0xffe0ffff, 0xcb2063ff }; /* sub sp, sp, xN */
static const struct opcode_pattern is_return = { 0xfffffc1f, 0xd65f0000 }; /* ret, with an authenticated address, too */
static const struct opcode_pattern is_jump = { 0xfc000000, 0x14000000 };   /* b */
static const struct opcode_pattern is_register_jump = { 0xfffffc1f, 0xd61f0000 }; /* br xN */

/* What a safepoint poll in front of a return consists of, with x8, and hints (nop, authentication). */
static const struct opcode_pattern polls[] = {
    { 0xffc003ff, 0xf9400388 }, /* ldr x8, [x28, #n] */
    { 0xffc003ff, 0x91000388 }, /* add x8, x28, #n */
    { 0xffffffff, 0xc8dffd08 }, /* ldar x8, [x8] */
    { 0xffffffff, 0xeb2863ff }, /* cmp sp, x8 */
    { 0xff00001f, 0x54000008 }, /* b.hi */
    { 0xfffff01f, 0xd503201f }, /* a hint */
};

static const struct opcode_pattern set_pointer = { 0xffffffff, 0x910003fd }; /* mov x29, sp: behind push_pair */

static bool is(uint32_t word, struct opcode_pattern pattern)
{
    return (word & pattern.mask) == pattern.value;
}

static uint32_t word_of(const uint8_t *code, size_t i)
{
    const uint8_t *at = code + 4 * i;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is_of_poll(uint32_t word)
{
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
        if (is(word, polls[i]))
            return true;
    return false;
}

/* Is the frame gone: is nothing left but to poll and to return? */
static bool is_at_end(const uint8_t *code, size_t n_words)
{
    size_t i = 0;
    while (i < n_words && i < POLL_INSTRUCTIONS && is_of_poll(word_of(code, i)))
        i++;
    return i < n_words && is(word_of(code, i), is_return);
}

/*
 * What is still to be done of the prologue tells what has been done.  *takes: the stack pointer is still to be lowered.
 * Where the prologue's end is not known, it is not looked for behind a jump.
 */
static unsigned before(const uint8_t *code, size_t n_words, bool is_known, bool *takes)
{
    *takes = false;
    for (size_t i = 0; i < n_words; i++) {
        uint32_t word = word_of(code, i);
        if (is(word, store_pair))
            return i == 0 ? FRAME_TAKEN : FRAME_NONE;
        if (is(word, push_pair))
            return FRAME_NONE;
        if (!is_known && (is(word, is_return) || is(word, is_jump) || is(word, is_register_jump)))
            return 0;
        *takes |= is(word, take_number) || is(word, take_register);
    }
    return 0;
}

static unsigned shapes(const uint8_t *code, uint64_t n_before)
{
    size_t n_words = FRAME_CODE_BYTES / 4;
    bool is_known = n_before != FRAME_UNKNOWN, is_cut = is_known && n_before / 4 > n_words, takes;
    if (is(word_of(code, 0), pop_pair) || is(word_of(code, 0), set_pointer))
        return FRAME_PUSHED;
    if (is_at_end(code, n_words))
        return FRAME_NONE;
    unsigned found = before(code, n_before / 4 < n_words ? (size_t)n_before / 4 : n_words, is_known, &takes);
    if (found == 0 && takes)
        return FRAME_PUSHED;
    return found == 0 && is_cut ? FRAME_NONE : found;
}

/* 'sub sp, sp, #n', of the whole frame or of what is not pushed; a register says less. */
static bool takes(const uint8_t *code, size_t n, uint64_t frame_bytes)
{
    bool is_pushed = false;
    for (size_t i = 0; i < n / 4; i++) {
        uint32_t word = word_of(code, i);
        uint64_t room = (uint64_t)(word >> 10 & 0xfff) << ((word >> 22 & 1) != 0 ? 12 : 0);
        is_pushed |= is(word, push_pair);
        if (is(word, take_number) && frame_bytes == room + (is_pushed ? 16 : 0))
            return true;
        if (is(word, take_register) && is_pushed)
            return frame_bytes >= 4096;
    }
    return is_pushed && frame_bytes == 16;
}

/* bl; blr xN */
static enum frame_call call(const uint8_t *code, int64_t *distance)
{
    static const struct opcode_pattern direct = { 0xfc000000, 0x94000000 }, indirect = { 0xfffffc1f, 0xd63f0000 };
    uint32_t word = word_of(code, FRAME_CALL_BYTES / 4 - 1);
    if (is(word, direct)) {
        int64_t words = word & 0x03ffffff;
        *distance = (words >= 0x02000000 ? words - 0x04000000 : words) * 4 - 4;
        return FRAME_CALL_DIRECT;
    }
    return is(word, indirect) ? FRAME_CALL_INDIRECT : FRAME_CALL_NONE;
}

const struct frame_rules frame_rules_aarch64 = {
    .sender_sp = -1,
    .method = -2,
    .bytecode = -8,
    .call_wrapper = -8,
    .has_link = true,
    .address_bits = (UINT64_C(1) << 48) - 1,
    .search_bytes = 1024,
    .shapes = shapes,
    .takes = takes,
    .call = call,
};
