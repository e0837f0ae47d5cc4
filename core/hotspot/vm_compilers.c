#include "core/hotspot/vm_compilers.h"

#include "core/hotspot/vm_fields.h"
#include "core/hotspot/vm_thread_list.h"

#include <pthread.h>

#define THREADS_MAX 1024 /* that are looked at: compilers start early */

/* Offsets of fields. */
static struct {
    struct vm_thread_list threads;
    uint64_t compilation, task, number;
    uint64_t method, loop, constant, n_bytes;
    bool are_known, are_methods_known;
} at;

static void know(void)
{
    struct vm_field fields[] = {
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
    at.are_known = vm_thread_list_find(&at.threads) && vm_fields_find(fields, sizeof fields / sizeof *fields);
    at.are_methods_known = vm_fields_find(of_method, sizeof of_method / sizeof *of_method);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

pid_t vm_thread_tid(uint64_t thread)
{
    uint64_t system;
    int32_t tid;
    pthread_once(&once, know);
    bool is_known = at.are_known && thread != 0 && vm_read_u64(thread + at.threads.os_thread, &system) &&
                    vm_read(system + at.threads.id, &tid, sizeof tid);
    return is_known && tid > 0 ? tid : 0;
}

uint64_t vm_compiler_find(pid_t tid)
{
    uint64_t threads[THREADS_MAX];
    pthread_once(&once, know);
    int64_t n = at.are_known ? vm_thread_list_read(&at.threads, threads, THREADS_MAX) : 0;
    for (int64_t i = 0; i < n && i < THREADS_MAX; i++)
        if (vm_thread_tid(threads[i]) == tid)
            return threads[i];
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
