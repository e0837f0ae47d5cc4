#include "core/agent/vm_compilers.h"
#include "core/agent/vm_fields.h"

#include <pthread.h>

#define THREADS_MAX 100000u

/* Offsets of fields, but for the list of threads, which is a pointer at an address. */
static struct {
    uint64_t list, length, threads, compilation, task, number, system_tid;
    uint64_t system, system_17; /* in a thread: where what the system knows is; in JDK 17 the field is JavaThread's */
    bool are_known;
} at;

static void know(void)
{
    struct vm_field fields[] = {
        { "ThreadsSMRSupport", "_java_thread_list", &at.list, true },
        { "ThreadsList", "_length", &at.length, false },
        { "ThreadsList", "_threads", &at.threads, false },
        { "OSThread", "_thread_id", &at.system_tid, false },
        { "CompilerThread", "_env", &at.compilation, false },
        { "ciEnv", "_task", &at.task, false },
        { "CompileTask", "_compile_id", &at.number, false },
    };
    struct vm_field of_thread[] = { { "Thread", "_osthread", &at.system, false } };
    struct vm_field of_java_thread[] = { { "JavaThread", "_osthread", &at.system_17, false } };
    at.are_known = vm_fields_find(fields, sizeof fields / sizeof *fields);
    if (!vm_fields_find(of_thread, 1)) {
        at.are_known = at.are_known && vm_fields_find(of_java_thread, 1);
        at.system = at.system_17;
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool has_tid(uint64_t thread, pid_t tid)
{
    uint64_t system;
    int32_t its;
    return vm_read_u64(thread + at.system, &system) && vm_read(system + at.system_tid, &its, sizeof its) && its == tid;
}

uint64_t vm_compiler_find(pid_t tid)
{
    uint64_t list, threads, thread;
    uint32_t n;
    pthread_once(&once, know);
    if (!at.are_known || !vm_read_u64(at.list, &list) || !vm_read(list + at.length, &n, sizeof n) ||
        !vm_read_u64(list + at.threads, &threads))
        return 0;
    for (uint32_t i = 0; i < n && i < THREADS_MAX && vm_read_u64(threads + 8 * (uint64_t)i, &thread); i++)
        if (has_tid(thread, tid))
            return thread;
    return 0;
}

uint32_t vm_compiler_number(uint64_t compiler)
{
    uint64_t compilation, task;
    uint32_t number;
    return compiler != 0 && vm_read_u64(compiler + at.compilation, &compilation) && compilation != 0 &&
                   vm_read_u64(compilation + at.task, &task) && vm_read(task + at.number, &number, sizeof number)
               ? number
               : 0;
}
