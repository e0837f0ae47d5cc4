/*
 * The agent that counts objects: all that the JVM creates from its start of main to its end, by class and by where they
 * are created, for 'mmprof jit'.  It changes no code, and compiled code is what it is without: the JVM makes the
 * objects that the code has, but slowly.  In a JVM that only interprets (-Xint) each allocation in the bytecode that is
 * executed makes one.
 *
 * C2 makes some methods' objects in their callers' names, where their code is its own (intrinsics): such as those of
 * Arrays.copyOf.  These count for the first caller that is none of them, compiled or not.
 *
 * The file is text, a line each, with words as core/base/words.h has them:
 *
 *     mmprof-objects 1
 *     OBJECTS BYTES CLASS CLASS-OF-METHOD METHOD DESCRIPTOR BYTECODE LINE
 *     ...
 *     end OBJECTS BYTES
 *
 * CLASS is internal ("[B", "java/lang/String"); a method that is not known is "- - -"; BYTECODE is -1 and LINE 0 where
 * they are not known.
 */
#ifndef CORE_AGENT_LAB_COUNT_OBJECTS_H
#define CORE_AGENT_LAB_COUNT_OBJECTS_H

#include <jvmti.h>
#include <stdint.h>

/*
 * At the JVM's start.  path: of a file that is there; the first JVM that comes writes to it, others leave it as it is.
 * Where the JVM does not tell of objects, it starts all the same, and the file says nothing.
 *
 * method  a pattern: only from its call number nth to the next one (count_window.h); NULL: from main on.
 */
void count_objects_start(JavaVM *vm, const char *path, const char *method, uint32_t nth);

#endif
