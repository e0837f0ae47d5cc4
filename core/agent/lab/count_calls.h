/*
 * The agent that counts calls, for 'mmprof jit --calls': of about one in so many calls in the bytecode, what is called,
 * the call site, and the call sites around that, as many as the compilers may inline.  The JVM only interprets (-Xint).
 *
 * The file is text, a line each, with words as core/base/words.h has them:
 *
 *     mmprof-calls 1
 *     called CLASS METHOD DESCRIPTOR
 *     ...
 *     site CLASS METHOD DESCRIPTOR BYTECODE LINE ORDINAL
 *     ...
 *     stack CALLS CALLED SITE1 SITE2 ...
 *     ...
 *     end CALLS-SEEN CALLS-TAKEN
 *
 * Methods that are called, and sites, are numbered from 1 on by their lines, and a stack has the numbers, from the call
 * outwards, up to COUNT_CALLS_DEPTH; 0: not known.  ORDINAL: which of the calls in the method's bytecode it is, from 0
 * on; -1: it is none, as in native code.
 */
#ifndef CORE_AGENT_LAB_COUNT_CALLS_H
#define CORE_AGENT_LAB_COUNT_CALLS_H

#include <jvmti.h>
#include <stdint.h>

#define COUNT_CALLS_DEPTH 16 /* MaxInlineLevel is 15 */

/* At the JVM's start; path as count_objects_start has it.  interval: of calls, 1: all. */
void count_calls_start(JavaVM *vm, const char *path, uint32_t interval);

#endif
