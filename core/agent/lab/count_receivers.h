/*
 * The agent that counts receivers of calls, for 'mmprof jit --receivers': of about one in so many calls of a virtual
 * method or one of an interface, the class of its receiver, the call site, and the three call sites around that.  For a
 * JVM that only interprets (-Xint): there each call in the bytecode is one, and tells of itself (JVMTI's MethodEntry).
 *
 * The file is text, a line each, with words as core/base/words.h has them:
 *
 *     mmprof-receivers 1
 *     CALLS RECEIVER CALLED DESCRIPTOR CLASS METHOD DESCRIPTOR BYTECODE LINE CONTEXT1 CONTEXT2 CONTEXT3
 *     ...
 *     end CALLS-SEEN CALLS-TAKEN
 *
 * CALLED is the method that was called, by its name; CLASS to LINE are of the call site.  A CONTEXT is the number of
 * the call site that called METHOD (1), that called that one (2), and so on; 0: there is none.
 */
#ifndef CORE_AGENT_LAB_COUNT_RECEIVERS_H
#define CORE_AGENT_LAB_COUNT_RECEIVERS_H

#include <jvmti.h>
#include <stdint.h>

/* At the JVM's start; path as count_objects_start has it.  interval: of calls, 1: all. */
void count_receivers_start(JavaVM *vm, const char *path, uint32_t interval);

#endif
