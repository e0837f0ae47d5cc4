#include "core/emu/model/sim_foreseen.h"

/* ---- x86-64 ---- */

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2: /* bnd, repne */
    case 0xf3:
        return true;
    default:
        return (byte & 0xf0) == 0x40; /* REX */
    }
}

static size_t skip_prefixes(const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && is_prefix(bytes[i]))
        i++;
    return i;
}

/* ff /2 and /3 call, /4 and /5 jump. */
static enum sim_branch_kind decode_group5(uint8_t modrm)
{
    switch (modrm >> 3 & 7) {
    case 2:
    case 3:
        return SIM_INDIRECT_CALL;
    case 4:
    case 5:
        return SIM_INDIRECT;
    default:
        return SIM_NO_BRANCH;
    }
}

enum sim_branch_kind sim_decode_x86(const uint8_t *bytes, size_t n)
{
    size_t i = skip_prefixes(bytes, n);
    if (i == n)
        return SIM_NO_BRANCH;
    uint8_t code = bytes[i], next = i + 1 < n ? bytes[i + 1] : 0;
    if ((code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0) /* jcc; loop, jrcxz */
        return SIM_CONDITIONAL;
    switch (code) {
    case 0x0f:
        return (next & 0xf0) == 0x80 ? SIM_CONDITIONAL : SIM_NO_BRANCH;
    case 0xc2:
    case 0xc3:
        return SIM_RETURN;
    case 0xe8:
        return SIM_CALL;
    case 0xff:
        return decode_group5(next);
    default:
        return SIM_NO_BRANCH;
    }
}

bool sim_decode_is_jump_x86(const uint8_t *bytes, size_t n)
{
    size_t i = skip_prefixes(bytes, n);
    return i < n && (bytes[i] == 0xe9 || bytes[i] == 0xeb);
}

bool sim_decode_is_pop_x86(const uint8_t *bytes, size_t n)
{
    size_t i = skip_prefixes(bytes, n);
    return i < n && ((bytes[i] & 0xf8) == 0x58 || bytes[i] == 0xc9);
}

/* ---- A64 ---- */

static uint32_t arm64_code(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

bool sim_decode_is_jump_arm64(const uint8_t *bytes, size_t n)
{
    return n >= 4 && (arm64_code(bytes) & 0xfc000000) == 0x14000000; /* b */
}

enum sim_branch_kind sim_decode_arm64(const uint8_t *bytes, size_t n)
{
    if (n < 4)
        return SIM_NO_BRANCH;
    uint32_t code = arm64_code(bytes);
    if ((code & 0xff000000) == 0x54000000 || (code & 0x7e000000) == 0x34000000 || (code & 0x7e000000) == 0x36000000)
        return SIM_CONDITIONAL; /* b.cond; cbz, cbnz; tbz, tbnz */
    if ((code & 0xfc000000) == 0x94000000)
        return SIM_CALL; /* bl */
    /* br, blr, ret, and their forms with pointer authentication */
    if ((code & 0xfe1f0000) != 0xd61f0000)
        return SIM_NO_BRANCH;
    switch (code >> 21 & 7) {
    case 0:
        return SIM_INDIRECT;
    case 1:
        return SIM_INDIRECT_CALL;
    case 2:
        return SIM_RETURN;
    default:
        return SIM_NO_BRANCH;
    }
}

/* movzbl disp(%r13), %ebx */
bool sim_decode_is_dispatch(const uint8_t *bytes, size_t n)
{
    return (n == 5 && memcmp(bytes, "\x41\x0f\xb6\x5d", 4) == 0) ||
           (n == 8 && memcmp(bytes, "\x41\x0f\xb6\x9d", 4) == 0);
}
