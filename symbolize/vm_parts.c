#include "symbolize/vm_parts.h"

/*
 * Read off /proc/PID/task/.../comm of OpenJDK 8 to 28 under Serial, Parallel, CMS, G1, ZGC and Shenandoah, and
 * HotSpot's sources for those that only run at times.  A pattern's star matches any rest.
 *
 * The kernel has 15 bytes: up to JDK 25 the first ones of the name, since JDK 26 its first 7, two dots and its last 6.
 */
static const struct {
    const char *pattern;
    enum vm_part part;
} names[] = {
    { "GC Thread#*", VM_PART_GC },
    { "ParGC Thread#*", VM_PART_GC },
    { "GC task thread#", VM_PART_GC }, /* JDK 8: Parallel */
    { "Gang worker#*", VM_PART_GC },   /* JDK 8: ParNew, G1 */
    { "CMS *", VM_PART_GC },           /* JDK 11: Main Thread, Thread# */
    { "Surrogate Locke", VM_PART_GC },
    { "G1 *", VM_PART_GC }, /* Main Marker, Conc#, Refine#, Service */
    { "ZDirector", VM_PART_GC },
    { "ZDriver*", VM_PART_GC },
    { "ZStat", VM_PART_GC },
    { "ZUncommitter*", VM_PART_GC },
    { "ZUnmapper*", VM_PART_GC }, /* 17 */
    { "ZWorker*", VM_PART_GC },   /* 25: ZWorkerOld#, ZWorkerYoung# */
    { "RuntimeWorker#*", VM_PART_GC },
    { "Shenandoah *", VM_PART_GC },
    { "ShenControl*", VM_PART_GC },
    { "ShenWorker*", VM_PART_GC },
    { "ShenUncommit*", VM_PART_GC },
    { "StringDedup*", VM_PART_GC },
    { "Concurrent Mark*", VM_PART_GC },
    { "C1 CompilerThread*", VM_PART_C1 },
    { "C2 CompilerThread*", VM_PART_C2 },
    { "JVMCI Compiler*", VM_PART_C2 }, /* Graal, or another compiler in C2's place */
    { "JVMCI-native*", VM_PART_C2 },
    { "VM Thread", VM_PART_THREAD },
    { "VM Periodic Task Thread", VM_PART_OTHER },
    { "Signal Dispatcher", VM_PART_OTHER },
    { "Service Thread", VM_PART_OTHER },
    { "Monitor Deflation Thread", VM_PART_OTHER },
    { "Sweeper thread", VM_PART_OTHER }, /* up to 19 */
    { "Notification Thread", VM_PART_OTHER },
    { "Common-Cleaner", VM_PART_OTHER },
    { "Cleaner-*", VM_PART_OTHER },
    { "Finalizer", VM_PART_OTHER },
    { "Reference Handler", VM_PART_OTHER },
    { "Attach Listener", VM_PART_OTHER },
    { "JFR *", VM_PART_OTHER },
    { "JVMCI*", VM_PART_OTHER },
    { "JDWP *", VM_PART_OTHER },
    { "VM JFR Buffer Thread", VM_PART_OTHER },
    { "LogAsyncWriter", VM_PART_OTHER },
    { "AsyncLog Thread", VM_PART_OTHER },
    { "NMT Periodic*", VM_PART_OTHER },
    { "Watcher Thread", VM_PART_OTHER },
    { "DestroyJavaVM", VM_PART_OTHER },
    { "mmprof*", VM_PART_MMPROF },
};

static const struct {
    const char *name, *key;
} parts[VM_PARTS] = {
    [VM_PART_APPLICATION] = { "application", "application" },
    [VM_PART_GC] = { "garbage collector", "gc" },
    [VM_PART_C1] = { "C1 compiler", "c1" },
    [VM_PART_C2] = { "C2 compiler", "c2" },
    [VM_PART_THREAD] = { "VM thread", "vm_thread" },
    [VM_PART_OTHER] = { "other VM threads", "other_vm" },
    [VM_PART_MMPROF] = { "mmprof itself", "mmprof" },
};

#define COMM_BYTES 15u
#define FIRST      7u
#define LAST       6u

/* No JDK since 26 has these, and a program's threads may begin with the same bytes. */
static bool is_former(const char *pattern)
{
    return strncmp(pattern, "RuntimeWorker", 13) == 0 || strncmp(pattern, "Concurrent Mark", 15) == 0;
}

/* "Reference Handl" or "Referen..andler" of "Reference Handler"; of "C1 CompilerThread*", "C1 Comp..". */
static bool matches(const char *pattern, const char *comm)
{
    size_t n = strlen(pattern);
    bool has_star = pattern[n - 1] == '*', has_dots = strncmp(comm + strnlen(comm, FIRST), "..", 2) == 0;
    n -= has_star;
    if (n > FIRST && has_dots && !is_former(pattern) && strncmp(comm, pattern, FIRST) == 0)
        return has_star || (n > COMM_BYTES && strcmp(comm + FIRST + 2, pattern + n - LAST) == 0);
    if (n > COMM_BYTES)
        return strncmp(pattern, comm, COMM_BYTES) == 0 &&
               (comm[COMM_BYTES] == '\0' || has_star || strcmp(pattern, comm) == 0);
    return has_star ? strncmp(pattern, comm, n) == 0 : strcmp(pattern, comm) == 0;
}

enum vm_part vm_part_of(const char *comm)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (matches(names[i].pattern, comm))
            return names[i].part;
    return VM_PART_APPLICATION;
}

const char *vm_part_name(enum vm_part part)
{
    return parts[part].name;
}

const char *vm_part_key(enum vm_part part)
{
    return parts[part].key;
}
