/* HotSpot's code cache: where blocks of it begin. */
#ifndef CORE_HOTSPOT_CODE_HEAPS_H
#define CORE_HOTSPOT_CODE_HEAPS_H

#include <stdint.h>

/*
 * Where the contents of the block with an address begin, behind its header: a CodeBlob, if the block is in use; 0: it
 * is not known.
 */
uint64_t code_heaps_find(uint64_t address);

/* All blocks that are in use, in the same way; those that are made or freed meanwhile may be missed. */
void code_heaps_walk(void (*block)(uint64_t address));

#endif
