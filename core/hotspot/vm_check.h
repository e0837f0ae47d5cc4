/*
 * Is what a JVM exports of its layout true of it?  Some of its compiled code and the stacks of its waiting threads are
 * read, as samples need it, and have to agree with each other; a release that nobody has seen, or a build with a field
 * elsewhere, is refused instead of read wrongly.
 */
#ifndef CORE_HOTSPOT_VM_CHECK_H
#define CORE_HOTSPOT_VM_CHECK_H

#include "core/base/err.h"

struct stack_walker;

/*
 * Of the JVM that the walker is of.  Returns 0: what was read agrees, as far as there is code already; or -1 with *err
 * set (which check failed, and the next step).
 */
int vm_check_stacks(struct stack_walker *walker, struct err *err);

#endif
