/*
 * A JVM's code cache and compiler threads as its debugger is told of them (gHotSpotVMStructs), which a test fills: no
 * JVM is needed.
 */
#ifndef TEST_UNIT_JVM_STRUCTURES_H
#define TEST_UNIT_JVM_STRUCTURES_H

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

struct jvm_const_method {
    uint16_t n_bytes;
};

struct jvm_method {
    struct jvm_const_method *constant;
};

struct jvm_task {
    uint32_t number;
    int32_t loop; /* -1: none */
    struct jvm_method *method;
};

struct jvm_env {
    struct jvm_task *task;
};

struct jvm_system_thread {
    int32_t tid;
};

struct jvm_thread {
    struct jvm_system_thread *system;
    struct jvm_env *env;
};

struct jvm_threads {
    uint32_t n;
    struct jvm_thread **all;
};

/* libjvm.so's: to be set before anything asks for them. */
extern struct jvm_heaps *jvm_heaps;
extern struct jvm_threads *jvm_threads;

#endif
