/*
 * The emulated JVM's metaspace: which parts of memory it is in, and which method a bytecode belongs to.
 *
 * HotSpot does not tell where its metaspace is, but takes it from the system in aligned blocks of 4 MB or a multiple
 * (JDK 16 and later): one in which a class, a constant pool or a method is, is metaspace.  All classes of all loaders
 * are gone through.
 */
#ifndef CORE_PLUGIN_VM_METADATA_H
#define CORE_PLUGIN_VM_METADATA_H

#include "core/emu/plugin/vm_classes.h"

struct vm_bytecodes {              /* of a method: its bytecodes */
    uint64_t start, klass, method; /* method: its ConstMethod */
    uint32_t n_bytes;
};

struct vm_metadata {
    const struct vm_tables *tables; /* borrowed */
    uint64_t *blocks;               /* mapped: open addressing; 0: none */
    struct vm_bytecodes *codes;     /* mapped, sorted */
    uint32_t n_codes;
};

/* Returns 0, or -1: no memory. */
int vm_metadata_open(struct vm_metadata *metadata, const struct vm_tables *tables);

/* Go through all that there is now. */
void vm_metadata_look(struct vm_metadata *metadata);

/* In memory that is no file's: is it metaspace? */
bool vm_metadata_has(const struct vm_metadata *metadata, uint64_t address);

/* The method whose bytecodes an address is in, or NULL. */
const struct vm_bytecodes *vm_metadata_code(const struct vm_metadata *metadata, uint64_t address);

/* The source line of one of a method's bytecodes; 0: not known. */
uint32_t vm_code_line(const struct vm_tables *tables, const struct vm_bytecodes *code, uint64_t address);

enum vm_code_text { VM_CODE_NAME, VM_CODE_DESCRIPTOR, VM_CODE_SOURCE };

/* A method's name, descriptor, or source file; returns whether it is known. */
bool vm_code_text(const struct vm_tables *tables, const struct vm_bytecodes *code, enum vm_code_text which, char *text,
                  size_t n);

#endif
