/*
 * Looking misses up: which method, line and bytecode, and whose memory.  What is found is added up (sim_sums.h).
 *
 * One thread at a time, which sees to it that no object moves meanwhile, but in a collection (is_moving).  A young one
 * copies objects: where they were they are found while it runs, by how the heap was divided before; where they are
 * copied to, when it has ended, or a full one begins, as it may behind a young one, in the same pause.  In a full
 * collection objects are not looked for.
 */
#ifndef CORE_EMU_PLUGIN_SIM_LOOKUP_H
#define CORE_EMU_PLUGIN_SIM_LOOKUP_H

#include "core/emu/plugin/sim_bytecodes.h"
#include "core/emu/plugin/sim_sums.h"

#define SIM_ACCESSES_DRAWN 4096u /* one of so many, on average */

/* Or an access that was drawn, whether it missed or not: its counts are 0. */
struct sim_miss {
    uint64_t address, where; /* where: of the instruction, or of the bytecode that is interpreted */
    uint8_t counts[3];       /* accesses that missed: enum miss_count */
    uint8_t weight;          /* log2 */
    bool is_access, is_interpreted;
};

struct sim_lookup {
    struct owners owners;
    struct vm_tables tables;
    struct vm_classes classes;
    struct heap_walk heap;
    struct vm_metadata metadata;
    struct vm_ranges ranges;
    struct sim_sums sums;
    struct sim_bytecodes bytecodes;
    const char *why; /* the heap cannot be looked into */
    bool has_heap, has_maps;
    bool is_moving;                                        /* objects are, in a collection */
    bool is_full;                                          /* which is a full one, or it is not known whether it is */
    uint64_t full_at;                                      /* if not: where full collections are counted, */
    uint32_t n_full;                                       /* and how many there were before */
    uint64_t interpreter, interpreter_end, code, code_end; /* code: all that the JVM made */
};

/* fd: of the log.  Returns 0, or -1: no memory. */
int sim_lookup_open(struct sim_lookup *lookup, struct sim_slots *slots, int fd);

/* Where HotSpot's tables are: SIM_N_SYMBOLS addresses. */
void sim_lookup_tables(struct sim_lookup *lookup, const uint64_t *symbols);

/* What there is now, before misses are looked up. */
void sim_lookup_begin(struct sim_lookup *lookup);

/* Returns false when it may be found later, which must not be with is_last: it is not added up then. */
bool sim_lookup_miss(struct sim_lookup *lookup, const struct sim_miss *miss, uint32_t thread, bool is_last);

/* The cell of the class or other owner whose memory an address is, or OWNERS_NONE; not in a collection. */
uint32_t sim_lookup_memory(struct sim_lookup *lookup, uint64_t address);

/* Objects are about to move, within their spaces or not; they have moved, and classes may have gone. */
void sim_lookup_move(struct sim_lookup *lookup, bool is_full);
void sim_lookup_moved(struct sim_lookup *lookup);

/* They moved as a young collection moves them, and a full one has begun. */
static inline bool sim_lookup_full_has_begun(const struct sim_lookup *lookup)
{
    return lookup->is_moving && !lookup->is_full && vm_known_u32(lookup->full_at) != lookup->n_full;
}

#endif
