/*
 * The part of the VM that a thread belongs to, told by the kernel's name of the thread (thesis §3.2.1, "Instrumenting
 * VM routines": most components run in threads of their own).
 */
#ifndef SYMBOLIZE_VM_PARTS_H
#define SYMBOLIZE_VM_PARTS_H

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

#endif
