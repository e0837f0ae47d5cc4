#include "core/hotspot/vm_threads.h"

#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"
#include "core/jvm/process.h"

void vm_threads_open(struct vm *vm, struct vm_threads *threads)
{
    memset(threads, 0, sizeof *threads);
    threads->vm = vm;
    threads->pid = vm_pid(vm);
    threads->inner_pid = jvm_process_inner_pid(threads->pid);
    threads->is_known = vm_thread_list_find(vm, &threads->where);
}

void vm_threads_free(struct vm_threads *threads)
{
    free(threads->all);
    free(threads->list);
    free(threads->next);
    memset(threads, 0, sizeof *threads);
}

/* The addresses of all threads into 'next'.  Returns how many, or -1. */
static int64_t read_list(struct vm_threads *threads)
{
    int64_t n = vm_thread_list_read(threads->vm, &threads->where, threads->next, threads->list_room);
    if (n <= (int64_t)threads->list_room)
        return n;
    threads->list_room = (uint32_t)(n + n / 2 + 16);
    threads->list = xreallocarray(threads->list, threads->list_room, sizeof *threads->list);
    threads->next = xreallocarray(threads->next, threads->list_room, sizeof *threads->next);
    threads->all = xreallocarray(threads->all, threads->list_room, sizeof *threads->all);
    n = vm_thread_list_read(threads->vm, &threads->where, threads->next, threads->list_room);
    return n <= (int64_t)threads->list_room ? n : -1;
}

static int32_t known_tid(const struct vm_threads *threads, int32_t inner_tid)
{
    if (threads->pid == threads->inner_pid)
        return inner_tid;
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->all[i].inner_tid == inner_tid && threads->all[i].tid != 0)
            return threads->all[i].tid;
    return jvm_thread_outer_tid(threads->pid, threads->inner_pid, inner_tid);
}

/* Of each thread in 'list', through its OSThread. */
static void read_ids(struct vm_threads *threads)
{
    uint32_t n = threads->n_list;
    uint64_t *words = xcalloc((size_t)n + 1, sizeof *words), *addresses = xcalloc((size_t)n + 1, sizeof *addresses);
    struct vm_thread *all = xcalloc((size_t)n + 1, sizeof *all);
    for (uint32_t i = 0; i < n; i++)
        addresses[i] = threads->list[i] + threads->where.os_thread;
    vm_read_words(threads->vm, addresses, n, words);
    for (uint32_t i = 0; i < n; i++)
        addresses[i] = words[i] + threads->where.id;
    vm_read_words(threads->vm, addresses, n, words);
    for (uint32_t i = 0; i < n; i++) {
        int32_t inner = (int32_t)(uint32_t)words[i];
        all[i] = (struct vm_thread){ threads->list[i], inner == 0 ? 0 : known_tid(threads, inner), inner };
    }
    memcpy(threads->all, all, n * sizeof *all);
    threads->n = n;
    free(words);
    free(addresses);
    free(all);
}

static bool is_complete(const struct vm_threads *threads)
{
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->all[i].tid == 0)
            return false;
    return true;
}

void vm_threads_round(struct vm_threads *threads)
{
    int64_t n = threads->is_known ? read_list(threads) : -1;
    if (n < 0)
        return;
    bool is_same = (uint32_t)n == threads->n_list &&
                   (n == 0 || memcmp(threads->list, threads->next, (size_t)n * sizeof *threads->list) == 0);
    if (is_same && is_complete(threads))
        return;
    uint64_t *list = threads->list;
    threads->list = threads->next;
    threads->next = list;
    threads->n_list = (uint32_t)n;
    read_ids(threads);
}

const struct vm_thread *vm_threads_by_tid(const struct vm_threads *threads, int32_t tid)
{
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->all[i].tid == tid)
            return &threads->all[i];
    return NULL;
}

const struct vm_thread *vm_threads_by_address(const struct vm_threads *threads, uint64_t address)
{
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->all[i].address == address)
            return &threads->all[i];
    return NULL;
}
