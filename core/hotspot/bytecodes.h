/*
 * Java's instructions as they stand in a running JVM: those of class files, and those that HotSpot writes in their
 * place while it interprets them (fast_igetfield, ...) or archives classes (nofast_getfield, ...).  These have the
 * numbers of JDK 9 to 27, and then those that JDK 28 has besides; what is read of a JVM is renumbered
 * (vm_bytecodes_renumber).
 *
 * The JVM rewrites code while it is read: each instruction keeps the length of the one that it replaces, and what does
 * not decode ends a scan.  Where one does the work of several (fast_iaccess_0, fast_iload2), only the first of them is
 * replaced, and has its own length here: the others still follow.  Offsets of jumps are big-endian; the operands of
 * rewritten instructions are not.
 *
 * Source: The Java Virtual Machine Specification, chapter 6; HotSpot's bytecodes.hpp.
 */
#ifndef CORE_HOTSPOT_BYTECODES_H
#define CORE_HOTSPOT_BYTECODES_H

#include "core/base/std.h"

#define BYTECODES_MAX 65535u /* of a method, in bytes */

/* After PEBSI, Figure 6.1. */
enum opcode_kind {
    OPCODE_INVALID,
    OPCODE_CONSTANT,
    OPCODE_LOCAL_READ,
    OPCODE_LOCAL_WRITE,
    OPCODE_STACK,
    OPCODE_ARITHMETIC, /* conversions and comparisons, too */
    OPCODE_BRANCH,
    OPCODE_SWITCH,
    OPCODE_RETURN,
    OPCODE_THROW,
    OPCODE_FIELD_READ,
    OPCODE_FIELD_WRITE,
    OPCODE_STATIC_READ,
    OPCODE_STATIC_WRITE,
    OPCODE_ARRAY_READ,
    OPCODE_ARRAY_WRITE,
    OPCODE_ARRAY_LENGTH,
    OPCODE_TYPE_CHECK,
    OPCODE_ALLOCATION,
    OPCODE_MONITOR,
    OPCODE_CALL_VIRTUAL,
    OPCODE_CALL_SPECIAL,
    OPCODE_CALL_STATIC,
    OPCODE_CALL_INTERFACE,
    OPCODE_CALL_DYNAMIC, /* of method handles, too */
    OPCODE_WIDE,         /* a prefix */
    OPCODE_KINDS
};

struct opcode {
    const char *name; /* as HotSpot calls it; NULL: invalid */
    uint8_t kind;     /* enum opcode_kind */
    uint8_t n_bytes;  /* 0: depends on operands */
    uint8_t java;     /* the one of a class file that it stands for: often itself */
};

#define OPCODE_NEW 0xbbu /* of the allocations, the one that makes no array */

/* By code. */
extern const struct opcode opcodes[256];

/* "field read", ...: as a table calls it. */
const char *opcode_kind_name(enum opcode_kind kind);

static inline bool opcode_is_call(uint8_t code)
{
    return opcodes[code].kind >= OPCODE_CALL_VIRTUAL && opcodes[code].kind <= OPCODE_CALL_DYNAMIC;
}

/* The length of the instruction at an index of n bytes of code; 0: it is invalid, or passes their end. */
size_t bytecodes_length(const uint8_t *code, size_t n, size_t at);

/* The one at an index, which 'wide' is left out of; NULL: it is invalid. */
const struct opcode *bytecodes_at(const uint8_t *code, size_t n, size_t at);

struct bytecodes_summary {
    uint32_t n_instructions, n_calls;
    bool has_loop;    /* a jump to itself or to what is before it */
    bool has_calls;   /* invoke... */
    bool is_straight; /* no jump at all; exceptions do not count */
    bool is_whole;    /* else the code is damaged, or is being changed: all the rest is of what is in front of that */
};

/* Returns summary->is_whole. */
bool bytecodes_scan(const uint8_t *code, size_t n, struct bytecodes_summary *summary);

#endif
