/* The opcodes of x86-64 that sim_operands.c knows, and what they do. */
#ifndef CORE_EMU_MODEL_SIM_OPCODES_H
#define CORE_EMU_MODEL_SIM_OPCODES_H

#include "core/base/std.h"

/* What an instruction does. */
enum {
    KNOWN = 1,
    MODRM = 2,
    LOAD = 4, /* its operand in memory, if that is where it is */
    STORE = 8,
    TO_REG = 16, /* writes the general register that modrm names */
    TO_RM = 32,  /* or its operand, where that is one */
    TO_AX = 64,
    TO_DX = 128,
    OWN = 256, /* its accesses are not foreseen */
};

/* Bytes of the operand in memory. */
enum {
    NO, /* not known with these prefixes */
    B = 1,
    W = 2,
    D = 4,
    Q = 8,
    X = 16,
    V = 128, /* 2, 4 or 8: by prefixes */
    Y = 64,  /* 4 or 8 */
};

struct sim_opcode_row {
    uint16_t does;
    uint8_t n_bytes;
};

#define READS  (KNOWN | MODRM | LOAD)
#define WRITES (KNOWN | MODRM | STORE | TO_RM)
#define BOTH   (KNOWN | MODRM | LOAD | STORE | TO_RM)
#define GETS   (KNOWN | MODRM | LOAD | TO_REG)
#define OTHERS (KNOWN | MODRM | OWN)

/* add, or, adc, sbb, and, sub, xor: each six opcodes. */
#define ARITHMETIC(code)                                                                                        \
    [(code)] = { BOTH, B }, [(code) + 1] = { BOTH, V }, [(code) + 2] = { GETS, B }, [(code) + 3] = { GETS, V }, \
    [(code) + 4] = { KNOWN | TO_AX, 0 }, [(code) + 5] = { KNOWN | TO_AX, 0 }

/* Of one byte; those without modrm that are not here: sim_operands.c knows some. */
static const struct sim_opcode_row one_byte[256] = {
    ARITHMETIC(0x00),
    ARITHMETIC(0x08),
    ARITHMETIC(0x10),
    ARITHMETIC(0x18),
    ARITHMETIC(0x20),
    ARITHMETIC(0x28),
    ARITHMETIC(0x30),
    [0x38] = { READS, B }, /* cmp */
    [0x39] = { READS, V },
    [0x3a] = { READS, B },
    [0x3b] = { READS, V },
    [0x3c ... 0x3d] = { KNOWN, 0 },
    [0x63] = { GETS, D }, /* movslq */
    [0x69] = { GETS, V }, /* imul */
    [0x6b] = { GETS, V },
    [0x70 ... 0x7f] = { KNOWN, 0 }, /* jcc */
    [0x80] = { BOTH, B },           /* cmp among them: see read_only */
    [0x81] = { BOTH, V },
    [0x83] = { BOTH, V },
    [0x84] = { READS, B }, /* test */
    [0x85] = { READS, V },
    [0x86] = { OTHERS | TO_REG | TO_RM, B }, /* xchg */
    [0x87] = { OTHERS | TO_REG | TO_RM, V },
    [0x88] = { WRITES, B },
    [0x89] = { WRITES, V },
    [0x8a] = { GETS, B },
    [0x8b] = { GETS, V },
    [0x8d] = { KNOWN | MODRM | TO_REG, 0 }, /* lea */
    [0x98] = { KNOWN | TO_AX, 0 },
    [0x99] = { KNOWN | TO_DX, 0 },
    [0xa8 ... 0xa9] = { KNOWN, 0 }, /* test */
    [0xc0] = { BOTH, B },           /* shifts */
    [0xc1] = { BOTH, V },
    [0xc6] = { WRITES, B },
    [0xc7] = { WRITES, V },
    [0xd0] = { BOTH, B },
    [0xd1] = { BOTH, V },
    [0xd2] = { BOTH, B },
    [0xd3] = { BOTH, V },
    [0xd8 ... 0xdf] = { OTHERS | TO_AX, 0 }, /* x87 */
    [0xe9] = { KNOWN, 0 },                   /* jmp */
    [0xeb] = { KNOWN, 0 },
    [0xf6] = { BOTH, B }, /* test, not, neg; mul, div: see group_3 */
    [0xf7] = { BOTH, V },
    [0xf8 ... 0xf9] = { KNOWN, 0 },
    [0xfe] = { BOTH, B }, /* inc, dec */
    [0xff] = { BOTH, V }, /* and others: see group_5 */
};

/* Of those behind 0f, by the prefix that chooses among them: none, 66, f3, f2. */
struct sim_opcode_rows {
    uint16_t does;
    uint8_t n_bytes[4];
};

#define SAME(n)    \
    {              \
        n, n, n, n \
    }
#define GENERAL      \
    {                \
        V, V, NO, NO \
    }
#define ANY_SSE    \
    {              \
        X, X, D, Q \
    } /* ps, pd, ss, sd */
#define PACKED       \
    {                \
        X, X, NO, NO \
    }
#define WHOLE         \
    {                 \
        NO, X, NO, NO \
    } /* those of MMX, without a prefix, are not known */

static const struct sim_opcode_rows two_bytes[256] = {
    [0x0d] = { KNOWN | MODRM, SAME(0) }, /* prefetch */
    [0x10] = { READS, ANY_SSE },
    [0x11] = { KNOWN | MODRM | STORE, ANY_SSE },
    [0x12] = { READS, { Q, Q, NO, NO } },
    [0x13] = { KNOWN | MODRM | STORE, { Q, Q, NO, NO } },
    [0x14 ... 0x15] = { READS, PACKED },
    [0x16] = { READS, { Q, Q, NO, NO } },
    [0x17] = { KNOWN | MODRM | STORE, { Q, Q, NO, NO } },
    [0x18] = { KNOWN | MODRM, SAME(0) },
    [0x1e ... 0x1f] = { KNOWN | MODRM, SAME(0) }, /* endbr64, nop */
    [0x28] = { READS, PACKED },
    [0x29] = { KNOWN | MODRM | STORE, PACKED },
    [0x2a] = { READS, { NO, NO, Y, Y } },
    [0x2c ... 0x2d] = { GETS, { NO, NO, D, Q } },
    [0x2e ... 0x2f] = { READS, { D, Q, NO, NO } },
    [0x40 ... 0x4f] = { GETS, GENERAL },          /* cmov */
    [0x50] = { KNOWN | MODRM | TO_REG, SAME(0) }, /* movmskps */
    [0x51] = { READS, ANY_SSE },
    [0x54 ... 0x57] = { READS, PACKED },
    [0x58 ... 0x59] = { READS, ANY_SSE },
    [0x5a] = { READS, { Q, X, D, Q } },
    [0x5b] = { READS, { X, X, X, NO } },
    [0x5c ... 0x5f] = { READS, ANY_SSE },
    [0x60 ... 0x6d] = { READS, WHOLE },
    [0x6e] = { READS, { NO, Y, NO, NO } },
    [0x6f] = { READS, { NO, X, X, NO } },
    [0x70] = { READS, { NO, X, X, X } },
    [0x71 ... 0x73] = { KNOWN | MODRM, SAME(0) },
    [0x74 ... 0x76] = { READS, WHOLE },
    [0x77] = { KNOWN, { NO, NO, NO, NO } }, /* vzeroupper */
    [0x7e] = { WRITES, { NO, Y, Q, NO } },  /* movd; with f3 a load: see movq */
    [0x7f] = { KNOWN | MODRM | STORE, { NO, X, X, NO } },
    [0x80 ... 0x8f] = { KNOWN, SAME(0) },          /* jcc */
    [0x90 ... 0x9f] = { WRITES, SAME(B) },         /* setcc */
    [0xa3 ... 0xa5] = { OTHERS | TO_RM, SAME(V) }, /* bt, shld */
    [0xab ... 0xad] = { OTHERS | TO_RM, SAME(V) },
    [0xae] = { OTHERS | TO_RM, SAME(V) },         /* fences and others */
    [0xaf] = { GETS, GENERAL },                   /* imul */
    [0xb0] = { OTHERS | TO_AX | TO_RM, SAME(B) }, /* cmpxchg */
    [0xb1] = { OTHERS | TO_AX | TO_RM, SAME(V) },
    [0xb3] = { OTHERS | TO_RM, SAME(V) },
    [0xb6] = { GETS, { B, B, NO, NO } }, /* movzx, movsx */
    [0xb7] = { GETS, { W, W, NO, NO } },
    [0xb8] = { GETS, { NO, NO, V, NO } }, /* popcnt */
    [0xba] = { BOTH, SAME(V) },           /* bt: see by_two_bytes */
    [0xbb] = { OTHERS | TO_RM, SAME(V) },
    [0xbc ... 0xbd] = { GETS, { V, V, V, NO } },
    [0xbe] = { GETS, { B, B, NO, NO } },
    [0xbf] = { GETS, { W, W, NO, NO } },
    [0xc0] = { OTHERS | TO_REG | TO_RM, SAME(B) }, /* xadd */
    [0xc1] = { OTHERS | TO_REG | TO_RM, SAME(V) },
    [0xc2] = { READS, ANY_SSE },
    [0xc4] = { READS, { NO, W, NO, NO } },
    [0xc5] = { KNOWN | MODRM | TO_REG, SAME(0) },
    [0xc6] = { READS, PACKED },
    [0xd1 ... 0xd5] = { READS, WHOLE },
    [0xd6] = { KNOWN | MODRM | STORE, { NO, Q, NO, NO } },
    [0xd7] = { KNOWN | MODRM | TO_REG, { NO, 0, NO, NO } },
    [0xd8 ... 0xe5] = { READS, WHOLE },
    [0xe6] = { READS, { NO, X, Q, X } },
    [0xe7] = { KNOWN | MODRM | STORE, WHOLE },
    [0xe8 ... 0xef] = { READS, WHOLE },
    [0xf1 ... 0xf6] = { READS, WHOLE },
    [0xf8 ... 0xfe] = { READS, WHOLE },
};

#endif
