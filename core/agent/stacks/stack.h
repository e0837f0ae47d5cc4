/* Which instrumented methods are on the calling thread's stack: in a probe's entry. */
#ifndef CORE_AGENT_STACK_H
#define CORE_AGENT_STACK_H

#include "core/agent/probe/open_calls.h"

#include <stdbool.h>
#include <stddef.h>

open_calls_find_fn stack_find;

/* Are there so many bytes left of the calling thread's own stack, for functions of the JVM? */
bool stack_has_room(size_t n_bytes);

#endif
