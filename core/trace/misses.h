/*
 * Where the simulated processor's misses and accesses are, and what is in its caches: the payload of a trace's MISSES,
 * ACCESSES, HEAP and BYTECODES chunks, and the log in which the plugin tells the recorder of them.
 *
 * An entry is a byte, its kind, then numbers (LEB128; a text is its length and its bytes):
 *
 *     0, an owner of memory: number, kind (enum miss_owner), name (of a class: "java/lang/String", "[I"; of a file:
 *        its path; of what is not known: why)
 *     1, a cell, a part of an owner's memory: number, owner, space (enum miss_space), offset of the field in bytes, or
 *        of an array's first element, name of the field (or empty)
 *     2, a method that was interpreted: number, class, name, descriptor, source file (or empty); in the log only
 *     3, misses: ticks, thread, location, line, cell, then counted since the entry before of all these: accesses that
 *        missed L1D, L2, the data TLB (estimates, where not all were kept); how many were kept
 *     4, totals: ticks, then counted since the entry before of its kind, by all threads: loads and stores, and what
 *        of them missed L1D, L2, the data TLB; how often addresses were looked up, and ns that it took
 *     5, accesses: ticks, thread, location, line, cell, then since the entry before of all these: loads and stores, an
 *        estimate; how many were drawn for it
 *     6, contents: ticks, thread, cell, then how many lines of its L1D, lines of its L2, pages of its data TLB are of
 *        that memory
 *     7, the heap's use: ticks, then bytes that are in use of eden, the survivor spaces, the old generation, humongous
 *        regions
 *
 *     8, a bytecode: number, its index in its method, its opcode (as in class files), and of the field or method that
 * it names the class, the name and the descriptor (or empty) 9, which bytecode the code at a location is from:
 * location, number of the bytecode plus 1 (0: not known)
 *
 * 5 and 6 are in ACCESSES, 7 in HEAP, 8 and 9 in BYTECODES, the others in MISSES.
 *
 * In the log a thread is its id, and a location an address: of the instruction, or with a line number plus 1 the number
 * of an interpreted method; 9 is of all entries 3 and 5 that follow, and its location is 0.  In the trace a thread is
 * an index and a location the number of one in LOCATIONS, and lines are 0.
 *
 * What is named was described before; the last entry of a number counts.  The decoder trusts nothing.
 */
#ifndef CORE_TRACE_MISSES_H
#define CORE_TRACE_MISSES_H

#include "core/trace/locations.h"

#define MISSES_NUMBERS_MAX (UINT32_C(1) << 22) /* owners, cells: numbers are below it */

enum miss_kind {
    MISS_OWNER,
    MISS_CELL,
    MISS_METHOD,
    MISS_COUNTS,
    MISS_TOTALS,
    MISS_ACCESSES,
    MISS_CONTENTS,
    MISS_USED,
    MISS_BYTECODE,
    MISS_AT
};

enum miss_owner {
    MISS_OBJECTS, /* of a class */
    MISS_STATICS, /* of a class: static fields */
    MISS_STACK,
    MISS_CODE, /* what compilers made, the interpreter and stubs */
    MISS_METASPACE,
    MISS_CARDS, /* the collector's card table */
    MISS_C_HEAP,
    MISS_FILE,    /* a library's or another file's */
    MISS_OTHER,   /* memory of the process that is none of these */
    MISS_HEAP,    /* the Java heap, but not in which object */
    MISS_UNKNOWN, /* no memory of the process when it was looked up */
    MISS_OWNERS
};

enum miss_space { MISS_NO_SPACE, MISS_EDEN, MISS_SURVIVOR, MISS_OLD, MISS_HUMONGOUS, MISS_SPACES };

enum miss_count { MISS_L1D, MISS_L2, MISS_DTLB, MISS_N_COUNTS };

struct miss_entry {
    enum miss_kind kind;
    uint32_t number;                                 /* OWNER, CELL, METHOD, BYTECODE; AT: plus 1 */
    enum miss_owner owner_kind;                      /* OWNER */
    struct wire_text name;                           /* OWNER, CELL, METHOD, BYTECODE */
    struct wire_text class_name, descriptor, source; /* METHOD, BYTECODE (but for source) */
    uint32_t index;                                  /* BYTECODE */
    uint8_t opcode;                                  /* BYTECODE */
    uint32_t owner;                                  /* CELL: number */
    enum miss_space space;                           /* CELL */
    uint32_t offset;                                 /* CELL */
    uint64_t ticks;                                  /* COUNTS, TOTALS, ACCESSES, CONTENTS, USED */
    uint32_t thread;                                 /* COUNTS, ACCESSES, CONTENTS */
    uint64_t location;                               /* COUNTS, ACCESSES, AT */
    uint32_t line;                                   /* the same; in the log: plus 1 */
    uint32_t cell;                                   /* COUNTS, ACCESSES, CONTENTS */
    uint64_t counts[MISS_N_COUNTS];                  /* COUNTS, TOTALS, CONTENTS */
    uint64_t n_kept;                                 /* COUNTS, ACCESSES */
    uint64_t n_accesses;                             /* TOTALS, ACCESSES */
    uint64_t n_looks, look_ns;                       /* TOTALS */
    uint64_t used[MISS_SPACES];                      /* USED: bytes; not of NO_SPACE */
};

/* Append an entry.  s->full when it does not fit LOCATION_ENTRY_BYTES. */
void misses_put(struct sink *s, const struct miss_entry *entry);

/* Take the next entry; texts live as long as the cursor's bytes.  Returns 0, or -1 when it is damaged. */
int misses_get(struct cursor *c, struct miss_entry *entry);

#endif
