/*
 * The classes of the emulated JVM's objects: how long an object is, what its class and fields are called.
 */
#ifndef CORE_EMU_PLUGIN_VM_CLASSES_H
#define CORE_EMU_PLUGIN_VM_CLASSES_H

#include "core/emu/plugin/vm_memory.h"
#include "core/hotspot/vm_tables.h"

enum vm_shape {
    VM_NO_CLASS, /* the address is none of a class */
    VM_INSTANCE,
    VM_MIRROR, /* a java.lang.Class: static fields are behind its own */
    VM_CHUNK,  /* a virtual thread's stack: as long as that is */
    VM_ARRAY
};

struct vm_class {
    uint64_t klass; /* 0: an empty place in the table */
    uint64_t name;  /* its symbol: another one at the same address is another class */
    enum vm_shape shape;
    uint32_t n_bytes;    /* INSTANCE: of an object; ARRAY: in front of its elements; CHUNK: without the stack */
    uint32_t log2;       /* ARRAY: of an element's bytes */
    uint32_t chunk_size; /* CHUNK: where its length in words is */
};

struct vm_classes {
    const struct vm_tables *tables; /* borrowed */
    struct vm_table table;
    uint64_t narrow_base;
    uint32_t narrow_shift, mirror_bytes, mirror_klass;
    struct vm_class none; /* has no room in the table */
};

/* Returns 0, or -1: no memory. */
int vm_classes_open(struct vm_classes *classes, const struct vm_tables *tables);

/* Classes may have gone: each is looked at again before it is believed in. */
void vm_classes_forget(struct vm_classes *classes);

/* The class of an object whose header is there; shape VM_NO_CLASS: there is none. */
const struct vm_class *vm_class_of(struct vm_classes *classes, uint64_t object);

/* The bytes of an object of this class; 0: it makes no sense. */
uint64_t vm_object_bytes(const struct vm_classes *classes, const struct vm_class *class, uint64_t object);

/* A class' name, "java/lang/String" or "[I"; returns whether there is one. */
bool vm_class_name(const struct vm_tables *tables, uint64_t klass, char *text, size_t n);

/*
 * The name of the field at an offset: an instance's, or a static one, which is in the class' mirror.  false: not known.
 */
bool vm_field_name(const struct vm_tables *tables, uint64_t klass, uint32_t offset, bool is_static, char *text,
                   size_t n);

/* The class whose statics a java.lang.Class has; 0: a primitive's. */
uint64_t vm_mirrored(const struct vm_classes *classes, uint64_t object);

#endif
