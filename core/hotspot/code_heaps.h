/* HotSpot's code cache: where blocks of it begin. */
#ifndef CORE_HOTSPOT_CODE_HEAPS_H
#define CORE_HOTSPOT_CODE_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

struct vm;

/*
 * Where the contents of the block with an address begin, behind its header: a CodeBlob, if the block is in use; 0: it
 * is not known.
 */
uint64_t code_heaps_find(struct vm *vm, uint64_t address);

/* Blocks may have been made and freed from now on: what is asked for in between is as of one time in between. */
void code_heaps_round(struct vm *vm);

/* All blocks that are in use, in the same way; those that are made or freed meanwhile may be missed. */
typedef void code_block_fn(void *context, uint64_t address);

void code_heaps_walk(struct vm *vm, code_block_fn *fn, void *context);

/* The memory that is reserved for all heaps, from the lowest to the highest address; false: it is not known. */
bool code_heaps_range(struct vm *vm, uint64_t *low, uint64_t *high);

/* The interpreter's code, which is one block; likewise. */
bool code_heaps_interpreter(struct vm *vm, uint64_t *low, uint64_t *high);

#endif
