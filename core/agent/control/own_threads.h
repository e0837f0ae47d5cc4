/*
 * The JVM's threads, as the system knows them.
 */
#ifndef CORE_AGENT_OWN_THREADS_H
#define CORE_AGENT_OWN_THREADS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Those whose name begins so (15 bytes at most), as many as there is room for.  Returns how many; 0 also where /proc is
 * not.
 */
size_t own_threads_find(const char *name, pid_t *tids, size_t room);

#endif
