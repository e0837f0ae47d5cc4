/*
 * What HotSpot's own structures tell of it, read in place.
 */
#ifndef CORE_AGENT_VM_STRUCTS_H
#define CORE_AGENT_VM_STRUCTS_H

#include <stdint.h>

/*
 * The tier that made a compiled method's code (1 to 3: C1; 4: C2), which is in use now; 0: not known.  Not for several
 * threads at a time.
 */
uint32_t vm_structs_tier(const void *code);

#endif
