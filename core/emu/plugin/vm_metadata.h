/*
 * The emulated JVM's metaspace: which parts of memory it is in, and which method a bytecode belongs to.
 *
 * HotSpot does not tell where its metaspace is, but takes it from the system in aligned blocks of 4 MB or a multiple
 * (JDK 16 and later): one in which a class, a constant pool or a method is, is metaspace.  All classes of all loaders
 * are gone through.
 */
#ifndef CORE_EMU_PLUGIN_VM_METADATA_H
#define CORE_EMU_PLUGIN_VM_METADATA_H

#include "core/emu/plugin/vm_classes.h"
#include "core/hotspot/vm_methods.h"

/* A method's bytecodes, whose address comes first. */
struct vm_bytecodes {
    struct vm_method_parts parts;
    uint64_t klass, method;
};

struct vm_metadata {
    const struct vm_tables *tables; /* borrowed */
    uint64_t *blocks;               /* mapped: a bit for each of the address space */
    struct vm_bytecodes *codes;     /* mapped, sorted */
    uint32_t n_codes;
    uint64_t next_look_ns; /* of CPU time */
};

/* A zeroed one has nothing.  Returns 0, or -1: no memory. */
int vm_metadata_open(struct vm_metadata *metadata, const struct vm_tables *tables);

/* Go through all that there is now, unless that was done not long ago. */
void vm_metadata_look(struct vm_metadata *metadata);

/* In memory that is no file's: is it metaspace? */
bool vm_metadata_has(const struct vm_metadata *metadata, uint64_t address);

/* The method whose bytecodes an address is in, which may be new; or NULL. */
const struct vm_bytecodes *vm_metadata_code(struct vm_metadata *metadata, uint64_t address);

#endif
