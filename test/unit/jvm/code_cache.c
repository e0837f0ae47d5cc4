#include "test/unit/jvm/code_cache.h"

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

struct field {
    const char *type, *name;
    uint64_t offset;
    void *address; /* of a static one */
};

struct type {
    const char *name;
    uint64_t n_bytes;
};

extern const struct field *gHotSpotVMStructs;
extern const struct type *gHotSpotVMTypes;
extern uint64_t gHotSpotVMStructEntryArrayStride, gHotSpotVMStructEntryTypeNameOffset,
    gHotSpotVMStructEntryFieldNameOffset, gHotSpotVMStructEntryOffsetOffset, gHotSpotVMStructEntryAddressOffset,
    gHotSpotVMTypeEntryArrayStride, gHotSpotVMTypeEntryTypeNameOffset, gHotSpotVMTypeEntrySizeOffset;

EXPORT struct jvm_heaps *jvm_heaps;

static const struct field fields[] = {
    { "CodeCache", "_heaps", 0, &jvm_heaps },
    { "GrowableArrayBase", "_len", offsetof(struct jvm_heaps, n), NULL },
    { "GrowableArray<int>", "_data", offsetof(struct jvm_heaps, all), NULL },
    { "CodeHeap", "_memory", offsetof(struct jvm_heap, memory), NULL },
    { "CodeHeap", "_segmap", offsetof(struct jvm_heap, map), NULL },
    { "CodeHeap", "_log2_segment_size", offsetof(struct jvm_heap, log2), NULL },
    { "VirtualSpace", "_low", offsetof(struct jvm_space, low), NULL },
    { "VirtualSpace", "_high", offsetof(struct jvm_space, used), NULL },
    { "VirtualSpace", "_high_boundary", offsetof(struct jvm_space, high), NULL },
    { NULL, NULL, 0, NULL },
};

static const struct type types[] = { { "HeapBlock", JVM_BLOCK_BYTES }, { NULL, 0 } };

EXPORT const struct field *gHotSpotVMStructs = fields;
EXPORT uint64_t gHotSpotVMStructEntryArrayStride = sizeof *fields;
EXPORT uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct field, type);
EXPORT uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct field, name);
EXPORT uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct field, offset);
EXPORT uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct field, address);
EXPORT const struct type *gHotSpotVMTypes = types;
EXPORT uint64_t gHotSpotVMTypeEntryArrayStride = sizeof *types;
EXPORT uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct type, name);
EXPORT uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct type, n_bytes);
