#include "core/agent/instrument/hurry.h"

#include "core/agent/codecache/compiling.h"
#include "core/agent/control/own_threads.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_OF_ALL (-20)
#define LOOK_MS      10 /* between two looks at the compilers, at most */

enum { VM_THREAD, CALLER };

static _Thread_local struct hurry *mine; /* between begin and end */

static void raise_thread(struct hurry *hurry, size_t which, pid_t tid)
{
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, (id_t)tid);
    if (tid == 0 || errno != 0 || setpriority(PRIO_PROCESS, (id_t)tid, FIRST_OF_ALL) < 0)
        return;
    hurry->tids[which] = tid;
    hurry->niceness[which] = niceness;
}

void hurry_begin(struct hurry *hurry, uint32_t n_classes)
{
    hurry->n_left = n_classes;
    mine = hurry;
}

void hurry_class_shown(void)
{
    pid_t vm_thread = 0;
    if (mine == NULL || mine->n_left == 0 || --mine->n_left > 0)
        return;
    mine->waited_ms = compiling_wait((struct compiling_patience){ .limit = mine->wait_ms, .look = LOOK_MS },
                                     mine->is_over, mine->context);
    own_threads_find("VM Thread", &vm_thread, 1);
    raise_thread(mine, VM_THREAD, vm_thread);
    raise_thread(mine, CALLER, (pid_t)syscall(SYS_gettid));
}

void hurry_end(struct hurry *hurry)
{
    for (size_t i = 0; i < 2; i++)
        if (hurry->tids[i] != 0)
            setpriority(PRIO_PROCESS, (id_t)hurry->tids[i], hurry->niceness[i]);
    mine = NULL;
}
