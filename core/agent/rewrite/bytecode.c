#include "core/agent/rewrite/classfile.h"

#include "core/hotspot/bytecodes.h"

#define PLAIN(pops, pushes)          \
    {                                \
        BYTECODE_PLAIN, pops, pushes \
    }
#define LOCAL(pops, pushes)          \
    {                                \
        BYTECODE_LOCAL, pops, pushes \
    }
#define BRANCH(pops, pushes)          \
    {                                 \
        BYTECODE_BRANCH, pops, pushes \
    }

/* The same of each type, whose values are pops and pushes of int; long and double take twice as many slots. */
#define INT_LONG(op, pops, pushes)              [op] = PLAIN(pops, pushes), [op + 1] = PLAIN(2 * pops, 2 * pushes)
#define INT_LONG_FLOAT_DOUBLE(op, pops, pushes) INT_LONG(op, pops, pushes), INT_LONG(op + 2, pops, pushes)
#define SHIFT(op)                               [op] = PLAIN(2, 1), [op + 1] = PLAIN(3, 2)

const struct bytecode bytecodes[256] = {
    [0x00] = PLAIN(0, 0),          /* nop */
    [0x01 ... 0x08] = PLAIN(0, 1), /* aconst_null, iconst */
    [0x09 ... 0x0a] = PLAIN(0, 2), /* lconst */
    [0x0b ... 0x0d] = PLAIN(0, 1), /* fconst */
    [0x0e ... 0x0f] = PLAIN(0, 2), /* dconst */
    [0x10] = PLAIN(0, 1),          /* bipush */
    [0x11] = PLAIN(0, 1),          /* sipush */
    [0x12] = PLAIN(0, 1),          /* ldc */
    [0x13] = PLAIN(0, 1),          /* ldc_w */
    [0x14] = PLAIN(0, 2),          /* ldc2_w */
    [0x15] = LOCAL(0, 1),          /* iload */
    [0x16] = LOCAL(0, 2),          /* lload */
    [0x17] = LOCAL(0, 1),          /* fload */
    [0x18] = LOCAL(0, 2),          /* dload */
    [OP_ALOAD] = LOCAL(0, 1),
    [0x1a ... 0x1d] = LOCAL(0, 1), /* iload_n */
    [0x1e ... 0x21] = LOCAL(0, 2), /* lload_n */
    [0x22 ... 0x25] = LOCAL(0, 1), /* fload_n */
    [0x26 ... 0x29] = LOCAL(0, 2), /* dload_n */
    [OP_ALOAD_0... OP_ALOAD_3] = LOCAL(0, 1),
    [0x2e] = PLAIN(2, 1),          /* iaload */
    [0x2f] = PLAIN(2, 2),          /* laload */
    [0x30] = PLAIN(2, 1),          /* faload */
    [0x31] = PLAIN(2, 2),          /* daload */
    [0x32 ... 0x35] = PLAIN(2, 1), /* aaload, baload, caload, saload */
    [0x36] = LOCAL(1, 0),          /* istore */
    [0x37] = LOCAL(2, 0),          /* lstore */
    [0x38] = LOCAL(1, 0),          /* fstore */
    [0x39] = LOCAL(2, 0),          /* dstore */
    [OP_ASTORE] = LOCAL(1, 0),
    [0x3b ... 0x3e] = LOCAL(1, 0), /* istore_n */
    [0x3f ... 0x42] = LOCAL(2, 0), /* lstore_n */
    [0x43 ... 0x46] = LOCAL(1, 0), /* fstore_n */
    [0x47 ... 0x4a] = LOCAL(2, 0), /* dstore_n */
    [OP_ASTORE_0... OP_ASTORE_3] = LOCAL(1, 0),
    [0x4f] = PLAIN(3, 0),          /* iastore */
    [0x50] = PLAIN(4, 0),          /* lastore */
    [0x51] = PLAIN(3, 0),          /* fastore */
    [0x52] = PLAIN(4, 0),          /* dastore */
    [0x53 ... 0x56] = PLAIN(3, 0), /* aastore, bastore, castore, sastore */
    [0x57] = PLAIN(1, 0),          /* pop */
    [0x58] = PLAIN(2, 0),          /* pop2 */
    [OP_DUP... OP_SWAP] = { BYTECODE_STACK, 0, 0 },
    INT_LONG_FLOAT_DOUBLE(0x60, 2, 1), /* add */
    INT_LONG_FLOAT_DOUBLE(0x64, 2, 1), /* sub */
    INT_LONG_FLOAT_DOUBLE(0x68, 2, 1), /* mul */
    INT_LONG_FLOAT_DOUBLE(0x6c, 2, 1), /* div */
    INT_LONG_FLOAT_DOUBLE(0x70, 2, 1), /* rem */
    INT_LONG_FLOAT_DOUBLE(0x74, 1, 1), /* neg */
    SHIFT(0x78),                       /* shl */
    SHIFT(0x7a),                       /* shr */
    SHIFT(0x7c),                       /* ushr */
    INT_LONG(0x7e, 2, 1),              /* and */
    INT_LONG(0x80, 2, 1),              /* or */
    INT_LONG(0x82, 2, 1),              /* xor */
    [0x84] = LOCAL(0, 0),              /* iinc */
    [0x85] = PLAIN(1, 2),              /* i2l */
    [0x86] = PLAIN(1, 1),              /* i2f */
    [0x87] = PLAIN(1, 2),              /* i2d */
    [0x88 ... 0x89] = PLAIN(2, 1),     /* l2i, l2f */
    [0x8a] = PLAIN(2, 2),              /* l2d */
    [0x8b] = PLAIN(1, 1),              /* f2i */
    [0x8c ... 0x8d] = PLAIN(1, 2),     /* f2l, f2d */
    [0x8e] = PLAIN(2, 1),              /* d2i */
    [0x8f] = PLAIN(2, 2),              /* d2l */
    [0x90] = PLAIN(2, 1),              /* d2f */
    [0x91 ... 0x93] = PLAIN(1, 1),     /* i2b, i2c, i2s */
    [0x94] = PLAIN(4, 1),              /* lcmp */
    [0x95 ... 0x96] = PLAIN(2, 1),     /* fcmp */
    [0x97 ... 0x98] = PLAIN(4, 1),     /* dcmp */
    [0x99 ... 0x9e] = BRANCH(1, 0),    /* if */
    [0x9f ... 0xa6] = BRANCH(2, 0),    /* if_icmp, if_acmp */
    [0xa7] = BRANCH(0, 0),             /* goto */
    [OP_JSR] = BRANCH(0, 1),
    [OP_RET] = { BYTECODE_RET, 0, 0 },
    [0xaa] = { BYTECODE_TABLE, 1, 0 },
    [0xab] = { BYTECODE_LOOKUP, 1, 0 },
    [0xac] = { BYTECODE_RETURN, 1, 0 }, /* ireturn */
    [0xad] = { BYTECODE_RETURN, 2, 0 },
    [0xae] = { BYTECODE_RETURN, 1, 0 },
    [0xaf] = { BYTECODE_RETURN, 2, 0 },
    [0xb0] = { BYTECODE_RETURN, 1, 0 },
    [0xb1] = { BYTECODE_RETURN, 0, 0 }, /* return */
    [OP_GETSTATIC... OP_INVOKESTATIC] = { BYTECODE_MEMBER, 0, 0 },
    [OP_INVOKEINTERFACE... OP_INVOKEDYNAMIC] = { BYTECODE_MEMBER, 0, 0 },
    [0xbb] = PLAIN(0, 1), /* new */
    [0xbc] = PLAIN(1, 1), /* newarray */
    [0xbd] = PLAIN(1, 1), /* anewarray */
    [0xbe] = PLAIN(1, 1), /* arraylength */
    [OP_ATHROW] = { BYTECODE_THROW, 1, 0 },
    [0xc0 ... 0xc1] = PLAIN(1, 1), /* checkcast, instanceof */
    [0xc2 ... 0xc3] = PLAIN(1, 0), /* monitorenter, monitorexit */
    [OP_WIDE] = LOCAL(0, 0),
    [OP_MULTIANEWARRAY] = { BYTECODE_MEMBER, 0, 1 },
    [0xc6 ... 0xc7] = BRANCH(1, 0),          /* ifnull, ifnonnull */
    [0xc8] = { BYTECODE_BRANCH_WIDE, 0, 0 }, /* goto_w */
    [OP_JSR_W] = { BYTECODE_BRANCH_WIDE, 0, 1 },
};

bool bytecode_ends(uint8_t opcode)
{
    uint8_t kind = bytecodes[opcode].kind;
    return kind >= BYTECODE_TABLE || opcode == 0xa7 || opcode == 0xc8;
}

static struct cursor code_at(struct span code, size_t at)
{
    return at < code.n ? cursor_over(code.at + at, code.n - at) : cursor_over(code.at, 0);
}

/* Where a switch's operands begin: at the next multiple of four. */
static size_t switch_operands(size_t at)
{
    return (at + 4) & ~(size_t)3;
}

size_t bytecode_length(struct span code, size_t at)
{
    return at < code.n && bytecodes[code.at[at]].kind != BYTECODE_INVALID ? bytecodes_length(code.at, code.n, at) : 0;
}

uint16_t bytecode_local(const uint8_t *instruction)
{
    uint8_t opcode = instruction[0];
    if (opcode == OP_WIDE)
        return (uint16_t)(instruction[2] << 8 | instruction[3]);
    if (opcode >= OP_ILOAD_0 && opcode <= OP_ALOAD_3)
        return (opcode - OP_ILOAD_0) & 3;
    if (opcode >= OP_ISTORE_0 && opcode <= OP_ASTORE_3)
        return (opcode - OP_ISTORE_0) & 3;
    return instruction[1];
}

struct bytecode_targets bytecode_targets(struct span code, size_t at)
{
    size_t operands = switch_operands(at) - at;
    struct cursor c = code_at(code, at + operands);
    switch (bytecodes[code.at[at]].kind) {
    case BYTECODE_BRANCH:
        return (struct bytecode_targets){ .n = 1, .n_bytes = 2, .first = 1 };
    case BYTECODE_BRANCH_WIDE:
        return (struct bytecode_targets){ .n = 1, .n_bytes = 4, .first = 1 };
    case BYTECODE_TABLE:
        cursor_u32be(&c);
        uint32_t low = cursor_u32be(&c), n = cursor_u32be(&c) - low + 1;
        return (struct bytecode_targets){ n + 1, 4, operands, operands + 12, 4 };
    case BYTECODE_LOOKUP:
        cursor_u32be(&c);
        return (struct bytecode_targets){ cursor_u32be(&c) + 1, 4, operands, operands + 12, 8 };
    default:
        return (struct bytecode_targets){ .n = 0 };
    }
}

int64_t bytecode_target(struct span code, size_t at, const struct bytecode_targets *t, uint32_t i)
{
    struct cursor c = code_at(code, at + bytecode_target_at(t, i));
    if (t->n_bytes == 2)
        return (int64_t)at + (int16_t)cursor_u16be(&c);
    return (int64_t)at + (int32_t)cursor_u32be(&c);
}
