/* Methods: their names and code, how often they were called, what their instructions name, their profiles. */
#ifndef CORE_HOTSPOT_VM_METHODS_H
#define CORE_HOTSPOT_VM_METHODS_H

#include "core/hotspot/bytecodes.h"
#include "core/wire/code_log.h"

struct vm;

/* ---- vm_methods.c ---- */

/*
 * What a method is called, where its source is, and its line numbers: read from HotSpot's own structures by the
 * method's address.  JVMTI would make a jmethodID for it, which stays for ever.
 *
 * The class may be unloaded meanwhile: whoever asks, knows something that keeps it, and that it was there before and
 * after (nmethod_is_there).
 */

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

/* ---- vm_counts.c ---- */

/*
 * How often a method was called, and by which compiler its code was made: read from HotSpot's own structures by the
 * method's address, or by its jmethodID in the own process.
 */

#define VM_TIER_UNKNOWN UINT32_MAX

/* How often a method was called, at least: HotSpot counts calls until it compiles the method; 0: not known. */
uint32_t vm_method_calls(struct vm *vm, uint64_t method);

/* The tier of the code in which its calls begin (1 to 3: C1; 4: C2); 0: they are interpreted; VM_TIER_UNKNOWN. */
uint32_t vm_method_tier(struct vm *vm, uint64_t method);

/* The headers of the code in which the calls of n methods begin, by few system calls; 0: interpreted, or not known. */
void vm_methods_codes(struct vm *vm, const uint64_t *methods, size_t n, uint64_t *codes);

/*
 * Both by a jmethodID; its class is not unloaded meanwhile.  code_bytes: of its bytecode, as JVMTI tells it; where
 * the JVM's structures say otherwise, nothing is known.
 */
void vm_id_counts(struct vm *vm, const void *id, uint32_t code_bytes, uint32_t *calls, uint32_t *tier);

/* The tier of the compiled code whose header is at an address; VM_TIER_UNKNOWN. */
uint32_t vm_code_tier(struct vm *vm, uint64_t header);

/* ---- memory_operand.c ---- */

/* What compiled code reads or writes: at an offset from an object, and of an array's elements an index behind it. */
struct memory_operand {
    int32_t offset;
    bool has_index;
    uint8_t n_shift; /* of the index */
};

/* Of the first instruction (x86-64) of n bytes.  false: it has none, or one on the stack, or it is not known. */
bool memory_operand_read(const uint8_t *bytes, size_t n, struct memory_operand *operand);

/* ---- vm_members.c ---- */

/*
 * Which field or method an instruction of a method names: read from the constant pool of a running JVM.
 *
 * HotSpot rewrites the operands of instructions when it links a class: they are numbers of resolved fields and methods,
 * each of which knows its constant.
 */

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

/* The offset of the field that an instruction names, in an object or a mirror, once it was executed; 0: not known. */
uint32_t vm_instruction_offset(struct vm *vm, const struct vm_method_parts *parts, uint32_t index);

/* ---- vm_profile.c ---- */

/*
 * What the JVM counted in a method before its optimising compiler compiled it (MethodData): how often its calls were
 * reached, and of which classes their receivers were.  JDK 17 to 25.
 */

#define VM_RECEIVERS_MAX 2u /* of a call: TypeProfileWidth */

struct vm_receiver {
    uint64_t klass; /* a Klass' address */
    uint64_t n;
};

/* Of a call. */
struct vm_call_profile {
    uint32_t index; /* of its bytecode */
    uint64_t n;     /* how often it was reached while that was counted */
    bool is_virtual;
    uint32_t n_receivers;
    uint64_t n_others; /* of n: of classes that there is no room for */
    struct vm_receiver receivers[VM_RECEIVERS_MAX];
};

#define VM_TRAP_REASONS 48u /* and more */

/*
 * How often compiled code went back to the interpreter at a method's bytecodes ("uncommon traps"), where it is inlined,
 * too, by reason; and exceptions that the interpreter threw there, as null_check and the like.
 */
struct vm_traps {
    bool are_known;
    uint32_t n[VM_TRAP_REASONS];
};

/* What the JVM counts of a method since its start. */
struct vm_code_counts {
    bool is_known;
    uint32_t n_discarded; /* pieces of code that C2 made of it */
    struct vm_traps traps;
};

/* Does the JVM export them?  And those of the methods at n addresses, by few system calls. */
bool vm_code_counts_are_there(struct vm *vm);
void vm_code_counts_read(struct vm *vm, const uint64_t *methods, size_t n, struct vm_code_counts *counts);

struct vm_profile {
    uint8_t *bytes; /* owned */
    size_t n_bytes;
    size_t room;
    unsigned extra;               /* cells of a receiver's entry that only some JVMs have */
    struct vm_code_counts counts; /* known or not, whatever vm_profile_read returns */
};

/* "class_check"; NULL: not known. */
const char *vm_trap_reason(struct vm *vm, uint32_t number);

/*
 * Read that of the method at an address, which has n_code bytes of code; a profile is zero at first, and may be read
 * again.  Returns false: it has none, or it is not as it is known.
 */
bool vm_profile_read(struct vm *vm, struct vm_profile *profile, uint64_t method, uint32_t n_code);

/* Decode the same from a copy of its n bytes; profile->bytes is set.  For tests, and for the above. */
bool vm_profile_check(struct vm_profile *profile, uint32_t n_code);

/* Returns false: nothing was counted of a call there. */
bool vm_profile_call(const struct vm_profile *profile, uint32_t index, struct vm_call_profile *call);

/* The name of a receiver's class, "java/util/ArrayList", cut to n - 1 bytes; false: it is gone. */
bool vm_profile_class(struct vm *vm, const struct vm_receiver *receiver, char *text, size_t n);

void vm_profile_free(struct vm_profile *profile);

#endif
