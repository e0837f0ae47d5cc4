/*
 * By which compiler code was made, how often a method was called, and flags: read from HotSpot's own structures, whose
 * layout libjvm.so exports for its debugger (gHotSpotVMStructs; SA §3.1).  JVMTI does not tell it.
 *
 * Everything is read by process_vm_readv on this very process: an address that is none makes the answer unknown, and
 * not a crash.  Code is found as the JVM does it: a heap's segment map has, for each segment of it, how many segments
 * back a block begins.
 */
#include "core/agent/vm_structs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define HEAPS_MAX    8
#define HOPS_MAX     100000
#define ENTRIES_MAX  20000
#define FREE_SEGMENT 0xff

/* Where fields are. */
static struct {
    bool knows_code, knows_calls;
    uint64_t heaps;                                 /* the address of a pointer to the list of heaps */
    uint64_t list_length, list_data;                /* offsets in the list */
    uint64_t heap_memory, heap_segments, heap_log2; /* in a heap */
    uint64_t space_low, space_high;                 /* in a VirtualSpace */
    uint64_t block_bytes, level;                    /* of a block's header; in an nmethod */
    uint64_t constant, counters;                    /* in a Method */
    uint64_t code_size, calls, count;               /* in a ConstMethod, in MethodCounters, in its counter */
} at;

static bool get(uint64_t address, void *value, size_t n)
{
    struct iovec here = { value, n }, there = { (void *)(uintptr_t)address, n };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

static bool get_u64(uint64_t address, uint64_t *value)
{
    return get(address, value, sizeof *value);
}

static bool get_text(uint64_t address, char *text, size_t n)
{
    uint64_t start;
    text[0] = '\0';
    if (!get_u64(address, &start) || start == 0)
        return false;
    if (get(start, text, n)) {
        bool is_whole = memchr(text, '\0', n) != NULL;
        text[n - 1] = '\0';
        return is_whole;
    }
    /* It ends where nothing is mapped behind it. */
    for (size_t i = 0; i + 1 < n && get(start + i, text + i, 1); i++) {
        text[i + 1] = '\0';
        if (text[i] == '\0')
            return true;
    }
    return false;
}

/* ---- the tables ---- */

static bool get_symbol(void *library, const char *name, uint64_t *value)
{
    const void *symbol = dlsym(library, name);
    return symbol != NULL && get_u64((uint64_t)(uintptr_t)symbol, value);
}

struct wanted {
    const char *type, *field;
    uint64_t *value;
    bool is_static, found;
};

struct table {
    uint64_t start, stride, type, field, offset, address;
};

static bool open_table(void *library, struct table *table)
{
    return get_symbol(library, "gHotSpotVMStructs", &table->start) &&
           get_symbol(library, "gHotSpotVMStructEntryArrayStride", &table->stride) &&
           get_symbol(library, "gHotSpotVMStructEntryTypeNameOffset", &table->type) &&
           get_symbol(library, "gHotSpotVMStructEntryFieldNameOffset", &table->field) &&
           get_symbol(library, "gHotSpotVMStructEntryOffsetOffset", &table->offset) &&
           get_symbol(library, "gHotSpotVMStructEntryAddressOffset", &table->address);
}

/* Returns whether all are there. */
static bool find_fields(const struct table *table, struct wanted *wanted, size_t n)
{
    char type[64], field[64];
    size_t n_found = 0;
    for (uint64_t i = 0; i < ENTRIES_MAX && n_found < n; i++) {
        uint64_t entry = table->start + i * table->stride;
        if (!get_text(entry + table->type, type, sizeof type)) {
            if (type[0] == '\0')
                break;
            continue; /* a longer name */
        }
        for (size_t k = 0; k < n; k++) {
            if (wanted[k].found || strcmp(type, wanted[k].type) != 0 ||
                !get_text(entry + table->field, field, sizeof field) || strcmp(field, wanted[k].field) != 0)
                continue;
            wanted[k].found = get_u64(entry + (wanted[k].is_static ? table->address : table->offset), wanted[k].value);
            n_found += wanted[k].found;
        }
    }
    return n_found == n;
}

/* The size of a type. */
static bool find_size(void *library, const char *name, uint64_t *size)
{
    uint64_t start, stride, type, at_size;
    char text[64];
    if (!get_symbol(library, "gHotSpotVMTypes", &start) ||
        !get_symbol(library, "gHotSpotVMTypeEntryArrayStride", &stride) ||
        !get_symbol(library, "gHotSpotVMTypeEntryTypeNameOffset", &type) ||
        !get_symbol(library, "gHotSpotVMTypeEntrySizeOffset", &at_size))
        return false;
    for (uint64_t i = 0; i < ENTRIES_MAX; i++) {
        uint64_t entry = start + i * stride;
        bool is_whole = get_text(entry + type, text, sizeof text);
        if (text[0] == '\0')
            return false;
        if (is_whole && strcmp(text, name) == 0)
            return get_u64(entry + at_size, size);
    }
    return false;
}

static void find_all(void)
{
    void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    struct table table;
    struct wanted wanted[] = {
        { "CodeCache", "_heaps", &at.heaps, true, false },
        { "GrowableArrayBase", "_len", &at.list_length, false, false },
        { "GrowableArray<int>", "_data", &at.list_data, false, false },
        { "CodeHeap", "_memory", &at.heap_memory, false, false },
        { "CodeHeap", "_segmap", &at.heap_segments, false, false },
        { "CodeHeap", "_log2_segment_size", &at.heap_log2, false, false },
        { "VirtualSpace", "_low", &at.space_low, false, false },
        { "VirtualSpace", "_high_boundary", &at.space_high, false, false },
        { "nmethod", "_comp_level", &at.level, false, false },
    };
    struct wanted of_calls[] = {
        { "Method", "_constMethod", &at.constant, false, false },
        { "Method", "_method_counters", &at.counters, false, false },
        { "ConstMethod", "_code_size", &at.code_size, false, false },
        { "MethodCounters", "_invocation_counter", &at.calls, false, false },
        { "InvocationCounter", "_counter", &at.count, false, false },
    };
    if (library == NULL)
        return;
    if (open_table(library, &table)) {
        at.knows_code = find_fields(&table, wanted, sizeof wanted / sizeof *wanted) &&
                        find_size(library, "HeapBlock", &at.block_bytes);
        at.knows_calls = find_fields(&table, of_calls, sizeof of_calls / sizeof *of_calls);
    }
    dlclose(library);
}

/* ---- code ---- */

/* The heaps are where they are for ever; what is read of them once need not be read again for each method. */
static struct heap {
    uint64_t low, high; /* what is reserved for it */
    uint64_t map;       /* of segments, a byte for each */
    int32_t log2;       /* of a segment's bytes */
} heaps[HEAPS_MAX];
static int32_t n_heaps;

static bool read_heap(uint64_t address, struct heap *heap)
{
    return get_u64(address + at.heap_memory + at.space_low, &heap->low) &&
           get_u64(address + at.heap_memory + at.space_high, &heap->high) &&
           get_u64(address + at.heap_segments + at.space_low, &heap->map) &&
           get(address + at.heap_log2, &heap->log2, sizeof heap->log2) && heap->log2 >= 1 && heap->log2 <= 30;
}

static void read_heaps(void)
{
    uint64_t list, data, heap;
    int32_t n = 0;
    if (!at.knows_code || !get_u64(at.heaps, &list) || !get(list + at.list_length, &n, sizeof n) ||
        !get_u64(list + at.list_data, &data))
        return;
    for (int32_t i = 0; i < n && i < HEAPS_MAX; i++)
        if (get_u64(data + 8 * (uint64_t)i, &heap) && read_heap(heap, &heaps[n_heaps]))
            n_heaps++;
}

static void know(void)
{
    find_all();
    read_heaps();
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where the block with an address begins; 0: it is not known. */
static uint64_t find_block(const struct heap *heap, uint64_t address)
{
    uint64_t segment = (address - heap->low) >> heap->log2;
    uint8_t back = 0;
    for (int hops = 0; hops < HOPS_MAX; hops++) {
        if (!get(heap->map + segment, &back, 1) || back == FREE_SEGMENT || back > segment)
            return 0;
        if (back == 0)
            return heap->low + (segment << heap->log2);
        segment -= back;
    }
    return 0;
}

uint32_t vm_structs_tier(const void *code)
{
    uint64_t address = (uint64_t)(uintptr_t)code;
    uint8_t level = 0;
    pthread_once(&once, know);
    for (int32_t i = 0; i < n_heaps; i++) {
        if (address < heaps[i].low || address >= heaps[i].high)
            continue;
        uint64_t block = find_block(&heaps[i], address);
        return block != 0 && get(block + at.block_bytes + at.level, &level, 1) && level <= 4 ? level : 0;
    }
    return 0;
}

/* ---- methods ---- */

/* A jmethodID is the address of a pointer to the method; what it says of its code must be true, else it is none. */
static bool find_method(const void *id, uint32_t code_bytes, uint64_t *method)
{
    uint64_t constant;
    uint16_t size;
    return get_u64((uint64_t)(uintptr_t)id, method) && get_u64(*method + at.constant, &constant) &&
           get(constant + at.code_size, &size, sizeof size) && size == code_bytes;
}

uint32_t vm_structs_calls(const void *id, uint32_t code_bytes)
{
    uint64_t method, counters;
    uint32_t count = 0;
    pthread_once(&once, know);
    if (!at.knows_calls || !find_method(id, code_bytes, &method) || !get_u64(method + at.counters, &counters) ||
        counters == 0 || !get(counters + at.calls + at.count, &count, sizeof count))
        return 0;
    return count >> 1; /* below is a flag: it has overflowed */
}

/* ---- flags ---- */

#define FLAGS_MAX   5000
#define FLAG_ORIGIN 15 /* of a flag's bits: from where it has its value; 0: nobody gave it one */

static struct {
    bool are_known;
    uint64_t all, n, name, address, bits, bytes; /* pointers to the array and its length; of one: offsets, its size */
} flags_at;

static void find_flags(void)
{
    void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    struct table table;
    struct wanted wanted[] = { { "JVMFlag", "flags", &flags_at.all, true, false },
                               { "JVMFlag", "numFlags", &flags_at.n, true, false },
                               { "JVMFlag", "_name", &flags_at.name, false, false },
                               { "JVMFlag", "_addr", &flags_at.address, false, false },
                               { "JVMFlag", "_flags", &flags_at.bits, false, false } };
    if (library == NULL)
        return;
    flags_at.are_known = open_table(library, &table) && find_fields(&table, wanted, sizeof wanted / sizeof *wanted) &&
                         find_size(library, "JVMFlag", &flags_at.bytes);
    dlclose(library);
}

/* The JVM itself may have switched it on later: it does not note from where it has the value then. */
static bool is_asked_for(uint64_t flag)
{
    uint64_t address;
    uint32_t bits;
    uint8_t value;
    return get_u64(flag + flags_at.address, &address) && get(address, &value, sizeof value) && value != 0 &&
           get(flag + flags_at.bits, &bits, sizeof bits) && (bits & FLAG_ORIGIN) != 0;
}

bool vm_structs_asked_for(const char *flag)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    uint64_t all, n;
    char text[64];
    pthread_once(&found, find_flags);
    if (!flags_at.are_known || !get_u64(flags_at.all, &all) || !get_u64(flags_at.n, &n))
        return false;
    for (uint64_t i = 0; i < n && i < FLAGS_MAX; i++)
        if (get_text(all + i * flags_at.bytes + flags_at.name, text, sizeof text) && strcmp(text, flag) == 0)
            return is_asked_for(all + i * flags_at.bytes);
    return false;
}
