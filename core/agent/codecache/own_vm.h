/* The JVM that the agent is in, for core/hotspot. */
#ifndef CORE_AGENT_CODECACHE_OWN_VM_H
#define CORE_AGENT_CODECACHE_OWN_VM_H

struct vm;

/* Always the same one; it is never closed. */
struct vm *own_vm(void);

#endif
