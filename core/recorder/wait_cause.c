#include "core/recorder/wait_sampler.h"

#include "core/base/text.h"

#include <sys/syscall.h>

/* ---- system calls ---- */

enum call_kind { CALL_OTHER, CALL_FUTEX, CALL_SLEEP, CALL_SOCKET, CALL_DESCRIPTOR, CALL_FILE };

static const struct {
    long number;
    enum call_kind kind;
} calls[] = {
    { SYS_futex, CALL_FUTEX },      { SYS_nanosleep, CALL_SLEEP },   { SYS_clock_nanosleep, CALL_SLEEP },
#ifdef SYS_poll
    { SYS_poll, CALL_SOCKET },      { SYS_select, CALL_SOCKET },     { SYS_epoll_wait, CALL_SOCKET },
    { SYS_open, CALL_FILE },        { SYS_stat, CALL_FILE },         { SYS_unlink, CALL_FILE },
    { SYS_rename, CALL_FILE },
#endif
    { SYS_ppoll, CALL_SOCKET },     { SYS_pselect6, CALL_SOCKET },   { SYS_epoll_pwait, CALL_SOCKET },
    { SYS_accept, CALL_SOCKET },    { SYS_accept4, CALL_SOCKET },    { SYS_connect, CALL_SOCKET },
    { SYS_recvfrom, CALL_SOCKET },  { SYS_recvmsg, CALL_SOCKET },    { SYS_sendto, CALL_SOCKET },
    { SYS_sendmsg, CALL_SOCKET },   { SYS_read, CALL_DESCRIPTOR },   { SYS_write, CALL_DESCRIPTOR },
    { SYS_readv, CALL_DESCRIPTOR }, { SYS_writev, CALL_DESCRIPTOR }, { SYS_sendfile, CALL_DESCRIPTOR },
    { SYS_pread64, CALL_FILE },     { SYS_pwrite64, CALL_FILE },     { SYS_preadv, CALL_FILE },
    { SYS_pwritev, CALL_FILE },     { SYS_fsync, CALL_FILE },        { SYS_fdatasync, CALL_FILE },
    { SYS_ftruncate, CALL_FILE },   { SYS_openat, CALL_FILE },       { SYS_close, CALL_FILE },
    { SYS_unlinkat, CALL_FILE },    { SYS_flock, CALL_FILE },        { SYS_fcntl, CALL_FILE },
    { SYS_getdents64, CALL_FILE },  { SYS_statx, CALL_FILE },        { SYS_msync, CALL_FILE },
};

static enum call_kind kind_of(long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return calls[i].kind;
    return CALL_OTHER;
}

bool wait_cause_has_descriptor(long call)
{
    return call != WAIT_NO_CALL && kind_of(call) == CALL_DESCRIPTOR;
}

/* ---- methods ---- */

/* java.util.concurrent's own queue of threads that want a lock, or something else. */
static bool is_queue(const char *class_name)
{
    return text_begins(class_name, "java/util/concurrent/locks/AbstractQueued");
}

/*
 * What is parked: whoever acquires, in the end, is a lock or something else.  A thread that was signalled in
 * Condition.await acquires the lock again, with the condition's method outside of that.
 */
static enum trace_cause parked(const struct method_name *frames, uint32_t n)
{
    bool acquires = false;
    for (uint32_t i = 0; i < n; i++) {
        const char *class_name = frames[i].class_name;
        if (strcmp(class_name, "java/util/concurrent/locks/LockSupport") == 0)
            continue;
        if (is_queue(class_name) && strstr(class_name, "$Condition") == NULL) {
            acquires = true;
            continue;
        }
        if (is_queue(class_name))
            return acquires ? TRACE_CAUSE_LOCK : TRACE_CAUSE_PARK;
        bool is_stamped = text_begins(class_name, "java/util/concurrent/locks/StampedLock");
        return is_stamped || (acquires && text_begins(class_name, "java/util/concurrent/locks/")) ? TRACE_CAUSE_LOCK
                                                                                                  : TRACE_CAUSE_PARK;
    }
    return TRACE_CAUSE_PARK;
}

/* In the JVM's own locks and conditions: what they stand for, the method says that called the JVM. */
static enum trace_cause blocked(const struct wait_evidence *evidence)
{
    if (evidence->is_entering)
        return TRACE_CAUSE_MONITOR;
    if (evidence->n == 0)
        return TRACE_CAUSE_UNKNOWN;
    const struct method_name *top = &evidence->frames[0];
    if (strcmp(top->method, "park") == 0 && strstr(top->class_name, "misc/Unsafe") != NULL)
        return parked(evidence->frames + 1, evidence->n - 1);
    if (strcmp(top->class_name, "java/lang/Thread") == 0 && text_begins(top->method, "sleep"))
        return TRACE_CAUSE_SLEEP;
    if (strcmp(top->class_name, "java/lang/Object") == 0 && text_begins(top->method, "wait"))
        return TRACE_CAUSE_WAIT;
    return TRACE_CAUSE_JVM;
}

/* What takes a virtual thread off its carrier, whatever it waits for. */
static bool is_yield(const char *class_name)
{
    static const char *const classes[] = { "jdk/internal/vm/Continuation", "java/lang/VirtualThread",
                                           "java/lang/System$", "jdk/internal/misc/VirtualThreads",
                                           "java/util/concurrent/locks/LockSupport" };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (text_begins(class_name, classes[i]))
            return true;
    return false;
}

enum trace_cause wait_cause_of_virtual(enum vm_virtual_state state, const struct method_name *frames, uint32_t n)
{
    uint32_t i = 0;
    if (state != VM_VIRTUAL_PARKED)
        return state == VM_VIRTUAL_BLOCKED   ? TRACE_CAUSE_MONITOR
               : state == VM_VIRTUAL_WAITING ? TRACE_CAUSE_WAIT
               : state == VM_VIRTUAL_READY   ? TRACE_CAUSE_READY
                                             : TRACE_CAUSE_ON_CPU;
    while (i < n && is_yield(frames[i].class_name))
        i++;
    if (i < n && strcmp(frames[i].class_name, "java/lang/Thread") == 0 && text_begins(frames[i].method, "sleep"))
        return TRACE_CAUSE_SLEEP;
    if (i < n && strcmp(frames[i].class_name, "sun/nio/ch/Poller") == 0)
        return TRACE_CAUSE_SOCKET;
    return parked(frames + i, n - i);
}

enum trace_cause wait_cause_find(const struct wait_evidence *evidence)
{
    if (evidence->call == WAIT_NO_CALL)
        return TRACE_CAUSE_PAGE;
    switch (kind_of(evidence->call)) {
    case CALL_FUTEX:
        return blocked(evidence);
    case CALL_SLEEP:
        return TRACE_CAUSE_SLEEP;
    case CALL_SOCKET:
        return TRACE_CAUSE_SOCKET;
    case CALL_FILE:
        return TRACE_CAUSE_FILE;
    case CALL_DESCRIPTOR:
        return evidence->descriptor == WAIT_SOCKET ? TRACE_CAUSE_SOCKET : TRACE_CAUSE_FILE;
    case CALL_OTHER:
        break;
    }
    return TRACE_CAUSE_UNKNOWN;
}
