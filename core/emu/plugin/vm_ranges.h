/*
 * Whose the memory is that is not Java heap: stacks, code, metaspace, the card table, files, the C heap.
 */
#ifndef CORE_EMU_PLUGIN_VM_RANGES_H
#define CORE_EMU_PLUGIN_VM_RANGES_H

#include "core/emu/plugin/vm_metadata.h"
#include "core/trace/misses.h"

#define RANGE_PATH_BYTES 256

struct vm_range {
    uint64_t start, end;
    uint32_t path; /* where in paths; 0: none */
    enum miss_owner kind;
    bool is_program, is_data; /* what the program, a library has besides its code: it may go on behind the file's end */
};

struct vm_ranges {
    const struct vm_tables *tables; /* borrowed; NULL: no JVM */
    struct vm_range *maps;          /* mapped, as the others: sorted */
    char *paths;
    uint64_t *stacks; /* where the stacks of threads begin that the program has made */
    uint32_t n_maps, n_paths_bytes;
    uint64_t arena_end; /* of the one looked at last */
    _Atomic uint32_t n_stacks;
    uint64_t code_low, code_high, cards, cards_end, archive, archive_end;
};

/* Returns 0, or -1: no memory. */
int vm_ranges_open(struct vm_ranges *ranges);

/* The program makes a thread whose stack begins below an address.  Any thread may say so. */
void vm_ranges_add_stack(struct vm_ranges *ranges, uint64_t top);

/* What there is now. */
void vm_ranges_look(struct vm_ranges *ranges);

/* Whose an address is, after vm_ranges_look; *path: of a file. */
enum miss_owner vm_ranges_find(const struct vm_ranges *ranges, const struct vm_metadata *metadata, uint64_t address,
                               const char **path);

#endif
