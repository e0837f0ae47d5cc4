/*
 * Which field or method an instruction of a method names: read from the constant pool of a running JVM, JDK 17 to 25.
 *
 * HotSpot rewrites the operands of instructions when it links a class: they are numbers of resolved fields and methods,
 * each of which knows its constant.
 */
#ifndef CORE_HOTSPOT_VM_MEMBERS_H
#define CORE_HOTSPOT_VM_MEMBERS_H

#include "core/hotspot/bytecodes.h"
#include "core/hotspot/vm_methods.h"

struct vm;

/* An instruction: its opcode as in class files, and what it names. */
struct vm_instruction {
    uint8_t opcode;
    char class_name[WIRE_TEXT_SHORT_BYTES], name[WIRE_TEXT_SHORT_BYTES], descriptor[WIRE_TEXT_SHORT_BYTES];
    size_t n_class_name, n_name, n_descriptor; /* 0: it names nothing, or that cannot be read */
};

/* The one at an index of the method with these parts.  Returns false when there is none. */
bool vm_instruction_read(struct vm *vm, struct vm_instruction *instruction, const struct vm_method_parts *parts,
                         uint32_t index);

/*
 * Likewise of one that makes an object: its class, or that of an array's elements, "int" of an array of int.  Returns
 * false when it makes none, or that cannot be read.
 */
bool vm_instruction_read_made(struct vm *vm, struct vm_instruction *instruction, const struct vm_method_parts *parts,
                              uint32_t index);

/*
 * Where the interpreter does the work of several instructions at once (fast_aaccess_0: that of aload_0 and getfield),
 * the index of the last one, which reads the heap; else the index itself.
 */
uint32_t vm_instruction_last(struct vm *vm, const struct vm_method_parts *parts, uint32_t index);

#endif
