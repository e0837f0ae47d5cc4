#include "core/hotspot/vm_methods.h"

#include "core/hotspot/vm_state.h"

#define N_TIERS 5u /* 0: interpreted */

static void find_all(struct vm *vm)
{
    struct vm_counts *at = &vm->counts;
    struct vm_field of_code[] = { { "nmethod", "_comp_level", &at->level, false } };
    struct vm_field of_calls[] = {
        { "Method", "_method_counters", &at->counters, false },
        { "MethodCounters", "_invocation_counter", &at->calls, false },
        { "InvocationCounter", "_counter", &at->count, false },
    };
    struct vm_field of_compiled[] = { { "Method", "_code", &at->code, false } };
    struct vm_field of_bytes[] = {
        { "Method", "_constMethod", &at->constant, false },
        { "ConstMethod", "_code_size", &at->bytes, false },
    };
    at->knows_bytes = vm_fields_find(vm, of_bytes, sizeof of_bytes / sizeof *of_bytes);
    at->knows_code = vm_fields_find(vm, of_code, sizeof of_code / sizeof *of_code);
    at->knows_calls = vm_fields_find(vm, of_calls, sizeof of_calls / sizeof *of_calls);
    at->knows_compiled = at->knows_code && at->knows_calls && vm_fields_find(vm, of_compiled, 1);
}

uint32_t vm_code_tier(struct vm *vm, uint64_t header)
{
    struct vm_counts *at = &vm->counts;
    uint8_t level = 0;
    vm_once(vm, &vm->counts.once, find_all);
    return at->knows_code && vm_read(vm, header + at->level, &level, 1) && level < N_TIERS ? level : VM_TIER_UNKNOWN;
}

uint32_t vm_method_tier(struct vm *vm, uint64_t method)
{
    struct vm_counts *at = &vm->counts;
    uint64_t code;
    vm_once(vm, &vm->counts.once, find_all);
    if (!at->knows_compiled || !vm_read_u64(vm, method + at->code, &code))
        return VM_TIER_UNKNOWN;
    return code == 0 ? 0 : vm_code_tier(vm, code);
}

void vm_methods_codes(struct vm *vm, const uint64_t *methods, size_t n, uint64_t *codes)
{
    vm_once(vm, &vm->counts.once, find_all);
    for (size_t i = 0; i < n; i++)
        codes[i] = vm->counts.knows_compiled ? methods[i] + vm->counts.code : 0;
    vm_read_words(vm, codes, n, codes);
}

/*
 * Calls that HotSpot compiles a method after, loops or not (Tier3MinInvocationThreshold, Tier4MinInvocationThreshold):
 * what it is compiled by for one call that goes on, is not the code in which the next call begins.
 */
static const uint32_t calls_of_tier[N_TIERS] = { 0, 100, 100, 100, 600 };

/* The counter stands still as soon as the method has a profile, the code says the rest. */
static uint32_t calls_of(struct vm *vm, uint64_t method, uint32_t tier)
{
    struct vm_counts *at = &vm->counts;
    uint64_t counters;
    uint32_t count = 0, least = tier < N_TIERS ? calls_of_tier[tier] : 0;
    if (!at->knows_calls || !vm_read_u64(vm, method + at->counters, &counters) || counters == 0 ||
        !vm_read(vm, counters + at->calls + at->count, &count, sizeof count))
        return least;
    count >>= 1; /* below is a flag: it has overflowed */
    return count > least ? count : least;
}

uint32_t vm_method_calls(struct vm *vm, uint64_t method)
{
    return calls_of(vm, method, vm_method_tier(vm, method));
}

/* A jmethodID is the address of a pointer to the method; what it says of its code must be true, else it is none. */
static bool find_method(struct vm *vm, const void *id, uint32_t code_bytes, uint64_t *method)
{
    struct vm_counts *at = &vm->counts;
    uint64_t constant;
    uint16_t size;
    vm_once(vm, &vm->counts.once, find_all);
    return at->knows_bytes && vm_read_u64(vm, (uint64_t)(uintptr_t)id, method) &&
           vm_read_u64(vm, *method + at->constant, &constant) &&
           vm_read(vm, constant + at->bytes, &size, sizeof size) && size == code_bytes;
}

void vm_id_counts(struct vm *vm, const void *id, uint32_t code_bytes, uint32_t *calls, uint32_t *tier)
{
    uint64_t method;
    *calls = 0;
    *tier = VM_TIER_UNKNOWN;
    if (!find_method(vm, id, code_bytes, &method))
        return;
    *tier = vm_method_tier(vm, method);
    *calls = calls_of(vm, method, *tier);
}
