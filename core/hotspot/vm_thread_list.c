#include "core/hotspot/vm_thread_list.h"

#include "core/hotspot/vm_fields.h"

#define THREADS_MAX 65536u

bool vm_thread_list_find(struct vm_thread_list *list)
{
    struct vm_field fields[] = {
        { "ThreadsSMRSupport", "_java_thread_list", &list->list, true },
        { "ThreadsList", "_length", &list->length, false },
        { "ThreadsList", "_threads", &list->data, false },
        { "OSThread", "_thread_id", &list->id, false },
    };
    struct vm_field now = { "Thread", "_osthread", &list->os_thread, false };
    struct vm_field former = { "JavaThread", "_osthread", &list->os_thread, false }; /* JDK 17 */
    return vm_fields_find(fields, sizeof fields / sizeof *fields) &&
           (vm_fields_find(&now, 1) || vm_fields_find(&former, 1));
}

int64_t vm_thread_list_read(const struct vm_thread_list *list, uint64_t *data)
{
    uint64_t address;
    uint32_t n;
    if (!vm_read_u64(list->list, &address) || address == 0 || !vm_read(address + list->length, &n, sizeof n) ||
        n > THREADS_MAX || !vm_read_u64(address + list->data, data))
        return -1;
    return n;
}
