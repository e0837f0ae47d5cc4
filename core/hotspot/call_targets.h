/*
 * What compiled code calls: Java methods, or the JVM's routines, which are told by the names of their blobs.
 */
#ifndef CORE_HOTSPOT_CALL_TARGETS_H
#define CORE_HOTSPOT_CALL_TARGETS_H

#include "core/base/hash.h"
#include "core/hotspot/nmethod.h"

struct vm;

enum call_target {
    CALL_OF_NONE,       /* no call is there */
    CALL_OF_JAVA,       /* of a Java method, or of what finds it at the first call */
    CALL_OF_TRAP,       /* uncommon trap: the interpreter goes on */
    CALL_OF_ALLOCATION, /* the JVM makes an object */
    CALL_OF_ARRAY,      /* or an array */
    CALL_OF_OTHER
};

/* What a blob of this name is for one who calls it. */
enum call_target call_target_named(const char *name);

struct call_targets {
    struct vm *vm;         /* borrowed */
    struct hash_set known; /* by the address of a blob: the target plus 1 */
    uint8_t *code;         /* owned: a copy of the nmethod's code */
    size_t room;
    const struct nmethod *nmethod; /* borrowed */
    uint64_t blob_name;            /* offset of a blob's name; VM_NONE: not known */
};

void call_targets_open(struct vm *vm, struct call_targets *targets);

/* Copy the code of an nmethod, which stays where it is until the next one.  Returns false: it cannot be read. */
bool call_targets_take(struct call_targets *targets, const struct nmethod *nmethod);

/* What is called by the instruction that ends at an offset in the code that was taken. */
enum call_target call_targets_at(struct call_targets *targets, uint64_t offset);

/* What is known of blobs is forgotten. */
void call_targets_forget(struct call_targets *targets);
void call_targets_free(struct call_targets *targets);

#endif
