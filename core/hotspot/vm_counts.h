/*
 * How often a method was called, and by which compiler its code was made: read from HotSpot's own structures by the
 * method's address, or by its jmethodID in the own process.
 */
#ifndef CORE_HOTSPOT_VM_COUNTS_H
#define CORE_HOTSPOT_VM_COUNTS_H

#include <stdint.h>

struct vm;

#define VM_TIER_UNKNOWN UINT32_MAX

/* How often a method was called, at least: HotSpot counts calls until it compiles the method; 0: not known. */
uint32_t vm_method_calls(struct vm *vm, uint64_t method);

/* The tier of the code in which its calls begin (1 to 3: C1; 4: C2); 0: they are interpreted; VM_TIER_UNKNOWN. */
uint32_t vm_method_tier(struct vm *vm, uint64_t method);

/*
 * Both by a jmethodID; its class is not unloaded meanwhile.  code_bytes: of its bytecode, as JVMTI tells it; where
 * the JVM's structures say otherwise, nothing is known.
 */
void vm_id_counts(struct vm *vm, const void *id, uint32_t code_bytes, uint32_t *calls, uint32_t *tier);

/* The tier of the compiled code whose header is at an address; VM_TIER_UNKNOWN. */
uint32_t vm_code_tier(struct vm *vm, uint64_t header);

#endif
