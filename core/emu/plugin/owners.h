/*
 * Numbers for what misses are told by (owners of memory, cells, methods, bytecodes), and the log in which each is
 * described before it is named.
 */
#ifndef CORE_EMU_PLUGIN_OWNERS_H
#define CORE_EMU_PLUGIN_OWNERS_H

#include "core/emu/plugin/heap_walk.h"
#include "core/emu/plugin/vm_ranges.h"

#define OWNERS_NONE UINT32_MAX

/* The log. */
struct owners_log {
    int fd;         /* -1: none */
    uint8_t *bytes; /* mapped: not yet written */
    size_t n;
    uint64_t n_written;
    bool is_full;
};

struct owners {
    const struct vm_tables *tables; /* borrowed; NULL: none yet */
    struct owners_log log;
    struct vm_table names;
    uint32_t n_owners, n_cells, n_methods, n_bytecodes;
};

/* Returns 0, or -1: no memory. */
int owners_open(struct owners *owners, int fd);

/* Each returns a number, or OWNERS_NONE: there is no room. */
uint32_t owners_named(struct owners *owners, enum miss_owner kind, const char *name);
uint32_t owners_cell(struct owners *owners, uint32_t owner, enum miss_space space);
uint32_t owners_field(struct owners *owners, uint32_t owner, enum miss_space space, const struct vm_classes *classes,
                      const struct heap_object *object, uint64_t address);
uint32_t owners_method(struct owners *owners, const struct vm_bytecodes *code);
uint32_t owners_bytecode(struct owners *owners, const struct vm_method_parts *method, uint32_t index);

/* The owner of an object: its class, or the class whose static fields it has. */
uint32_t owners_of(struct owners *owners, const struct vm_classes *classes, const struct heap_object *object,
                   uint64_t address);

/* Append an entry; what is appended is written by owners_flush at the latest. */
void owners_log(struct owners *owners, const struct miss_entry *entry);
void owners_flush(struct owners *owners);

#endif
