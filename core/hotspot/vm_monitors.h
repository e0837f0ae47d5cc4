/*
 * What a Java thread that waits, waits for, and who has it: the monitor that it wants to enter or that it is notified
 * by, or the object that it is parked for.  Read from outside, of JDK 17 to 25.
 */
#ifndef CORE_HOTSPOT_VM_MONITORS_H
#define CORE_HOTSPOT_VM_MONITORS_H

#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm_threads.h"

struct vm;

struct vm_monitors {
    struct vm *vm; /* borrowed */
    struct vm_threads threads;
    bool is_known; /* the layout of monitors is */
};

struct vm_lock {
    uint64_t monitor;                     /* the address of an ObjectMonitor; 0: of a park */
    char class_name[VM_CLASS_NAME_BYTES]; /* of the object: "java/util/HashMap"; "": not known */
};

void vm_monitors_open(struct vm *vm, struct vm_monitors *monitors);

/* Before some threads are asked about: which there are. */
void vm_monitors_round(struct vm_monitors *monitors);

/* Is a thread about to enter a monitor? */
bool vm_monitors_entering(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock);

/* Is it in Object.wait? */
bool vm_monitors_waiting(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock);

/* What it is parked for, as LockSupport.park was told. */
bool vm_monitors_parked(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock);

/*
 * Who has what a thread waits for now, by its id in our PID namespace; of a park, for a lock that one thread has.
 * 0: nobody, or not known.
 */
int32_t vm_monitors_owner(const struct vm_monitors *monitors, int32_t tid, const struct vm_lock *lock);
void vm_monitors_close(struct vm_monitors *monitors);

#endif
