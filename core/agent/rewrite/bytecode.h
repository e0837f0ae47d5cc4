/*
 * The instructions of class files: lengths, what they do to the stack, where they branch.
 *
 * Source: The Java Virtual Machine Specification, chapter 6.
 */
#ifndef CORE_AGENT_BYTECODE_H
#define CORE_AGENT_BYTECODE_H

#include "core/agent/rewrite/classfile.h"

enum {
    OP_SIPUSH = 0x11,
    OP_ILOAD = 0x15,
    OP_LLOAD = 0x16,
    OP_FLOAD = 0x17,
    OP_DLOAD = 0x18,
    OP_ALOAD = 0x19,
    OP_ILOAD_0 = 0x1a,
    OP_ALOAD_0 = 0x2a,
    OP_ALOAD_3 = 0x2d,
    OP_IALOAD = 0x2e,
    OP_ISTORE = 0x36,
    OP_ASTORE = 0x3a,
    OP_ISTORE_0 = 0x3b,
    OP_ASTORE_0 = 0x4b,
    OP_ASTORE_3 = 0x4e,
    OP_DUP = 0x59,
    OP_DUP2_X2 = 0x5e,
    OP_SWAP = 0x5f,
    OP_I2L = 0x85,
    OP_F2D = 0x8d,
    OP_JSR = 0xa8,
    OP_RET = 0xa9,
    OP_GETSTATIC = 0xb2,
    OP_PUTSTATIC = 0xb3,
    OP_GETFIELD = 0xb4,
    OP_PUTFIELD = 0xb5,
    OP_INVOKEVIRTUAL = 0xb6,
    OP_INVOKESPECIAL = 0xb7,
    OP_INVOKESTATIC = 0xb8,
    OP_INVOKEINTERFACE = 0xb9,
    OP_INVOKEDYNAMIC = 0xba,
    OP_ATHROW = 0xbf,
    OP_WIDE = 0xc4,
    OP_MULTIANEWARRAY = 0xc5,
    OP_JSR_W = 0xc9
};

enum bytecode_kind {
    BYTECODE_INVALID,
    BYTECODE_PLAIN,  /* goes on with the next instruction; pops and pushes say all about the stack */
    BYTECODE_LOCAL,  /* the same; its operand is a local variable (loads, stores, iinc) */
    BYTECODE_STACK,  /* dup and swap: moves what is there */
    BYTECODE_MEMBER, /* field access, call, multianewarray: its operands say what it pops and pushes */
    BYTECODE_BRANCH, /* 16 bits */
    BYTECODE_BRANCH_WIDE,
    BYTECODE_TABLE,
    BYTECODE_LOOKUP,
    BYTECODE_RETURN,
    BYTECODE_THROW,
    BYTECODE_RET
};

struct bytecode {
    uint8_t kind;
    uint8_t pops, pushes;
};

/* By opcode; those that class files may not hold are invalid. */
extern const struct bytecode bytecodes[256];

/* Whether the next instruction is never reached from this one. */
bool bytecode_ends(uint8_t opcode);

/* The length of the instruction at an offset, or 0 when it is invalid or passes the end of the code. */
size_t bytecode_length(struct span code, size_t at);

/* The index of the local variable that a BYTECODE_LOCAL instruction, or such a one behind 'wide', refers to. */
uint16_t bytecode_local(const uint8_t *instruction);

/* The branch offsets within an instruction, relative to its first byte; a switch's first is its default. */
struct bytecode_targets {
    uint32_t n;
    uint8_t n_bytes; /* of each: 2 or 4 */
    size_t first;    /* where the first one stands */
    size_t second, stride;
};

/* at must be a valid instruction (bytecode_length > 0); n is 0 when it does not branch. */
struct bytecode_targets bytecode_targets(struct span code, size_t at);

static inline size_t bytecode_target_at(const struct bytecode_targets *t, uint32_t i)
{
    return i == 0 ? t->first : t->second + (i - 1) * t->stride;
}

/* The i-th target, an offset in the code; out of the code when the class file is bad. */
int64_t bytecode_target(struct span code, size_t at, const struct bytecode_targets *t, uint32_t i);

#endif
