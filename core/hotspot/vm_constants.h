/*
 * What the instructions of a method name: the method of a call, the class of an object that is made.  Read from the
 * class' constant pool, where the JVM has rewritten a call's operand (JDK 17 to 22: to an entry of the pool's cache;
 * JDK 25: to one of its list of methods).
 */
#ifndef CORE_HOTSPOT_VM_CONSTANTS_H
#define CORE_HOTSPOT_VM_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_NAME_BYTES 1024u /* of a longer one the end is left out */

/* "java/util/List", "get", "(I)Ljava/lang/Object;"; of a class only the first. */
struct vm_reference {
    char class_name[VM_NAME_BYTES], name[VM_NAME_BYTES], descriptor[VM_NAME_BYTES];
};

/*
 * The method that the call at an index of n bytes of code names; pool: its ConstantPool's address.  Returns false:
 * there is no call, or it names none (invokedynamic), or it cannot be read.
 */
bool vm_constants_call(uint64_t pool, const uint8_t *code, size_t n, size_t index, struct vm_reference *named);

/* The class of a 'new', or of an array's elements: "int" of an array of int. */
bool vm_constants_class(uint64_t pool, const uint8_t *code, size_t n, size_t index, struct vm_reference *named);

#endif
