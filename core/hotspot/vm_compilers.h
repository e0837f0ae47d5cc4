/* What the JVM's compiler threads are at, read from HotSpot's own structures; JDK 17 and 25. */
#ifndef CORE_HOTSPOT_VM_COMPILERS_H
#define CORE_HOTSPOT_VM_COMPILERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct vm;

/* The JVM's own structure of a thread, by the system's number; 0: not known. */
uint64_t vm_compiler_find(struct vm *vm, pid_t tid);

/* The system's number of a thread, by the JVM's own structure of it; 0: not known. */
pid_t vm_thread_tid(struct vm *vm, uint64_t thread);

/* What a compiler is at. */
struct vm_compilation {
    uint32_t number;  /* 0: nothing, or not known */
    uint32_t n_bytes; /* of the method's bytecode, without what is inlined; 0: not known */
    bool is_of_loop;  /* code that is entered in a loop (OSR) */
};

struct vm_compilation vm_compiler_read(struct vm *vm, uint64_t compiler);

#endif
