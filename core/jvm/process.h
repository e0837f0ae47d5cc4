/* What /proc tells about a process that may be a HotSpot JVM. */
#ifndef CORE_JVM_PROCESS_H
#define CORE_JVM_PROCESS_H

#include "core/base/err.h"
#include "core/jvm/jvm_user.h"

#define JVM_COMMAND_BYTES 4096

struct jvm_process {
    pid_t pid;
    pid_t inner_pid;      /* in its own PID namespace */
    uint64_t start_ticks; /* when it started, since boot: with its PID this is no other process */
    struct jvm_user user;
    bool is_stopped;                 /* by a signal or a debugger: it would not answer */
    bool catches_quit;               /* a handler for SIGQUIT is installed: the signal is safe to send */
    bool attach_disabled;            /* -XX:+DisableAttachMechanism */
    bool same_mounts;                /* it sees the files that we see */
    char command[JVM_COMMAND_BYTES]; /* as words_append_quoted makes it */
};

/* What files tell of any process.  Returns 0, or -1 with *err set: there is none, or it is a thread's id. */
int jvm_process_read(pid_t pid, struct jvm_process *process, struct err *err);

/*
 * Look at a process and see whether it is a JVM of ours to attach to.
 *
 * Returns 0, or -1 with *err set: no such process, a thread's id, not a JVM, another user's, attaching disabled,
 * stopped; or this process may open too few files.
 */
int jvm_process_inspect(pid_t pid, struct jvm_process *process, struct err *err);

/* When a process started, in ticks since boot; 0: there is none. */
uint64_t jvm_process_start_ticks(pid_t pid);

/*
 * Is it the process that started then (0: any), and not another one that has got its number?  Returns 0, or -1 with
 * *err set.
 */
int jvm_process_check_start(const struct jvm_process *process, uint64_t start_ticks, struct err *err);

/*
 * Send it a signal, and no other process that has got its number; SIGQUIT only if it still has a handler for it.
 * Returns 0, or -1 with *err set: it has ended.
 */
int jvm_process_signal(const struct jvm_process *process, int signal, struct err *err);

/* Read a small file of the kernel or of this process' user into n bytes, with a NUL behind what was read.  Returns its
 * length, or -1 with errno set. */
ssize_t jvm_read_file(const char *path, char *text, size_t n);

/* The process id as the process sees it, in a container; the same one where it is not known. */
pid_t jvm_process_inner_pid(pid_t pid);

/* A thread's id in the PID namespace of its process (inner_pid there) in ours, or the id itself if it is not found. */
pid_t jvm_thread_outer_tid(pid_t pid, pid_t inner_pid, pid_t tid);

/* The thread ids of a process, at most n; the total count, or -1 when the process is gone. */
int jvm_process_threads(pid_t pid, pid_t *tids, int n);

/* The processes that a process has started and that are there, at most n.  Returns how many. */
int jvm_process_children(pid_t pid, pid_t *children, int n);

/* A thread's name as the kernel has it (at most 15 bytes and NUL).  Returns 0, or -1 when it is gone. */
int jvm_thread_comm(pid_t pid, pid_t tid, char comm[16]);

/* CPU time of all threads of a process so far, ended ones included, in ns.  Returns 0, or -1 when it is gone. */
int jvm_process_cpu_ns(pid_t pid, uint64_t *cpu_ns);

/* The part of it that threads spent in user space, in steps of 10 ms.  Returns 0, or -1 when the process is gone. */
int jvm_process_user_ns(pid_t pid, uint64_t *user_ns);

/*
 * CPU time that a virtual machine's host kept from all of its CPUs since it booted, in ns (steps of 10 ms).  What a
 * thread's stay on a CPU takes contains it; what the kernel charges to the thread does not.  Returns 0, or -1 where the
 * kernel does not tell.
 */
int jvm_stolen_ns(uint64_t *stolen_ns);

#endif
