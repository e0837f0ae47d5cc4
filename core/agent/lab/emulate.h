/*
 * A JVM that is to run in an emulator, and was started outside of it: it starts again in there.
 *
 * QEMU's user mode leaves execve to the kernel (7.2 and all others): what a program in it starts runs on the machine
 * itself.  So a command that is not java itself, but a script that starts it, runs outside, and its first JVM takes the
 * way in while it loads the agent, before it has run any Java code: the same process, with the same arguments,
 * environment and files, becomes the emulator.
 */
#ifndef CORE_AGENT_LAB_EMULATE_H
#define CORE_AGENT_LAB_EMULATE_H

#include <stdbool.h>

/*
 * At the JVM's start.  Does not return where this process becomes the emulator.  Returns true: this JVM is in it, is
 * not meant to be, or the kernel does not let it in; false: it is to be left alone, since the recorder has gone, or
 * another JVM was first.
 */
bool emulate_self(void);

#endif
