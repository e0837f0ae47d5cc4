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
    struct map by_label;
    const char **labels; /* owned; the texts are the arena's: by number, from BYTECODE_NAMES_FIRST on */
    uint32_t n_labels, labels_room;
    struct vm_instruction read; /* the last one */
};

/* arena: of the labels; borrowed.  To be freed by bytecode_names_free. */
void bytecode_names_open(struct bytecode_names *names, bool by_class, struct arena *arena);
void bytecode_names_free(struct bytecode_names *names);

/*
 * The number of what the instruction at an index of a method names, while the method is sure to be there: one of the
 * first two above, or a label's.  method: by the sampler's number.
 *
 * Returns false: no memory.
 */
bool bytecode_names_find(struct bytecode_names *names, uint32_t number, const struct sampled_method *method,
                         int32_t index, uint32_t *name);

/* "java.util.HashMap.table"; by class "java.util.HashMap"; of a number from BYTECODE_NAMES_FIRST on. */
const char *bytecode_names_label(const struct bytecode_names *names, uint32_t number);

/* Rows are "field"s ("" is the same) or "class"es; option: that says so.  Returns 0, or -1 with *err set. */
int fields_way(const char *text, const char *option, bool *by_class, struct err *err);

#endif
