/* Why a thread waits: the system call, the monitor that it wants, and the innermost methods of its stack. */
#include "core/recorder/wait_sampler.h"

#include "test/unit/tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define DEPTH 8

struct row {
    const char *claim;
    enum trace_cause expected;
    long call;
    enum wait_descriptor descriptor;
    bool is_entering;
    const char *frames[DEPTH]; /* "java/lang/Thread.sleep", the innermost first */
};

#define PARKED    "jdk/internal/misc/Unsafe.park", "java/util/concurrent/locks/LockSupport.park"
#define QUEUE     "java/util/concurrent/locks/AbstractQueuedSynchronizer."
#define CONDITION "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject."

static const struct row rows[] = {
    { "one that enters a monitor", TRACE_CAUSE_MONITOR, SYS_futex, 0, true, { "a/Cache.get" } },
    { "Thread.sleep of JDK 17", TRACE_CAUSE_SLEEP, SYS_futex, 0, false, { "java/lang/Thread.sleep", "a/B.run" } },
    { "and of JDK 25", TRACE_CAUSE_SLEEP, SYS_futex, 0, false, { "java/lang/Thread.sleepNanos0" } },
    { "Object.wait of JDK 17", TRACE_CAUSE_WAIT, SYS_futex, 0, false, { "java/lang/Object.wait" } },
    { "and of JDK 25", TRACE_CAUSE_WAIT, SYS_futex, 0, false, { "java/lang/Object.wait0" } },
    { "a ReentrantLock",
      TRACE_CAUSE_LOCK,
      SYS_futex,
      0,
      false,
      { PARKED, QUEUE "acquire", QUEUE "acquire", "java/util/concurrent/locks/ReentrantLock$Sync.lock" } },
    { "the lock of a queue",
      TRACE_CAUSE_LOCK,
      SYS_futex,
      0,
      false,
      { PARKED, QUEUE "acquire", "java/util/concurrent/locks/ReentrantLock.lockInterruptibly",
        "java/util/concurrent/ArrayBlockingQueue.take" } },
    { "a StampedLock",
      TRACE_CAUSE_LOCK,
      SYS_futex,
      0,
      false,
      { PARKED, "java/util/concurrent/locks/StampedLock.acquireWrite" } },
    { "an empty queue",
      TRACE_CAUSE_PARK,
      SYS_futex,
      0,
      false,
      { PARKED, CONDITION "await", "java/util/concurrent/ArrayBlockingQueue.take" } },
    { "a condition's lock, after a signal",
      TRACE_CAUSE_LOCK,
      SYS_futex,
      0,
      false,
      { PARKED, QUEUE "acquire", CONDITION "await", "a/B.run" } },
    { "a latch is no lock",
      TRACE_CAUSE_PARK,
      SYS_futex,
      0,
      false,
      { PARKED, QUEUE "acquire", "java/util/concurrent/CountDownLatch.await" } },
    { "a future", TRACE_CAUSE_PARK, SYS_futex, 0, false, { PARKED, "java/util/concurrent/FutureTask.awaitDone" } },
    { "park itself", TRACE_CAUSE_PARK, SYS_futex, 0, false, { PARKED, "a/B.run" } },
    { "a safepoint, in a method that calls nothing", TRACE_CAUSE_JVM, SYS_futex, 0, false, { "a/B.work" } },
    { "no Java method", TRACE_CAUSE_UNKNOWN, SYS_futex, 0, false, { NULL } },
    { "a selector", TRACE_CAUSE_SOCKET, SYS_epoll_pwait, 0, false, { "sun/nio/ch/EPoll.wait" } },
    { "a socket's connection", TRACE_CAUSE_SOCKET, SYS_accept, 0, false, { "sun/nio/ch/Net.accept" } },
    { "a read of a socket", TRACE_CAUSE_SOCKET, SYS_read, WAIT_SOCKET, false, { "sun/nio/ch/SocketDispatcher.read0" } },
    { "a read of a file", TRACE_CAUSE_FILE, SYS_read, WAIT_FILE, false, { "java/io/FileInputStream.readBytes" } },
    { "a file that is flushed", TRACE_CAUSE_FILE, SYS_fsync, 0, false, { "sun/nio/ch/FileDispatcherImpl.force0" } },
    { "no system call: a page is missing", TRACE_CAUSE_PAGE, WAIT_NO_CALL, 0, false, { "a/B.work" } },
    { "another system call",
      TRACE_CAUSE_UNKNOWN,
      SYS_wait4,
      0,
      false,
      { "java/lang/ProcessImpl.waitForProcessExit0" } },
};

static uint32_t name_frames(const char *const *names, char texts[DEPTH][128], struct method_name *frames)
{
    uint32_t n = 0;
    for (; n < DEPTH && names[n] != NULL; n++) {
        snprintf(texts[n], sizeof texts[0], "%s", names[n]);
        char *point = strrchr(texts[n], '.');
        *point = '\0';
        frames[n] = (struct method_name){ texts[n], point + 1, "()V" };
    }
    return n;
}

#define YIELDED   "jdk/internal/vm/Continuation.yield", "java/lang/VirtualThread.park"
#define UNMOUNTED YIELDED, "java/util/concurrent/locks/LockSupport.park"

static const struct {
    const char *claim;
    enum trace_cause expected;
    enum vm_virtual_state state;
    const char *frames[DEPTH];
} virtuals[] = {
    { "a virtual thread that sleeps",
      TRACE_CAUSE_SLEEP,
      VM_VIRTUAL_PARKED,
      { YIELDED, "java/lang/VirtualThread.sleepNanos", "java/lang/Thread.sleep" } },
    { "one that wants a lock",
      TRACE_CAUSE_LOCK,
      VM_VIRTUAL_PARKED,
      { UNMOUNTED, QUEUE "acquire", "java/util/concurrent/locks/ReentrantLock.lock" } },
    { "one that takes from a queue",
      TRACE_CAUSE_PARK,
      VM_VIRTUAL_PARKED,
      { UNMOUNTED, CONDITION "await", "java/util/concurrent/LinkedBlockingQueue.take" } },
    { "one that reads a socket",
      TRACE_CAUSE_SOCKET,
      VM_VIRTUAL_PARKED,
      { UNMOUNTED, "sun/nio/ch/Poller.poll", "sun/nio/ch/NioSocketImpl.park" } },
    { "one that enters a monitor", TRACE_CAUSE_MONITOR, VM_VIRTUAL_BLOCKED, { "a/B.work" } },
    { "one in Object.wait", TRACE_CAUSE_WAIT, VM_VIRTUAL_WAITING, { "java/lang/Object.wait0" } },
    { "one without a carrier", TRACE_CAUSE_READY, VM_VIRTUAL_READY, { NULL } },
    { "one on a carrier", TRACE_CAUSE_ON_CPU, VM_VIRTUAL_MOUNTED, { NULL } },
    { "one whose stack is not known", TRACE_CAUSE_PARK, VM_VIRTUAL_PARKED, { NULL } },
};

static void check(const struct row *row)
{
    char texts[DEPTH][128];
    struct method_name frames[DEPTH];
    struct wait_evidence evidence = {
        .call = row->call, .descriptor = row->descriptor, .is_entering = row->is_entering, .frames = frames
    };
    evidence.n = name_frames(row->frames, texts, frames);
    CHECK(row->claim, wait_cause_find(&evidence) == row->expected);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
    for (size_t i = 0; i < sizeof virtuals / sizeof *virtuals; i++) {
        char texts[DEPTH][128];
        struct method_name frames[DEPTH];
        uint32_t n = name_frames(virtuals[i].frames, texts, frames);
        CHECK(virtuals[i].claim, wait_cause_of_virtual(virtuals[i].state, frames, n) == virtuals[i].expected);
    }
    CHECK("a read names a descriptor", wait_cause_has_descriptor(SYS_read) && !wait_cause_has_descriptor(SYS_futex));
    return tap_done();
}
