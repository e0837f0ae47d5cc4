#include "core/hotspot/vm_compilers.h"

#include "core/hotspot/vm_fields.h"

#include <pthread.h>

#define THREADS_MAX 100000u

/* Offsets of fields, but for the list of threads, which is a pointer at an address. */
static struct {
    uint64_t list, length, threads, compilation, task, number, system_tid;
    uint64_t system, system_17; /* in a thread: where what the system knows is; in JDK 17 the field is JavaThread's */
    uint64_t method, loop, constant, n_bytes;
    bool are_known, are_methods_known;
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
    struct vm_field of_method[] = {
        { "CompileTask", "_method", &at.method, false },
        { "CompileTask", "_osr_bci", &at.loop, false },
        { "Method", "_constMethod", &at.constant, false },
        { "ConstMethod", "_code_size", &at.n_bytes, false },
    };
    struct vm_field of_thread[] = { { "Thread", "_osthread", &at.system, false } };
    struct vm_field of_java_thread[] = { { "JavaThread", "_osthread", &at.system_17, false } };
    at.are_known = vm_fields_find(fields, sizeof fields / sizeof *fields);
    at.are_methods_known = vm_fields_find(of_method, sizeof of_method / sizeof *of_method);
    if (!vm_fields_find(of_thread, 1)) {
        at.are_known = at.are_known && vm_fields_find(of_java_thread, 1);
        at.system = at.system_17;
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

pid_t vm_thread_tid(uint64_t thread)
{
    uint64_t system;
    int32_t tid;
    pthread_once(&once, know);
    bool is_known = at.are_known && thread != 0 && vm_read_u64(thread + at.system, &system) &&
                    vm_read(system + at.system_tid, &tid, sizeof tid);
    return is_known && tid > 0 ? tid : 0;
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
        if (vm_thread_tid(thread) == tid)
            return thread;
    return 0;
}

/* The task may end meanwhile: then it is something else by now, or not there. */
static void find_method(uint64_t task, struct vm_compilation *compilation)
{
    uint64_t method, constant;
    int32_t loop;
    uint16_t n_bytes;
    if (!at.are_methods_known || !vm_read_u64(task + at.method, &method) ||
        !vm_read(task + at.loop, &loop, sizeof loop) || !vm_read_u64(method + at.constant, &constant) ||
        !vm_read(constant + at.n_bytes, &n_bytes, sizeof n_bytes))
        return;
    compilation->is_of_loop = loop >= 0;
    compilation->n_bytes = n_bytes;
}

struct vm_compilation vm_compiler_read(uint64_t compiler)
{
    uint64_t env, task;
    struct vm_compilation compilation = { 0 };
    if (compiler != 0 && vm_read_u64(compiler + at.compilation, &env) && env != 0 &&
        vm_read_u64(env + at.task, &task) && vm_read(task + at.number, &compilation.number, sizeof compilation.number))
        find_method(task, &compilation);
    return compilation;
}
