/*
 * The structures of another process' JVM: where its libjvm.so is, and what that exports.  Nothing is loaded into the
 * process, and nothing in it is changed or stopped.
 */
#ifndef CORE_HOTSPOT_VM_PROCESS_H
#define CORE_HOTSPOT_VM_PROCESS_H

#include "core/base/err.h"

#include <sys/types.h>

/*
 * Have vm_fields.h, nmethod.h, vm_methods.h and stack_walk.h read this process from now on.  Once in a process.
 *
 * Returns 0, or -1 with *err set (reason and next step): no such process, no HotSpot JVM, its memory may not be read.
 */
int vm_process_open(pid_t pid, struct err *err);

/* Of the one that was opened. */
pid_t vm_process_pid(void);

/* The JVM's memory is read no more; does nothing where none was opened. */
void vm_process_close(void);

#endif
