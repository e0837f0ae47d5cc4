/*
 * Is what a JVM exports of its layout true of it?  Some of its compiled code is read, as samples need it, and has to
 * agree with itself; a release that nobody has seen, or a build with a field elsewhere, is refused instead of read
 * wrongly.
 */
#ifndef CORE_HOTSPOT_VM_CHECK_H
#define CORE_HOTSPOT_VM_CHECK_H

#include "core/base/err.h"

struct vm;

/*
 * Of a JVM whose stacks can be walked (stack_walker_open).  Returns 0: what was read
 * agrees, or there is no code yet; or -1 with *err set (reason and next step).
 */
int vm_check_code(struct vm *vm, struct err *err);

#endif
