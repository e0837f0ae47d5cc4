#include "test/unit/jvm/structures.h"

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
EXPORT struct jvm_threads *jvm_threads;

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
    { "ThreadsSMRSupport", "_java_thread_list", 0, &jvm_threads },
    { "ThreadsList", "_length", offsetof(struct jvm_threads, n), NULL },
    { "ThreadsList", "_threads", offsetof(struct jvm_threads, all), NULL },
    { "Thread", "_osthread", offsetof(struct jvm_thread, system), NULL },
    { "OSThread", "_thread_id", offsetof(struct jvm_system_thread, tid), NULL },
    { "CompilerThread", "_env", offsetof(struct jvm_thread, env), NULL },
    { "ciEnv", "_task", offsetof(struct jvm_env, task), NULL },
    { "CompileTask", "_compile_id", offsetof(struct jvm_task, number), NULL },
    { "CompileTask", "_osr_bci", offsetof(struct jvm_task, loop), NULL },
    { "CompileTask", "_method", offsetof(struct jvm_task, method), NULL },
    { "Method", "_constMethod", offsetof(struct jvm_method, constant), NULL },
    { "ConstMethod", "_code_size", offsetof(struct jvm_const_method, n_bytes), NULL },
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
