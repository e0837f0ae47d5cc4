/*
 * What the JVM counted in a method before its optimising compiler compiled it (MethodData): how often its calls were
 * reached, and of which classes their receivers were.  JDK 17 to 25.
 */
#ifndef CORE_HOTSPOT_VM_PROFILE_H
#define CORE_HOTSPOT_VM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

#define VM_RECEIVERS_MAX 2u /* of a call: TypeProfileWidth */

struct vm_receiver {
    uint64_t klass; /* a Klass' address */
    uint64_t n;
};

/* Of a call. */
struct vm_call_profile {
    uint32_t index; /* of its bytecode */
    uint64_t n;     /* how often it was reached while that was counted */
    bool is_virtual;
    uint32_t n_receivers;
    uint64_t n_others; /* of n: of classes that there is no room for */
    struct vm_receiver receivers[VM_RECEIVERS_MAX];
};

struct vm_profile {
    uint8_t *bytes; /* owned */
    size_t n_bytes;
    size_t room;
    unsigned extra; /* cells of a receiver's entry that only some JVMs have */
    uint32_t n_discarded;
};

/*
 * Read that of the method at an address, which has n_code bytes of code; a profile is zero at first, and may be read
 * again.  Returns false: it has none, or it is not as it is known.
 */
bool vm_profile_read(struct vm *vm, struct vm_profile *profile, uint64_t method, uint32_t n_code);

/* Decode the same from a copy of its n bytes; profile->bytes is set.  For tests, and for the above. */
bool vm_profile_check(struct vm_profile *profile, uint32_t n_code);

/* Returns false: nothing was counted of a call there. */
bool vm_profile_call(const struct vm_profile *profile, uint32_t index, struct vm_call_profile *call);

/* The name of a receiver's class, "java/util/ArrayList", cut to n - 1 bytes; false: it is gone. */
bool vm_profile_class(struct vm *vm, const struct vm_receiver *receiver, char *text, size_t n);

void vm_profile_free(struct vm_profile *profile);

#endif
