/* Compiled code: where it is, and its debug information. */
#ifndef CORE_HOTSPOT_NMETHOD_H
#define CORE_HOTSPOT_NMETHOD_H

#include "core/wire/code_log.h"

struct vm;

/* ---- vm_streams.c ---- */

/*
 * HotSpot's compressed streams, from copies of their bytes: which methods' bytecodes a piece of compiled code is from,
 * and a method's line numbers.
 *
 * Numbers are UNSIGNED5: up to five digits of a byte each, the lowest first; one below 192 is the last.
 *
 * The JVM may have changed what is copied meanwhile: the decoders trust nothing.
 */

/* A number; 0, and the cursor is bad, where there is none.  excluded: vm_excluded_digits. */
uint32_t vm_stream_number(struct cursor *c, uint32_t excluded);

/*
 * What an nmethod knows of its code.  A PcDesc has the offset of a pc in the code, and that of its innermost scope in
 * the scopes' bytes (0: none).  A scope begins with three numbers: the offset of its sender's (0: none; it is written
 * before), its method (0: none; else 1 more than its index in the list of methods), and 1 more than its bytecode index.
 * The first and the last PcDesc are no code's: their pcs are -1 and 2^31 - 1.
 */
struct scopes {
    const uint8_t *pcs, *bytes, *methods; /* borrowed; PcDescs, scopes, pointers */
    size_t n_pcs_bytes, n_bytes, n_methods_bytes;
    size_t pc_bytes, at_pc, at_scope; /* of a PcDesc, and in it */
    uint64_t code_bytes;
    uint32_t excluded; /* of each digit */
};

struct scope_frame {
    uint64_t method; /* a Method's address */
    int32_t index;   /* of the bytecode, or -1 */
};

struct scopes_walk {
    const struct scopes *scopes; /* borrowed */
    size_t at;                   /* of the next PcDesc */
    bool is_bad;
    uint64_t end;                               /* of the code that the point is of: an offset */
    uint32_t n_frames;                          /* of more than there may be, the innermost */
    struct scope_frame frames[CODE_FRAMES_MAX]; /* from the innermost on */
};

void scopes_begin(struct scopes_walk *walk, const struct scopes *scopes);

/* Returns whether there was a next one, undamaged; else walk->is_bad says which. */
bool scopes_next(struct scopes_walk *walk);

/* The one that an offset in the code is of, without taking those before it apart; as above. */
bool scopes_find(struct scopes_walk *walk, const struct scopes *scopes, uint64_t offset);

/*
 * A method's line numbers, of at most 'room' lines.  A step of both is in one byte, or 255 and two signed numbers; a
 * byte 0 is the end.  Returns how many there are; *is_bad: it does not end well.
 */
uint32_t line_stream_read(const uint8_t *bytes, size_t n, uint32_t excluded, struct code_line *lines, uint32_t room,
                          bool *is_bad);

/* The line of a bytecode's index, by those that can be read; 0: none. */
uint32_t line_stream_find(const uint8_t *bytes, size_t n, uint32_t excluded, uint32_t index);

/* ---- code_heaps.c ---- */

/* HotSpot's code cache: where blocks of it begin. */

#define CODE_HEAPS_MAX 8

/*
 * Where the contents of the block with an address begin, behind its header: a CodeBlob, if the block is in use; 0: it
 * is not known.
 */
uint64_t code_heaps_find(struct vm *vm, uint64_t address);

/* Blocks may have been made and freed from now on: what is asked for in between is as of one time in between. */
void code_heaps_round(struct vm *vm);

/* All blocks that are in use, in the same way; those that are made or freed meanwhile may be missed. */
typedef void code_block_fn(void *context, uint64_t address);

void code_heaps_walk(struct vm *vm, code_block_fn *fn, void *context);

/* The memory that is reserved for all heaps, from the lowest to the highest address; false: it is not known. */
bool code_heaps_range(struct vm *vm, uint64_t *low, uint64_t *high);

/*
 * Which heap an address is in; -1: none.  And are there heaps of their own for code that counts for a better one (tiers
 * 2 and 3), and for other code of methods, with natives?  As long as no heap is full.
 */
int code_heaps_of(const struct vm *vm, uint64_t address);
bool code_heaps_are_apart(const struct vm *vm);

/* The interpreter's code, which is one block; likewise. */
bool code_heaps_interpreter(struct vm *vm, uint64_t *low, uint64_t *high);

/* ---- nmethod.c ---- */

/*
 * Compiled code as HotSpot itself knows it (an nmethod), read in place: what a CompiledMethodLoad event would tell of
 * it, at any time, and only of the code that is asked for.
 *
 * The JVM throws code away, and takes its addresses for other code, while it is read: what is needed is copied, and
 * counts only if it was the same compilation before and after.  Thread-safe, an nmethod each.
 */

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

/*
 * Does the JVM call what has this header an nmethod, whatever is read of it?  *is_alive: calls of it may be under way;
 * after changes of classes most code may be discarded, and wait for being freed.
 */
bool nmethod_is_named(struct vm *vm, uint64_t header, bool *is_alive);

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
