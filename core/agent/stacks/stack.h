/* Which instrumented methods are on the calling thread's stack: in a probe's entry. */
#ifndef CORE_AGENT_STACK_H
#define CORE_AGENT_STACK_H

#include "core/agent/probe/open_calls.h"

open_calls_find_fn stack_find;

#endif
