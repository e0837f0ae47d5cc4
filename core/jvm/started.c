#include "core/jvm/started.h"

#include "core/jvm/process.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX   8    /* of processes: a shell's script that runs a script that runs java */
#define THREADS_MAX 1024 /* in front of it there may be a collector's, as many as CPUs */
#define CHILD_BYTES 4096

/* HotSpot starts it behind what it makes of code (Threads::create_vm), in front of the first Java method. */
#define LAST_STARTED "VM Thread"

static bool has_thread(pid_t pid, const char *name)
{
    pid_t tids[THREADS_MAX];
    char comm[16];
    int n = jvm_process_threads(pid, tids, THREADS_MAX);
    for (int i = 0; i < n && i < THREADS_MAX; i++)
        if (jvm_thread_comm(pid, tids[i], comm) == 0 && strcmp(comm, name) == 0)
            return true;
    return false;
}

static pid_t find_descendant(pid_t pid, int depth)
{
    pid_t tids[THREADS_MAX], found = has_thread(pid, LAST_STARTED) ? pid : 0;
    int n = found != 0 || depth == DEPTH_MAX ? 0 : jvm_process_threads(pid, tids, THREADS_MAX);
    for (int i = 0; i < n && i < THREADS_MAX && found == 0; i++) {
        char path[64], children[CHILD_BYTES], *at = children, *end;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tids[i]);
        if (jvm_read_file(path, children, sizeof children) <= 0)
            continue;
        for (long child; found == 0 && (child = strtol(at, &end, 10)) > 0; at = end)
            found = find_descendant((pid_t)child, depth + 1);
    }
    return found;
}

pid_t jvm_started(pid_t pid)
{
    return find_descendant(pid, 0);
}
