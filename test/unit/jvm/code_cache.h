/* A JVM's code cache as its debugger is told of it (gHotSpotVMStructs), which a test fills: no JVM is needed. */
#ifndef TEST_UNIT_JVM_CODE_CACHE_H
#define TEST_UNIT_JVM_CODE_CACHE_H

#include <stdint.h>

struct jvm_space {
    uint8_t *low, *used, *high; /* used: the end of what is in use */
};

struct jvm_heap {
    struct jvm_space memory, map;
    int32_t log2; /* of a segment's bytes */
};

struct jvm_heaps {
    int32_t n;
    struct jvm_heap **all;
};

#define JVM_BLOCK_BYTES 16u /* of a block's header */

/* libjvm.so's: to be set before anything asks for it. */
extern struct jvm_heaps *jvm_heaps;

#endif
