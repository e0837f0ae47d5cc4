/*
 * How much methods allocate with all that they call: bytes per second, for the table of phases.
 */
#ifndef REPORT_VIEW_ALLOCATED_H
#define REPORT_VIEW_ALLOCATED_H

#include "core/base/method_name.h"

struct allocated; /* the arena's */
struct view_pass;

/*
 * From the allocations of a pass (VIEW_PASS_ALLOCATIONS).  NULL: there are none, or no memory.
 */
const struct allocated *allocated_find(const struct view_pass *pass);

/* Of a method by its name; 0: no sample was in it.  And of all. */
double allocated_per_s(const struct allocated *allocated, const struct method_name *name);
double allocated_all_per_s(const struct allocated *allocated);

#endif
