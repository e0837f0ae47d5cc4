#include "core/emu/plugin/qemu_api.h"

#define STATE_BYTES    144 /* as far as it is looked at */
#define CALL_BEGINS_IN 48  /* bytes: of the code from a block's begin to its call of the plugin, never more */

/* Bit 1 is always set.  CF, PF, AF, ZF, SF, TF, IF, DF, OF, IOPL, NT, RF, AC, ID can be. */
#define FLAGS_ALWAYS UINT64_C(0x2)
#define FLAGS_EVER   UINT64_C(0x257fd7)

static int32_t get_i32(const uint8_t *bytes)
{
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* The code where a block is left: lea of an address that ends in 3 (QEMU's 'it was asked for'). */
static bool is_way_out(const uint8_t *at)
{
    uint8_t code[7];
    if (!qemu_read((uintptr_t)at, code, sizeof code) || code[0] != 0x48 || code[1] != 0x8d || code[2] != 0x05)
        return false;
    return (((uintptr_t)at + sizeof code + (uintptr_t)(intptr_t)get_i32(code + 3)) & 7) == 3;
}

/*
 * Is 'code', which is at 'at', the begin of a block of this thread?  Returns where the number is that it tests; 0: it
 * is not.
 */
static int32_t find_attention(const uint8_t *code, const uint8_t *at, const uint8_t *state, unsigned vcpu)
{
    static const uint8_t test[] = { 0x85, 0xdb, 0x0f, 0x8c };
    if (code[0] != 0x8b || code[1] != 0x5d || memcmp(code + 3, test, sizeof test) != 0 || code[11] != 0x8b ||
        code[12] != 0x7d)
        return 0;
    int32_t attention_at = (int8_t)code[2], number_at = (int8_t)code[13], value, number;
    if (attention_at > -4 || number_at > -4 || !qemu_read((uintptr_t)(state + attention_at), &value, sizeof value) ||
        !qemu_read((uintptr_t)(state + number_at), &number, sizeof number))
        return 0;
    bool is_it = value == 0 && number == (int32_t)vcpu && is_way_out(at + 11 + get_i32(code + 7));
    return is_it ? attention_at : 0;
}

void qemu_flags_begin(struct qemu_flags *flags, unsigned vcpu, void *state, const uint8_t *returns_to)
{
    uint8_t code[CALL_BEGINS_IN];
    *flags = (struct qemu_flags){ .state = state };
    if (state == NULL || !qemu_read((uintptr_t)(returns_to - sizeof code), code, sizeof code))
        return;
    for (size_t i = 0; i + 14 < sizeof code && flags->attention_at == 0; i++)
        flags->attention_at = find_attention(code + i, returns_to - sizeof code + i, state, vcpu);
}

bool qemu_flags_see(struct qemu_flags *flags, const struct qemu_flags_call *call)
{
    static const uint8_t order[6] = { 7, 6, 2, 10, 8, 9 }; /* rdi, rsi, rdx, r10, r8, r9 */
    uint64_t state[STATE_BYTES / 8];
    uint8_t instruction[2];
    if (flags->is_seen || flags->state == NULL)
        return flags->is_seen;
    if (!qemu_read((uintptr_t)flags->state, state, sizeof state) || state[0] != (uint64_t)call->number)
        return false;
    for (int i = 0; i < 6; i++)
        if (state[order[i]] != call->arguments[i])
            return false;
    uint64_t rip = state[QEMU_FLAGS_RIP / 8], eflags = state[QEMU_FLAGS_EFLAGS / 8];
    if (!qemu_read(rip - 2, instruction, 2) || instruction[0] != 0x0f || instruction[1] != 0x05)
        return false;
    return flags->is_seen = (eflags & FLAGS_ALWAYS) != 0 && (eflags & ~FLAGS_EVER) == 0;
}

void qemu_flags_choose(const struct qemu_flags *flags, bool is_heavy)
{
    uint64_t eflags;
    if (!flags->is_seen)
        return;
    memcpy(&eflags, flags->state + QEMU_FLAGS_EFLAGS, sizeof eflags);
    eflags = is_heavy ? eflags | QEMU_FLAGS_AC : eflags & ~QEMU_FLAGS_AC;
    memcpy(flags->state + QEMU_FLAGS_EFLAGS, &eflags, sizeof eflags);
}

void qemu_flags_look_again(const struct qemu_flags *flags)
{
    if (flags->is_seen && flags->attention_at != 0)
        __atomic_store_n((int16_t *)(void *)(flags->state + flags->attention_at + 2), -1, __ATOMIC_RELAXED);
}
