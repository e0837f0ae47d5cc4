#include "core/hotspot/vm_threads.h"

#include "core/hotspot/vm_state.h"

#define AT_ONCE 32u
#define WORDS   3u /* of a thread: allocated before this buffer, where the buffer starts, up to where it is used */

#define BUFFER_MAX (UINT64_C(1) << 32) /* what seems larger is read while it changes */

static void know(struct vm *vm)
{
    struct vm_allocated *at = &vm->allocated;
    struct vm_field fields[] = { { "Thread", "_allocated_bytes", &at->allocated, false },
                                 { "Thread", "_tlab", &at->buffer, false },
                                 { "ThreadLocalAllocBuffer", "_start", &at->start, false },
                                 { "ThreadLocalAllocBuffer", "_top", &at->top, false } };
    at->are_known = vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
}

bool vm_allocated_is_known(struct vm *vm)
{
    vm_once(vm, &vm->allocated.once, know);
    return vm->allocated.are_known;
}

static uint64_t read_some(struct vm *vm, const uint64_t *threads, size_t n)
{
    struct vm_allocated *at = &vm->allocated;
    uint64_t addresses[AT_ONCE * WORDS] = { 0 }, words[AT_ONCE * WORDS], sum = 0;
    for (size_t i = 0; i < n; i++) {
        addresses[WORDS * i] = threads[i] + at->allocated;
        addresses[WORDS * i + 1] = threads[i] + at->buffer + at->start;
        addresses[WORDS * i + 2] = threads[i] + at->buffer + at->top;
    }
    vm_read_words(vm, addresses, n * WORDS, words);
    for (size_t i = 0; i < n; i++) {
        uint64_t start = words[WORDS * i + 1], top = words[WORDS * i + 2];
        sum += words[WORDS * i] + (top >= start && top - start < BUFFER_MAX ? top - start : 0);
    }
    return sum;
}

uint64_t vm_allocated_bytes(struct vm *vm, const uint64_t *threads, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; vm_allocated_is_known(vm) && i < n; i += AT_ONCE)
        sum += read_some(vm, threads + i, n - i < AT_ONCE ? n - i : AT_ONCE);
    return sum;
}
