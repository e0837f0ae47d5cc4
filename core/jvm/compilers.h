/* How busy a JVM's JIT compilers are: the CPU time of their threads, from /proc. */
#ifndef CORE_JVM_COMPILERS_H
#define CORE_JVM_COMPILERS_H

#include "core/base/std.h"

#define JVM_COMPILERS_MAX 64
#define JVM_SEEN_MAX      4096
#define JVM_CPU_UNKNOWN   UINT64_MAX
#define JVM_KEEPS_CODE    23 /* the first JDK whose compiled code all knows what it depends on (JDK-8324241) */

struct jvm_compilers {
    pid_t pid;
    pid_t tids[JVM_COMPILERS_MAX];
    uint64_t cpu_ns[JVM_COMPILERS_MAX]; /* as read last: HotSpot ends compiler threads that have nothing to do */
    int n;
    uint64_t looked_ns; /* when the threads were looked for last */
    struct {
        pid_t tids[JVM_SEEN_MAX]; /* ascending */
        int n;
    } seen[2]; /* all threads, at the last two looks: a new one may have no name yet */
};

/*
 * CPU time of all compiler threads seen so far, in ns; JVM_CPU_UNKNOWN where the kernel does not tell, or there is
 * none. Begin with zeros and pid.  Threads are looked for twice a second, now_ns tells the time.
 */
uint64_t jvm_compilers_cpu_ns(struct jvm_compilers *compilers, uint64_t now_ns);

/*
 * Does a running JVM throw all its compiled code away when an agent changes a class for the first time?  It does before
 * JVM_KEEPS_CODE, unless an agent was loaded at its start, or has changed classes since: of the latter, mmprof's own
 * is seen.  Where its version is not known: false.
 */
bool jvm_forgets_code(pid_t pid);

#endif
