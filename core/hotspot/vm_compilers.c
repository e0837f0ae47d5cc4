#include "core/hotspot/vm_threads.h"

#include "core/hotspot/vm_state.h"

#define THREADS_MAX 1024 /* that are looked at: compilers start early */

static void know(struct vm *vm)
{
    struct vm_compilers *at = &vm->compilers;
    struct vm_field fields[] = {
        { "CompilerThread", "_env", &at->compilation, false },
        { "ciEnv", "_task", &at->task, false },
        { "CompileTask", "_compile_id", &at->number, false },
    };
    struct vm_field of_method[] = {
        { "CompileTask", "_method", &at->method, false },
        { "CompileTask", "_osr_bci", &at->loop, false },
        { "Method", "_constMethod", &at->constant, false },
        { "ConstMethod", "_code_size", &at->n_bytes, false },
    };
    at->are_known = vm_thread_list_find(vm, &at->threads) && vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    at->are_methods_known = vm_fields_find(vm, of_method, sizeof of_method / sizeof *of_method);
}

pid_t vm_thread_tid(struct vm *vm, uint64_t thread)
{
    struct vm_compilers *at = &vm->compilers;
    uint64_t system;
    int32_t tid;
    vm_once(vm, &vm->compilers.once, know);
    bool is_known = at->are_known && thread != 0 && vm_read_u64(vm, thread + at->threads.os_thread, &system) &&
                    vm_read(vm, system + at->threads.id, &tid, sizeof tid);
    return is_known && tid > 0 ? tid : 0;
}

uint64_t vm_compiler_find(struct vm *vm, pid_t tid)
{
    struct vm_compilers *at = &vm->compilers;
    uint64_t threads[THREADS_MAX];
    vm_once(vm, &vm->compilers.once, know);
    int64_t n = at->are_known ? vm_thread_list_read(vm, &at->threads, threads, THREADS_MAX) : 0;
    for (int64_t i = 0; i < n && i < THREADS_MAX; i++)
        if (vm_thread_tid(vm, threads[i]) == tid)
            return threads[i];
    return 0;
}

/* The task may end meanwhile: then it is something else by now, or not there. */
static void find_method(struct vm *vm, uint64_t task, struct vm_compilation *compilation)
{
    struct vm_compilers *at = &vm->compilers;
    uint64_t method, constant;
    int32_t loop;
    uint16_t n_bytes;
    if (!at->are_methods_known || !vm_read_u64(vm, task + at->method, &method) ||
        !vm_read(vm, task + at->loop, &loop, sizeof loop) || !vm_read_u64(vm, method + at->constant, &constant) ||
        !vm_read(vm, constant + at->n_bytes, &n_bytes, sizeof n_bytes))
        return;
    compilation->is_of_loop = loop >= 0;
    compilation->n_bytes = n_bytes;
}

struct vm_compilation vm_compiler_read(struct vm *vm, uint64_t compiler)
{
    struct vm_compilers *at = &vm->compilers;
    uint64_t env, task;
    struct vm_compilation compilation = { 0 };
    if (compiler != 0 && vm_read_u64(vm, compiler + at->compilation, &env) && env != 0 &&
        vm_read_u64(vm, env + at->task, &task) &&
        vm_read(vm, task + at->number, &compilation.number, sizeof compilation.number))
        find_method(vm, task, &compilation);
    return compilation;
}
