#include "core/hotspot/vm_threads.h"

#include "core/hotspot/vm.h"

#define THREADS_MAX 65536u

bool vm_thread_list_find(struct vm *vm, struct vm_thread_list *list)
{
    struct vm_field array[] = {
        { "ThreadsSMRSupport", "_java_thread_list", &list->list, true },
        { "ThreadsList", "_length", &list->length, false },
        { "ThreadsList", "_threads", &list->data, false },
    };
    struct vm_field chain[] = {
        { "Threads", "_thread_list", &list->list, true },
        { "JavaThread", "_next", &list->next, false },
    };
    struct vm_field thread[] = {
        { "OSThread", "_thread_id", &list->id, false },
        { "Thread", "_osthread", &list->os_thread, false },
        { "JavaThread", "_osthread", &list->os_thread, false }, /* JDK 8 to 17 */
    };
    return (vm_fields_find(vm, array, sizeof array / sizeof *array) ||
            vm_fields_find(vm, chain, sizeof chain / sizeof *chain)) &&
           vm_fields_find(vm, thread, sizeof thread / sizeof *thread);
}

static int64_t read_array(struct vm *vm, const struct vm_thread_list *list, uint64_t address, uint64_t *threads,
                          size_t room)
{
    uint64_t data;
    uint32_t n;
    if (address == 0 || !vm_read(vm, address + list->length, &n, sizeof n) || n > THREADS_MAX ||
        !vm_read_u64(vm, address + list->data, &data))
        return -1;
    size_t n_wanted = n < room ? n : room;
    return n_wanted == 0 || vm_read(vm, data, threads, n_wanted * sizeof *threads) ? (int64_t)n : -1;
}

static int64_t read_chain(struct vm *vm, const struct vm_thread_list *list, uint64_t thread, uint64_t *threads,
                          size_t room)
{
    int64_t n = 0;
    for (; thread != 0; n++) {
        if ((size_t)n < room)
            threads[n] = thread;
        if (n == THREADS_MAX || !vm_read_u64(vm, thread + list->next, &thread))
            return -1; /* a thread that has just ended */
    }
    return n;
}

int64_t vm_thread_list_read(struct vm *vm, const struct vm_thread_list *list, uint64_t *threads, size_t room)
{
    uint64_t address;
    if (!vm_read_u64(vm, list->list, &address))
        return -1;
    return list->data != VM_NONE ? read_array(vm, list, address, threads, room)
                                 : read_chain(vm, list, address, threads, room);
}
