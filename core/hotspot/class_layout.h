/*
 * Where a class of the JVM that is read has its name and its fields: JDK 8 to 28.
 */
#ifndef CORE_HOTSPOT_CLASS_LAYOUT_H
#define CORE_HOTSPOT_CLASS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

/* Offsets in a Klass, in a Symbol; addresses of what narrow pointers to classes are made of; VM_NONE: not known. */
struct class_layout {
    uint64_t name, super, constants;
    uint64_t fields, n_fields; /* JDK 8 to 17 */
    uint64_t field_stream;     /* JDK 21 and later */
    uint64_t symbol_length, symbol_body;
    uint64_t pool_bytes; /* of a ConstantPool without its elements */
    uint64_t narrow_base, narrow_shift;
    uint32_t field_more; /* flags in the stream that announce another number */
};

struct class_field {
    uint32_t name; /* in the class' constant pool */
    uint32_t offset;
    bool is_static;
};

void class_layout_find(struct vm *vm, struct class_layout *layout);

/* A symbol's text, cut to n - 1 bytes.  Returns the length of the whole; 0: it is none. */
size_t class_symbol_text(struct vm *vm, const struct class_layout *layout, uint64_t symbol, char *text, size_t n);

/* "java/lang/String", likewise. */
size_t class_name_text(struct vm *vm, const struct class_layout *layout, uint64_t klass, char *text, size_t n);

/* The name of a field, likewise. */
size_t class_field_text(struct vm *vm, const struct class_layout *layout, uint64_t klass, uint32_t name, char *text,
                        size_t n);

/* The first field of a class, not of its superclasses, that is_it says yes to.  Returns whether there is one. */
typedef bool class_field_check(const struct class_field *field, void *context);

bool class_field_find(struct vm *vm, const struct class_layout *layout, uint64_t klass, class_field_check *is_it,
                      void *context, struct class_field *field);

#endif
