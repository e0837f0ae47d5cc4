/* The JVM's threads: which there are, how Java calls them, what they have allocated, and what its compilers do. */
#ifndef CORE_HOTSPOT_VM_THREADS_H
#define CORE_HOTSPOT_VM_THREADS_H

#include "core/base/std.h"

struct vm;

/* ---- vm_thread_list.c ---- */

/* Where the JVM that is read has its list of threads, and in a thread what the system calls it. */

/* VM_NONE: not known. */
struct vm_thread_list {
    uint64_t list;          /* the address of the pointer to it */
    uint64_t length, data;  /* in the list; VM_NONE: the pointer is to the first thread, as in JDK 8 and 11, */
    uint64_t next;          /* and each thread points to the next one */
    uint64_t os_thread, id; /* in a Thread, in its OSThread */
};

/* Returns whether all are known. */
bool vm_thread_list_find(struct vm *vm, struct vm_thread_list *list);

/*
 * The addresses of the threads, of at most 'room' of them.  Returns how many there are, perhaps more than room, or -1:
 * the list cannot be read.
 */
int64_t vm_thread_list_read(struct vm *vm, const struct vm_thread_list *list, uint64_t *threads, size_t room);

/* ---- vm_threads.c ---- */

/* The JVM's Java threads and their ids in the kernel, read from outside. */

struct vm_thread {
    uint64_t address;  /* of the JavaThread */
    int32_t tid;       /* in our PID namespace; 0: not known yet */
    int32_t inner_tid; /* in the JVM's */
};

struct vm_threads {
    struct vm *vm; /* borrowed */
    struct vm_thread_list where;
    pid_t pid, inner_pid;
    struct vm_thread *all; /* owned */
    uint32_t n;
    uint64_t *list; /* owned: as the JVM has it, n_list addresses; */
    uint64_t *next; /* owned: the same, being read; room for both */
    uint32_t n_list, list_room;
    bool is_known; /* the JVM's layout is */
};

void vm_threads_open(struct vm *vm, struct vm_threads *threads);

/* Which there are now: what was found before stays where nothing has changed. */
void vm_threads_round(struct vm_threads *threads);

/* NULL: none. */
const struct vm_thread *vm_threads_by_tid(const struct vm_threads *threads, int32_t tid);
const struct vm_thread *vm_threads_by_address(const struct vm_threads *threads, uint64_t address);
void vm_threads_free(struct vm_threads *threads);

/* ---- vm_thread_names.c ---- */

/*
 * What Java calls a thread: Thread.name, which may be longer than the kernel's 15 bytes and may have been changed by
 * another thread.
 */

/* Of the JVM that is being read; after vm_objects_open. */
void vm_thread_names_open(struct vm *vm);

/*
 * address  of the JavaThread
 * name     n bytes, for UTF-8 that ends with a NUL; what does not fit is left out
 *
 * Returns false: it is not known.
 */
bool vm_thread_name(struct vm *vm, uint64_t address, char *name, size_t n);

/* ---- vm_allocated.c ---- */

/*
 * How many bytes threads have allocated in the Java heap since their start, by the JVM's own counters: what
 * ThreadMXBean.getThreadAllocatedBytes tells.
 */

/* Does this JVM export where they are? */
bool vm_allocated_is_known(struct vm *vm);

/* The sum over n threads, by the JVM's own structures of them (0: there is none); one that has ended counts as 0. */
uint64_t vm_allocated_bytes(struct vm *vm, const uint64_t *threads, size_t n);

/* ---- vm_compilers.c ---- */

/* What the JVM's compiler threads are at, read from HotSpot's own structures. */

/* The JVM's own structure of a thread, by the system's number; 0: not known. */
uint64_t vm_compiler_find(struct vm *vm, pid_t tid);

/* The system's number of a thread, by the JVM's own structure of it; 0: not known. */
pid_t vm_thread_tid(struct vm *vm, uint64_t thread);

/* What a compiler is at. */
struct vm_compilation {
    uint32_t number;  /* 0: nothing, or not known */
    uint32_t n_bytes; /* of the method's bytecode, without what is inlined; 0: not known */
    bool is_of_loop;  /* code that is entered in a loop (OSR) */
};

struct vm_compilation vm_compiler_read(struct vm *vm, uint64_t compiler);

#endif
