/* What the JVM's compiler threads are at, read from HotSpot's own structures; JDK 17 and 25. */
#ifndef CORE_AGENT_VM_COMPILERS_H
#define CORE_AGENT_VM_COMPILERS_H

#include <stdint.h>
#include <sys/types.h>

/* The JVM's own structure of a thread, by the system's number; 0: not known. */
uint64_t vm_compiler_find(pid_t tid);

/* The number of the compilation that it does; 0: none, or not known. */
uint32_t vm_compiler_number(uint64_t compiler);

#endif
