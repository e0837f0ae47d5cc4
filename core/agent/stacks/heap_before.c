#include "core/agent/stacks/heap_before.h"

#include "core/agent/control/jvmti_env.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_heap.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define ENTRIES 256u /* more, between two looks of the log's thread, are not told */

/* One collection begins at a time: one writes, and the log's thread reads. */
static struct heap_before_state {
    struct vm_heap heap; /* set while is_on is false */
    _Atomic bool is_on;
    _Atomic uint32_t head, tail;
    struct {
        uint64_t time_ns, bytes;
    } entries[ENTRIES];
} state;

static const jvmtiEvent kinds[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START };

void heap_before_begin(jvmtiEnv *jvmti)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_garbage_collection_events = 1;
    vm_heap_open(own_vm(), &state.heap);
    if (state.heap.n == 0 || (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE)
        return;
    atomic_store(&state.tail, atomic_load(&state.head));
    atomic_store(&state.is_on, true);
    if (jvmti_env_switch(jvmti, JVMTI_ENABLE, kinds, 1) < 0)
        atomic_store(&state.is_on, false);
}

void heap_before_end(jvmtiEnv *jvmti)
{
    if (!atomic_exchange(&state.is_on, false))
        return;
    jvmti_env_switch(jvmti, JVMTI_DISABLE, kinds, 1);
}

void heap_before_collection(void)
{
    struct timespec now;
    uint64_t bytes;
    uint32_t head = atomic_load(&state.head);
    if (!atomic_load(&state.is_on) || head - atomic_load(&state.tail) == ENTRIES ||
        !vm_heap_used(own_vm(), &state.heap, &bytes))
        return;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    state.entries[head % ENTRIES].time_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    state.entries[head % ENTRIES].bytes = bytes;
    atomic_store(&state.head, head + 1);
}

int heap_before_put(struct sample_out *out)
{
    uint32_t tail = atomic_load(&state.tail);
    for (; tail != atomic_load(&state.head); tail++) {
        const struct poll_heap heap = { state.entries[tail % ENTRIES].time_ns, POLL_HEAP_BEFORE,
                                        state.entries[tail % ENTRIES].bytes };
        if (sample_out_room(out, SAMPLE_OUT_STACK_BYTES) < 0)
            return -1;
        poll_log_put_heap(&out->s, &heap);
        atomic_store(&state.tail, tail + 1);
    }
    return 0;
}
