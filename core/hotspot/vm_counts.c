#include "core/hotspot/vm_counts.h"

#include "core/hotspot/vm_fields.h"

#include <pthread.h>

#define N_TIERS 5u /* 0: interpreted */

/* Where fields are: offsets. */
static struct {
    bool knows_code, knows_calls, knows_compiled, knows_bytes;
    uint64_t level;           /* in an nmethod */
    uint64_t counters, code;  /* in a Method */
    uint64_t calls, count;    /* in MethodCounters, in its counter */
    uint64_t constant, bytes; /* in a Method, in its ConstMethod */
} at;

static void find_all(void)
{
    struct vm_field of_code[] = { { "nmethod", "_comp_level", &at.level, false } };
    struct vm_field of_calls[] = {
        { "Method", "_method_counters", &at.counters, false },
        { "MethodCounters", "_invocation_counter", &at.calls, false },
        { "InvocationCounter", "_counter", &at.count, false },
    };
    struct vm_field of_compiled[] = { { "Method", "_code", &at.code, false } };
    struct vm_field of_bytes[] = {
        { "Method", "_constMethod", &at.constant, false },
        { "ConstMethod", "_code_size", &at.bytes, false },
    };
    at.knows_bytes = vm_fields_find(of_bytes, sizeof of_bytes / sizeof *of_bytes);
    at.knows_code = vm_fields_find(of_code, sizeof of_code / sizeof *of_code);
    at.knows_calls = vm_fields_find(of_calls, sizeof of_calls / sizeof *of_calls);
    at.knows_compiled = at.knows_code && at.knows_calls && vm_fields_find(of_compiled, 1);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint32_t vm_code_tier(uint64_t header)
{
    uint8_t level = 0;
    pthread_once(&once, find_all);
    return at.knows_code && vm_read(header + at.level, &level, 1) && level < N_TIERS ? level : VM_TIER_UNKNOWN;
}

uint32_t vm_method_tier(uint64_t method)
{
    uint64_t code;
    pthread_once(&once, find_all);
    if (!at.knows_compiled || !vm_read_u64(method + at.code, &code))
        return VM_TIER_UNKNOWN;
    return code == 0 ? 0 : vm_code_tier(code);
}

/*
 * Calls that HotSpot compiles a method after, loops or not (Tier3MinInvocationThreshold, Tier4MinInvocationThreshold):
 * what it is compiled by for one call that goes on, is not the code in which the next call begins.
 */
static const uint32_t calls_of_tier[N_TIERS] = { 0, 100, 100, 100, 600 };

/* The counter stands still as soon as the method has a profile, the code says the rest. */
static uint32_t calls_of(uint64_t method, uint32_t tier)
{
    uint64_t counters;
    uint32_t count = 0, least = tier < N_TIERS ? calls_of_tier[tier] : 0;
    if (!at.knows_calls || !vm_read_u64(method + at.counters, &counters) || counters == 0 ||
        !vm_read(counters + at.calls + at.count, &count, sizeof count))
        return least;
    count >>= 1; /* below is a flag: it has overflowed */
    return count > least ? count : least;
}

uint32_t vm_method_calls(uint64_t method)
{
    return calls_of(method, vm_method_tier(method));
}

/* A jmethodID is the address of a pointer to the method; what it says of its code must be true, else it is none. */
static bool find_method(const void *id, uint32_t code_bytes, uint64_t *method)
{
    uint64_t constant;
    uint16_t size;
    pthread_once(&once, find_all);
    return at.knows_bytes && vm_read_u64((uint64_t)(uintptr_t)id, method) &&
           vm_read_u64(*method + at.constant, &constant) && vm_read(constant + at.bytes, &size, sizeof size) &&
           size == code_bytes;
}

void vm_id_counts(const void *id, uint32_t code_bytes, uint32_t *calls, uint32_t *tier)
{
    uint64_t method;
    *calls = 0;
    *tier = VM_TIER_UNKNOWN;
    if (!find_method(id, code_bytes, &method))
        return;
    *tier = vm_method_tier(method);
    *calls = calls_of(method, *tier);
}
