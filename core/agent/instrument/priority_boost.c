#include "core/agent/instrument/priority_boost.h"

#include "core/agent/codecache/compiling.h"
#include "core/agent/control/own_threads.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_OF_ALL (-20)
#define POLL_MS      10 /* between two polls of the compilers, at most */

enum { VM_THREAD, CALLER };

static _Thread_local struct priority_boost *mine; /* between begin and end */

static void raise_thread(struct priority_boost *boost, size_t which, pid_t tid)
{
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, (id_t)tid);
    if (tid == 0 || errno != 0 || setpriority(PRIO_PROCESS, (id_t)tid, FIRST_OF_ALL) < 0)
        return;
    boost->tids[which] = tid;
    boost->niceness[which] = niceness;
}

void priority_boost_begin(struct priority_boost *boost, uint32_t n_classes)
{
    boost->n_left = n_classes;
    mine = boost;
}

void priority_boost_class_shown(void)
{
    pid_t vm_thread = 0;
    if (mine == NULL || mine->n_left == 0 || --mine->n_left > 0)
        return;
    mine->waited_ms = compiling_wait((struct compiling_patience){ .limit = mine->wait_ms, .interval = POLL_MS },
                                     mine->is_over, mine->context);
    own_threads_find("VM Thread", &vm_thread, 1);
    raise_thread(mine, VM_THREAD, vm_thread);
    raise_thread(mine, CALLER, (pid_t)syscall(SYS_gettid));
}

void priority_boost_end(struct priority_boost *boost)
{
    for (size_t i = 0; i < 2; i++)
        if (boost->tids[i] != 0)
            setpriority(PRIO_PROCESS, (id_t)boost->tids[i], boost->niceness[i]);
    mine = NULL;
}
