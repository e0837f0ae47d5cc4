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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
