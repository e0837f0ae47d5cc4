/*
 * The agent's library, where the target can load it.
 */
#ifndef CORE_RECORDER_BRING_AGENT_H
#define CORE_RECORDER_BRING_AGENT_H

#include "core/jvm/guest.h"

/*
 * Say by which path a JVM finds the library: the one that it loaded already, if so; else the file itself, or in a
 * container a copy in one of its directories.
 *
 * library  as we see it.
 * copy     is opened if a copy is made; to be closed (which removes it) when the library is loaded, in any case.
 * path     as the JVM sees it, n bytes.
 *
 * Returns 0, or -1 with *err set: the JVM's libc is another one, or no directory in its container will do.
 */
int bring_agent(const struct jvm_process *process, const char *library, struct guest *copy, char *path, size_t n,
                struct err *err);

#endif
