/*
 * The part of the VM that a thread belongs to, told by the kernel's name of the thread (thesis §3.2.1, "Instrumenting
 * VM routines": most components run in threads of their own), and the sub-system of HotSpot that a function of
 * libjvm.so belongs to, told by its name (SA Figure 9: there by its place in the source tree).
 */
#ifndef SYMBOLIZE_VM_PARTS_H
#define SYMBOLIZE_VM_PARTS_H

#include "core/base/std.h"

enum vm_part {
    VM_PART_APPLICATION,
    VM_PART_GC,     /* garbage collector */
    VM_PART_C1,     /* the baseline compiler of HotSpot */
    VM_PART_C2,     /* the optimizing compiler */
    VM_PART_THREAD, /* the VM thread: safepoints, and under Serial the collections */
    VM_PART_OTHER,  /* the VM's and the class library's other service threads */
    VM_PART_MMPROF, /* mmprof's own agent thread */
    VM_PARTS
};

/*
 * comm    the kernel's thread name: at most 15 bytes, longer names are cut; borrowed.
 *
 * A name that no VM thread of OpenJDK 17 to 25 has, and the empty name, is the application's.
 */
enum vm_part vm_part_of(const char *comm);

/* "garbage collector", ... : as a row of a table calls it. */
const char *vm_part_name(enum vm_part part);

/* "gc", "c1", ... : as CSV and JSON call it. */
const char *vm_part_key(enum vm_part part);

/* ---- functions ---- */

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
