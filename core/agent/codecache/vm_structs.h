/*
 * What HotSpot's own structures tell of it, read in place.
 */
#ifndef CORE_AGENT_VM_STRUCTS_H
#define CORE_AGENT_VM_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tier that made a compiled method's code (1 to 3: C1; 4: C2), which is in use now; 0: not known. */
uint32_t vm_structs_tier(const void *code);

/*
 * How often a method was called, at least: HotSpot counts calls until it compiles the method; 0: not known.
 *
 * id          its jmethodID; its class is not unloaded meanwhile
 * code_bytes  of its bytecode, as JVMTI tells it
 */
uint32_t vm_structs_calls(const void *id, uint32_t code_bytes);

/* The tier of the code in which calls of a method begin: vm_counts.h. */
uint32_t vm_structs_code_tier(const void *id, uint32_t code_bytes);

/* Whether a flag of the JVM is true since its start, because somebody said so; false where it is not known. */
bool vm_structs_asked_for(const char *flag);

/* The value of a flag that is a text, cut at n - 1 bytes; false: it has none, or it is not known. */
bool vm_structs_flag_text(const char *flag, char *text, size_t n);

#endif
