/*
 * Which fields, or classes, the instructions name in which samples of stacks are: read from the running JVM, once for
 * each instruction.
 */
#ifndef REPORT_VIEW_BYTECODE_NAMES_H
#define REPORT_VIEW_BYTECODE_NAMES_H

#include "core/base/map.h"
#include "core/hotspot/vm_methods.h"
#include "core/recorder/stack_sampler.h"

enum { BYTECODE_NAMES_NOTHING, BYTECODE_NAMES_UNKNOWN, BYTECODE_NAMES_FIRST };

struct bytecode_names {
    bool by_class;
    struct hash_set by_place; /* by method and index: the number */
    struct hash_set by_pc;    /* likewise by the address of an instruction of compiled code */
    struct map by_label;
    const char **labels; /* owned; the texts are the arena's: by number, from BYTECODE_NAMES_FIRST on */
    uint32_t n_labels, labels_room;
    struct vm_instruction read; /* the last one */
    /* Samples in compiled code; at an instruction that reads or writes behind an object's header; that name a field. */
    uint64_t n_compiled, n_operands, n_named;
};

/* arena: of the labels; borrowed.  To be freed by bytecode_names_free. */
void bytecode_names_open(struct bytecode_names *names, bool by_class, struct arena *arena);
void bytecode_names_free(struct bytecode_names *names);

/*
 * The number of what the instruction at an index of a method names, while the method is sure to be there: one of the
 * first two above, or a label's.  method: by the sampler's number.
 */
void bytecode_names_find(struct bytecode_names *names, uint32_t number, const struct sampled_method *method,
                         int32_t index, uint32_t *name);

/*
 * Likewise what the machine instruction of a sample in compiled code reads or writes: the one field that the methods
 * there name with its offset, or an array's elements, where they are of one type.  Where it is none or several, *name
 * stays.  x86-64.
 */
void bytecode_names_operand(struct bytecode_names *names, const struct stack_sample *sample, uint32_t innermost,
                            uint32_t *name);

/* "java.util.HashMap.table"; by class "java.util.HashMap"; of a number from BYTECODE_NAMES_FIRST on. */
const char *bytecode_names_label(const struct bytecode_names *names, uint32_t number);

/* Rows are "field"s ("" is the same) or "class"es; option: that says so.  Returns 0, or -1 with *err set. */
int fields_way(const char *text, const char *option, bool *by_class, struct err *err);

#endif
