/*
 * The sub-system of HotSpot that a function of libjvm.so belongs to, told by its name (SA Figure 9: there by its place
 * in the source tree, GC, memory, runtime, compiler, code, other).
 */
#ifndef SYMBOLIZE_VM_SUBSYSTEMS_H
#define SYMBOLIZE_VM_SUBSYSTEMS_H

#include <stdbool.h>

enum vm_subsystem {
    VM_GC,       /* collectors, barriers, allocation in the heap */
    VM_MEMORY,   /* metaspace, arenas, objects */
    VM_RUNTIME,  /* threads, locks, safepoints, exceptions, JNI, system calls, interpreter's run time */
    VM_COMPILER, /* C1, C2, JVMCI, profiles of methods */
    VM_CODE,     /* the code cache, dependencies, inline caches */
    VM_CLASSES,  /* loading, linking, verification; symbols and dictionaries */
    VM_OTHER,    /* JVMTI, flight recorder, monitoring; functions that no rule knows */
    VM_UNKNOWN,  /* no function's name is known there */
    VM_SUBSYSTEMS
};

/*
 * name      as native_symbols_display() makes it, "G1CollectedHeap::mem_allocate"
 * mangled   as the linker knows it: has the arguments of templates
 */
enum vm_subsystem vm_subsystem_of(const char *name, const char *mangled);

/* "garbage collection", ...; "gc", ...: as a row of a table, and as CSV and JSON call it. */
const char *vm_subsystem_name(enum vm_subsystem subsystem);
const char *vm_subsystem_key(enum vm_subsystem subsystem);

/* Is a file HotSpot (its path, or name)? */
bool vm_is_library(const char *path);

#endif
