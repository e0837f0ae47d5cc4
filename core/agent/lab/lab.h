/* What the laboratory's agent does besides: agent_lab.h. */
#ifndef CORE_AGENT_LAB_LAB_H
#define CORE_AGENT_LAB_LAB_H

#include "core/base/std.h"

#include <jvmti.h>

/* ---- emulate ---- */

/*
 * A JVM that is to run in an emulator, and was started outside of it: it starts again in there.
 *
 * QEMU's user mode leaves execve to the kernel (7.2 and all others): what a program in it starts runs on the machine
 * itself.  So a command that is not java itself, but a script that starts it, runs outside, and its first JVM takes the
 * way in while it loads the agent, before it has run any Java code: the same process, with the same arguments,
 * environment and files, becomes the emulator.
 */

/*
 * At the JVM's start.  Does not return where this process becomes the emulator.  Returns true: this JVM is in it, is
 * not meant to be, or the kernel does not let it in; false: it is to be left alone, since the recorder has gone, or
 * another JVM was first.
 */
bool emulate_self(void);

/* ---- emulated ---- */

/*
 * Put a function in front of each signal handler that there is now, which gives it a stack as the ABI wants it.  May be
 * called again when there are more.
 */
void emulated_align_handlers(void);

/* Tell the simulator where the JVM's tables are: it reads them, and so finds what memory belongs to what. */
void emulated_tell_tables(void);

/* Tell the simulator where the agent's own code is: it is left out of the simulated caches. */
void emulated_tell_own(void);

/* Events of collections: objects are about to move, and have moved. */
void JNICALL emulated_collection_start(jvmtiEnv *jvmti);
void JNICALL emulated_collection_end(jvmtiEnv *jvmti);

/* The JVM is about to end. */
void emulated_tell_end(void);

/* ---- track_objects ---- */

/*
 * The agent for tools that track objects and accesses from beneath the JVM (mmprof memtrace): it changes no code and
 * has no recorder, but tells the emulator's plugin what the JVM tells it (core/wire/tracked.h).
 */

/*
 * At the JVM's start.  interval: tell of an object about every so many bytes of what a thread allocates; 0: of all.
 * Where the JVM does not allow it, it starts all the same, and the plugin hears nothing.
 */
void track_objects_start(JavaVM *vm, jint interval);

/* ---- count_objects ---- */

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
 * or, in place of all but the first, 'refused old' where the JVM tells of no objects (before JDK 11), and 'refused
 * taken' where another agent has its events.
 *
 * CLASS is internal ("[B", "java/lang/String"); a method that is not known is "- - -"; BYTECODE is -1 and LINE 0 where
 * they are not known.
 */

/*
 * At the JVM's start.  path: of a file that is there; the first JVM that comes writes to it, others leave it as it is.
 *
 * method  a pattern: only from its call number nth to the next one (count_entries.h); NULL: from main on.
 */
void count_objects_start(JavaVM *vm, const char *path, const char *method, uint32_t nth);

/* ---- count_receivers ---- */

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

/* At the JVM's start; path as count_objects_start has it.  interval: of calls, 1: all. */
void count_receivers_start(JavaVM *vm, const char *path, uint32_t interval);

/* ---- count_calls ---- */

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

#define COUNT_CALLS_DEPTH 16 /* MaxInlineLevel is 15 */

/* At the JVM's start; path as count_objects_start has it.  interval: of calls, 1: all. */
void count_calls_start(JavaVM *vm, const char *path, uint32_t interval);

#endif
