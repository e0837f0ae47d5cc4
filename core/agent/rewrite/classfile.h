/*
 * A class file as spans of its bytes: where the constants, the methods and the attributes are.
 *
 * Everything is borrowed from the class file; only the index of the constant pool is allocated.  The bytes are
 * untrusted: a reference is checked where it is followed, and a bad one gives an empty span.
 *
 * Source: The Java Virtual Machine Specification, chapter 4.
 */
#ifndef CORE_AGENT_CLASSFILE_H
#define CORE_AGENT_CLASSFILE_H

#include "core/base/bytes.h"
#include "core/base/err.h"

/* ---- classfile ---- */

/* Class files with StackMapTable frames begin here (Java 6). */
#define CLASSFILE_MAJOR_FRAMES 50

enum { ACC_STATIC = 0x0008, ACC_NATIVE = 0x0100, ACC_ABSTRACT = 0x0400 };

enum {
    CONSTANT_UTF8 = 1,
    CONSTANT_FLOAT = 4,
    CONSTANT_LONG = 5,
    CONSTANT_DOUBLE = 6,
    CONSTANT_CLASS = 7,
    CONSTANT_FIELD = 9,
    CONSTANT_METHOD = 10,
    CONSTANT_INTERFACE = 11,
    CONSTANT_NAME_AND_TYPE = 12,
    CONSTANT_INVOKE_DYNAMIC = 18
};

struct span {
    const uint8_t *at; /* borrowed */
    size_t n;
};

struct classfile {
    struct span bytes;    /* borrowed */
    uint16_t major;       /* version */
    uint16_t n_constants; /* as in the file: one more than the last index */
    uint32_t *constants;  /* owned; offset of each constant's tag, 0 where an index has none */
    size_t pool_end;      /* offset of the access flags */
    uint16_t this_class;  /* index of a class constant */
    uint16_t super_class; /* the same; 0: there is none */
    size_t methods;       /* offset of the number of methods */
    size_t methods_end;   /* offset of the number of class attributes */
};

struct classfile_attribute {
    uint16_t name_index;
    struct span name; /* empty when its index is bad */
    struct span body;
};

struct classfile_method {
    struct span whole; /* the method_info */
    struct span head;  /* access flags, name and descriptor, as in the file */
    uint16_t access_flags;
    struct span name, descriptor;
    uint16_t n_attributes;
    struct span attributes;
};

struct classfile_code {
    uint16_t max_stack, max_locals;
    struct span bytes;    /* 1 to 65535 of them */
    struct span handlers; /* 8 bytes each */
    uint16_t n_handlers;
    uint16_t n_attributes;
    struct span attributes;
};

/*
 * Index a class file and walk over all of it once.
 *
 * file      filled; free it with classfile_free also after a failure.
 * bytes     borrowed as long as *file is used.
 *
 * Returns 0, or -1 with *err set when this is no well-formed class file or there is no memory.
 */
int classfile_open(struct classfile *file, const uint8_t *bytes, size_t n_bytes, struct err *err);
void classfile_free(struct classfile *file);

/* A cursor over n bytes of a span. */
static inline struct cursor span_cursor(struct span span)
{
    return cursor_over(span.at, span.n);
}

bool span_is(struct span span, const char *text);

/* The length of the constant that begins at the cursor, tag included; 0 when its tag is unknown or it is cut off. */
size_t classfile_constant_bytes(struct cursor at);

/* Is there a NaN among the constants of a class file?  One that is damaged has none behind the damage. */
bool classfile_has_nan(const uint8_t *bytes, size_t n_bytes);

/* The name of a class constant, or an empty span with at == NULL. */
struct span classfile_class_name(const struct classfile *file, uint16_t index);

/* Name and descriptor that a field, method, interface method or invokedynamic constant refers to. */
bool classfile_member(const struct classfile *file, uint16_t index, struct span *name, struct span *descriptor);

/* The SourceFile attribute, or an empty span. */
struct span classfile_source(const struct classfile *file);

/* The next of the attributes under the cursor; false at the end and when it is cut off (the cursor is bad then). */
bool classfile_next_attribute(const struct classfile *file, struct cursor *at, struct classfile_attribute *out);

/* The method_info at the cursor.  Returns 0, or -1 with *err set. */
int classfile_next_method(const struct classfile *file, struct cursor *at, struct classfile_method *out,
                          struct err *err);

/* The method's Code attribute.  Returns 1, 0 when it has none, or -1 with *err set. */
int classfile_code(const struct classfile *file, const struct classfile_method *method, struct classfile_code *out,
                   struct err *err);

/*
 * Stack slots of a method descriptor's arguments (without 'this') and of its result; of a field's descriptor, the
 * slots of its value in *result.  Returns false when it is malformed or passes 255 slots.
 */
bool classfile_method_slots(struct span descriptor, unsigned *arguments, unsigned *result);
bool classfile_field_slots(struct span descriptor, unsigned *result);

/* The length of the one field descriptor that begins at the cursor, or 0. */
size_t classfile_type_bytes(struct cursor at);

/* ---- bytecode ---- */

/*
 * The instructions of class files: lengths, what they do to the stack, where they branch.
 *
 * Source: The Java Virtual Machine Specification, chapter 6.
 */

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
