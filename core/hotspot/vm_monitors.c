#include "core/hotspot/vm_objects.h"

#include "core/hotspot/vm_state.h"

#define NOBODY    0u
#define ANONYMOUS 1u /* an owner that has not said who it is: it locked the object while nobody else wanted it */
#define TAG_MASK  3u /* of a header: */
#define UNLOCKED  1u
#define LOCKS_MAX 8u /* on a thread's own stack of locks, JDK 21 and later */
#define AT_ONCE   64u
#define BLOCKED   0x400u /* JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER */

void vm_monitors_open(struct vm *vm, struct vm_monitors *monitors)
{
    struct vm_monitor_layout *at = &vm->monitors;
    struct vm_field fields[] = {
        { "JavaThread", "_current_pending_monitor", &at->entering, false },
        { "JavaThread", "_current_waiting_monitor", &at->waiting, false },
        { "JavaThread", "_threadObj", &at->java_thread, false },
        { "Thread", "_current_pending_monitor", &at->entering, false }, /* JDK 8 and 11 */
        { "Thread", "_current_waiting_monitor", &at->waiting, false },
        { "JavaThread", "_stack_base", &at->stack_base, false },
        { "JavaThread", "_stack_size", &at->stack_bytes, false },
        { "Thread", "_stack_base", &at->stack_base, false },
        { "Thread", "_stack_size", &at->stack_bytes, false },
        { "ObjectMonitor", "_object", &at->object, false },
        { "ObjectMonitor", "_owner", &at->owner, false },
    };
    struct vm_field later[] = { { "JavaThread", "_lock_stack", &vm->monitors.lock_stack, false },
                                { "LockStack", "_base[0]", &vm->monitors.lock_base, false },
                                { "LockStack", "_top", &vm->monitors.lock_top, false },
                                { "JavaThread", "_monitor_owner_id", &at->owner_id, false } };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    vm_fields_find(vm, later, sizeof later / sizeof *later);
    vm_threads_open(vm, &monitors->threads);
    vm_objects_open(vm);
    monitors->vm = vm;
    at->park_blocker.class_name = at->of_thread.class_name = "java/lang/Thread";
    at->park_blocker.name = "parkBlocker";
    at->of_thread.name = "eetop"; /* the JavaThread's address */
    at->holder.class_name = at->own_status.class_name = "java/lang/Thread";
    at->holder.name = "holder";
    at->status.class_name = "java/lang/Thread$FieldHolder"; /* JDK 19 and later */
    at->own_status.name = at->status.name = "threadStatus";
    at->of_lock.class_name = "java/util/concurrent/locks/AbstractOwnableSynchronizer";
    at->of_lock.name = "exclusiveOwnerThread";
    monitors->is_known = monitors->threads.is_known && at->entering != VM_NONE && at->waiting != VM_NONE &&
                         at->entering != at->waiting && at->object != VM_NONE && at->owner != VM_NONE;
}

void vm_monitors_close(struct vm_monitors *monitors)
{
    vm_threads_free(&monitors->threads);
}

void vm_monitors_round(struct vm_monitors *monitors)
{
    if (monitors->is_known)
        vm_threads_round(&monitors->threads);
}

/* ---- who holds a monitor ---- */

/* A field of some threads from the first-th on, by one system call; 0 where it is not there.  Returns how many. */
static uint32_t read_field(struct vm *vm, const struct vm_threads *threads, uint32_t first, uint64_t field,
                           uint64_t words[AT_ONCE])
{
    uint64_t addresses[AT_ONCE];
    uint32_t n = threads->n - first < AT_ONCE ? threads->n - first : AT_ONCE;
    for (uint32_t i = 0; i < n; i++)
        addresses[i] = threads->all[first + i].address + field;
    vm_read_words(vm, addresses, n, words);
    return n;
}

/*
 * JDK 8 to 17: the owner's record is on its stack, where it has locked the object before others wanted it, and has what
 * the object's header was before.
 */
static int32_t owner_by_stack(struct vm *vm, const struct vm_threads *threads, uint64_t address)
{
    struct vm_monitor_layout *at = &vm->monitors;
    uint64_t header, bases[AT_ONCE], sizes[AT_ONCE];
    if (at->stack_base == VM_NONE || at->stack_bytes == VM_NONE || !vm_read_u64(vm, address, &header) ||
        (header & TAG_MASK) != UNLOCKED)
        return 0;
    for (uint32_t first = 0, n; first < threads->n; first += n) {
        n = read_field(vm, threads, first, at->stack_base, bases);
        read_field(vm, threads, first, at->stack_bytes, sizes);
        for (uint32_t i = 0; i < n; i++)
            if (bases[i] > address && bases[i] - address <= sizes[i])
                return threads->all[first + i].tid;
    }
    return 0;
}

/* JDK 21 and later: each thread has a list of the objects that it has locked so. */
static int32_t owner_by_object(struct vm *vm, const struct vm_threads *threads, uint64_t object)
{
    uint64_t locked[LOCKS_MAX], first = vm->monitors.lock_stack + vm->monitors.lock_base;
    uint32_t end; /* behind the last one, from the JavaThread on */
    if (object == 0 || vm->monitors.lock_stack == VM_NONE || vm->monitors.lock_base == VM_NONE ||
        vm->monitors.lock_top == VM_NONE)
        return 0;
    for (uint32_t i = 0; i < threads->n; i++) {
        uint64_t thread = threads->all[i].address;
        if (!vm_read(vm, thread + vm->monitors.lock_stack + vm->monitors.lock_top, &end, sizeof end) ||
            !vm_read(vm, thread + first, locked, sizeof locked))
            continue;
        for (size_t k = 0; k < LOCKS_MAX && first + 8 * (k + 1) <= end; k++)
            if (locked[k] == object)
                return threads->all[i].tid;
    }
    return 0;
}

/* JDK 24 and later: threads have numbers for this. */
static int32_t owner_by_id(struct vm *vm, const struct vm_threads *threads, uint64_t id)
{
    uint64_t ids[AT_ONCE];
    for (uint32_t first = 0, n; first < threads->n; first += n) {
        n = read_field(vm, threads, first, vm->monitors.owner_id, ids);
        for (uint32_t i = 0; i < n; i++)
            if (ids[i] == id)
                return threads->all[first + i].tid;
    }
    return 0;
}

static int32_t find_owner(struct vm *vm, const struct vm_threads *threads, uint64_t monitor, uint64_t owner)
{
    struct vm_monitor_layout *at = &vm->monitors;
    const struct vm_thread *thread;
    if (owner == NOBODY)
        return 0;
    if (owner == ANONYMOUS)
        return owner_by_object(vm, threads, vm_handle_object(vm, monitor + at->object));
    if (at->owner_id != VM_NONE)
        return owner_by_id(vm, threads, owner);
    thread = vm_threads_by_address(threads, owner);
    return thread != NULL ? thread->tid : owner_by_stack(vm, threads, owner);
}

/* ---- what a thread waits for ---- */

/* Returns the address of the monitor that a field of a thread says; 0: none. */
static uint64_t monitor_of(const struct vm_monitors *monitors, int32_t tid, uint64_t field)
{
    const struct vm_thread *thread = monitors->is_known ? vm_threads_by_tid(&monitors->threads, tid) : NULL;
    uint64_t monitor;
    return thread != NULL && vm_read_u64(monitors->vm, thread->address + field, &monitor) ? monitor : 0;
}

/* A monitor is of an object that has a class, or a thread owns it: what is neither is none, whatever the JVM exports.
 */
static bool find_monitor(const struct vm_monitors *monitors, int32_t tid, uint64_t field, struct vm_lock *lock)
{
    *lock = (struct vm_lock){ .monitor = monitor_of(monitors, tid, field) };
    if (lock->monitor == 0)
        return false;
    uint64_t object = vm_handle_object(monitors->vm, lock->monitor + monitors->vm->monitors.object);
    if (vm_class_text(monitors->vm, vm_object_class(monitors->vm, object), lock->class_name, sizeof lock->class_name))
        return true;
    lock->class_name[0] = '\0';
    return vm_monitors_owner(monitors, tid, lock) != 0;
}

bool vm_monitors_entering(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock)
{
    return find_monitor(monitors, tid, monitors->vm->monitors.entering, lock);
}

bool vm_monitors_waiting(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock)
{
    return find_monitor(monitors, tid, monitors->vm->monitors.waiting, lock);
}

/* The java.lang.Thread; 0: not known. */
static uint64_t object_of(const struct vm_monitors *monitors, int32_t tid)
{
    uint64_t java_thread = monitors->vm->monitors.java_thread;
    const struct vm_thread *thread = java_thread == VM_NONE ? NULL : vm_threads_by_tid(&monitors->threads, tid);
    return thread == NULL ? 0 : vm_handle_object(monitors->vm, thread->address + java_thread);
}

bool vm_monitors_blocked(const struct vm_monitors *monitors, int32_t tid)
{
    struct vm_monitor_layout *at = &monitors->vm->monitors;
    struct vm *vm = monitors->vm;
    struct vm_lock ignored;
    uint64_t thread = object_of(monitors, tid), holder = vm_object_reference(vm, thread, &at->holder), status;
    return (holder != 0 ? vm_object_long(vm, holder, &at->status, &status)
                        : vm_object_long(vm, thread, &at->own_status, &status)) &&
           (status & BLOCKED) != 0 && !vm_monitors_entering(monitors, tid, &ignored);
}

/* Of a parked thread: what it is parked for; 0: not known. */
static uint64_t blocker_of(const struct vm_monitors *monitors, int32_t tid)
{
    return vm_object_reference(monitors->vm, object_of(monitors, tid), &monitors->vm->monitors.park_blocker);
}

bool vm_monitors_parked(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock)
{
    *lock = (struct vm_lock){ .monitor = 0 };
    return vm_class_text(monitors->vm, vm_object_class(monitors->vm, blocker_of(monitors, tid)), lock->class_name,
                         sizeof lock->class_name);
}

int32_t vm_monitors_owner(const struct vm_monitors *monitors, int32_t tid, const struct vm_lock *lock)
{
    struct vm_monitor_layout *at = &monitors->vm->monitors;
    uint64_t owner, address;
    if (lock->monitor != 0)
        return vm_read_u64(monitors->vm, lock->monitor + at->owner, &owner)
                   ? find_owner(monitors->vm, &monitors->threads, lock->monitor, owner)
                   : 0;
    owner = vm_object_reference(monitors->vm, blocker_of(monitors, tid), &at->of_lock);
    const struct vm_thread *holder = owner != 0 && vm_object_long(monitors->vm, owner, &at->of_thread, &address)
                                         ? vm_threads_by_address(&monitors->threads, address)
                                         : NULL;
    return holder == NULL ? 0 : holder->tid;
}
