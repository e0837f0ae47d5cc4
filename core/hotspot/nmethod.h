/*
 * Compiled code as HotSpot itself knows it (an nmethod), read in place: what a CompiledMethodLoad event would tell of
 * it, at any time, and only of the code that is asked for.
 *
 * The JVM throws code away, and takes its addresses for other code, while it is read: what is needed is copied, and
 * counts only if it was the same compilation before and after.  Thread-safe, an nmethod each.
 */
#ifndef CORE_HOTSPOT_NMETHOD_H
#define CORE_HOTSPOT_NMETHOD_H

#include "core/hotspot/vm_streams.h"

struct vm;

/* Where the parts that are copied are, and then in 'bytes'. */
struct nmethod_parts {
    uint64_t from[2], n_bytes[2];
    uint64_t methods, pcs, scopes; /* offsets in what is copied */
    uint64_t n_methods_bytes, n_pcs_bytes, n_scopes_bytes;
};

struct nmethod {
    uint64_t address;        /* its own: of the header */
    uint64_t start, n_bytes; /* of its code */
    uint64_t method;         /* a Method's address */
    uint32_t tier, number;   /* of the compiler (0: it calls a native method); of the compilation */
    bool is_in_use;          /* calls enter it: it has not been discarded */
    int32_t entry_index;     /* of the bytecode in a loop at which it is entered; -1: at its beginning, or not known */
    struct nmethod_parts parts;
    struct scopes scopes; /* in 'bytes' */
    uint8_t *bytes;       /* owned, as nmethod_free says */
    size_t room;
};

/* Why none can be read in this JVM; NULL: they can. */
const char *nmethod_why_not(struct vm *vm);

/*
 * Find the one with an address in its code, or the one whose header is at an address: where its code is, and of which
 * compilation; to be zero at first, and used again and again.  Returns false when there is none now.
 */
bool nmethod_find(struct vm *vm, struct nmethod *nmethod, uint64_t address);
bool nmethod_find_at(struct vm *vm, struct nmethod *nmethod, uint64_t header);

/* Does the JVM call what has this header an nmethod, whatever is read of it? */
bool nmethod_is_named(struct vm *vm, uint64_t header);

/* The same, of a header that has been read already: the n bytes from its address on; zeros where n is more. */
bool nmethod_take(struct vm *vm, struct nmethod *nmethod, uint64_t address, const uint8_t *header, size_t n);

/*
 * Those of n (NMETHODS_MAX at most) whose headers are at these addresses, by one system call.  Returns how many there
 * are, in their order.
 */
#define NMETHODS_MAX 32u

size_t nmethods_find_at(struct vm *vm, struct nmethod *all, const uint64_t *headers, size_t n);

/*
 * Copy what it knows of its code: nmethod->scopes.  It is its own, and its methods are still there, if afterwards
 * nmethod_is_there.  Returns false when it cannot be copied.
 */
bool nmethod_copy(struct vm *vm, struct nmethod *nmethod);

/* Is it still that compilation: its methods have not been unloaded?  Of any number, by few system calls. */
bool nmethod_is_there(struct vm *vm, const struct nmethod *nmethod);
void nmethods_are_there(struct vm *vm, const struct nmethod *const *all, size_t n, bool *are_there);
void nmethod_free(struct nmethod *nmethod);

#endif
