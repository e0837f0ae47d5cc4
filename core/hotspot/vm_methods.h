/*
 * What a method is called, where its source is, and its line numbers: read from HotSpot's own structures by the
 * method's address.  JVMTI would make a jmethodID for it, which stays for ever.
 *
 * The class may be unloaded meanwhile: whoever asks, knows something that keeps it, and that it was there before and
 * after (nmethod_is_there).
 */
#ifndef CORE_HOTSPOT_VM_METHODS_H
#define CORE_HOTSPOT_VM_METHODS_H

#include "core/wire/code_log.h"

struct vm;

/* Of a method's code. */
struct vm_code {
    uint32_t n_bytes; /* 0: it has none */
    bool is_native, is_abstract;
    bool is_hidden; /* its class is: no class file of it can be had, and it cannot be changed */
};

struct vm_method {
    char class_name[WIRE_TEXT_SHORT_BYTES], name[WIRE_TEXT_SHORT_BYTES], descriptor[WIRE_TEXT_SHORT_BYTES],
        source[WIRE_TEXT_SHORT_BYTES];
    size_t n_class_name, n_name, n_descriptor, n_source; /* of longer ones, the end is left out */
    struct code_line lines[CODE_LINES_MAX];
    uint32_t n_lines;
    struct vm_code code;
    uint64_t loader; /* tells class loaders apart, as long as they live; 0: not known */
};

/* Why none can be read in this JVM; NULL: they can. */
const char *vm_methods_why_not(struct vm *vm);

/* Where in the JVM a method's parts are. */
struct vm_method_parts {
    uint64_t code;           /* its bytecodes */
    uint64_t constant, pool; /* its ConstMethod and ConstantPool */
    uint32_t n_code;         /* of these; 0: it has none */
    uint32_t n_bytes;        /* of the ConstMethod and what is behind it: bytecodes, line numbers */
    uint32_t name, descriptor;
};

/*
 * What tells the method at each address from any other that is there later, when its class has been unloaded: where its
 * parts are, and what is in front of them; 0: there is none.  parts: of each, or NULL.
 */
void vm_methods_keys(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *keys, struct vm_method_parts *parts);

/* A bytecode's number in this JVM, and those of all instructions of n bytes of code, as the table 'opcodes' has them.
 */
uint8_t vm_bytecode(struct vm *vm, uint8_t number);
void vm_bytecodes_renumber(struct vm *vm, uint8_t *code, size_t n);

/*
 * Read the one with an address; code: its bytecodes as they are now, renumbered, parts->n_code of them (BYTECODES_MAX
 * are enough), or NULL.  Returns false when there is none.
 */
bool vm_method_read(struct vm *vm, struct vm_method *method, uint64_t address);
bool vm_method_read_parts(struct vm *vm, struct vm_method *method, uint64_t address,
                          const struct vm_method_parts *parts, uint8_t *code);

/* The source line of the bytecode at an address of the method with these parts; 0: not known. */
uint32_t vm_method_line(struct vm *vm, const struct vm_method_parts *parts, uint64_t bytecode);

/* Is it the method with this name in a class, "java/lang/Object"? */
bool vm_method_is(struct vm *vm, uint64_t address, const char *class_name, const char *name);

/* The entry of a code log that describes it; it points into *method. */
struct code_entry vm_method_entry(const struct vm_method *method, uint32_t number);

/*
 * Which of what compiled code refers to are Methods: pools[i] is the address of the ConstantPool of the one at
 * addresses[i], 0 if there is none.  They are told by their virtual tables, of which there are two (those of the
 * archive of shared classes have one of their own): which they are is to be learnt from some that are Methods for sure,
 * and true says that one of these had a new one.  Neither is thread-safe.
 */
bool vm_methods_learn(struct vm *vm, const uint64_t *methods, size_t n);
void vm_methods_pools(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *pools);

/* In place of each ConstantPool (0: none): the Symbol that is the name of the class that it is of; 0: there is none. */
void vm_methods_names(struct vm *vm, uint64_t *pools, size_t n);

/* A class's name by its Symbol, as vm_method_read has it, WIRE_TEXT_SHORT_BYTES; false: there is none. */
bool vm_methods_class(struct vm *vm, uint64_t symbol, char *name, size_t *n);

#endif
