#include "core/agent/codecache/own_vm.h"

#include "core/hotspot/vm_state.h"

static struct vm vm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_own(void)
{
    vm_init(&vm, &(struct vm_library){ .pid = 0 });
}

struct vm *own_vm(void)
{
    pthread_once(&once, open_own);
    return &vm;
}
