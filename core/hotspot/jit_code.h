/*
 * The compiled code of a JVM that somebody asks for, read from outside as it is now: which methods are inlined where,
 * which calls and allocations are left.  The JVM needs no flag, and nothing in it is changed.
 */
#ifndef CORE_HOTSPOT_JIT_CODE_H
#define CORE_HOTSPOT_JIT_CODE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/hash.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"

struct vm;

/* ---- call_targets.c ---- */

/* What compiled code calls: Java methods, or the JVM's routines, which are told by the names of their blobs. */

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

/* ---- inline_tree.c ---- */

/*
 * What compilers made of a piece of code: which methods are inlined where, and what is left at a bytecode of each: a
 * call, an allocation, or a trap.  From a copy of its debug information: nothing of the JVM is asked for or changed.
 *
 * A call that was inlined leaves a node where anything in it has debug information (calls, allocations, safepoints,
 * what may throw); one of a method that has nothing of that kind, as a getter, leaves no trace.
 */

#define INLINE_ROOT UINT32_MAX /* the caller of the root */

/* What the code does at a point: bits. */
enum inline_point_flag {
    INLINE_CALLS = 1,      /* a call of a Java method */
    INLINE_TRAPS = 2,      /* it goes back to the interpreter: not reached when it was compiled */
    INLINE_ALLOCATES = 4,  /* a call of the JVM where the thread's buffer is full: the object is made in the heap */
    INLINE_MAKES_ARRAY = 8 /* the same of an array */
};

struct inline_node {
    uint64_t method;  /* a Method's address */
    uint32_t caller;  /* a node before it, or INLINE_ROOT */
    int32_t index;    /* of the caller's bytecode; -1: not known */
    bool is_left_out; /* no frame of it is in the debug information: inline_tree_add */
};

struct inline_point {
    uint32_t node;
    int32_t index; /* of its bytecode */
    unsigned flags;
};

struct inline_tree {
    struct inline_node *nodes;   /* owned; the first one is the method that was compiled */
    struct inline_point *points; /* owned */
    uint32_t n_nodes, nodes_room, n_points, points_room;
    struct hash_set by_node, by_point;
    bool is_cut; /* frames were left out, which are deeper than CODE_FRAMES_MAX */
};

/* The bits of the point whose debug information is for this offset in the code. */
typedef unsigned inline_point_fn(void *context, uint64_t offset);

/*
 * Read a tree, which is zero at first or was read before.  Returns 0; or -1: the debug information is damaged, or has
 * been changed while it was copied.
 */
int inline_tree_read(struct inline_tree *tree, const struct scopes *scopes, inline_point_fn *fn, void *context);

/*
 * Add a method that was inlined at a node's bytecode without a trace.  Returns its number, or INLINE_ROOT: there is no
 * memory.
 */
uint32_t inline_tree_add(struct inline_tree *tree, uint32_t node, int32_t index, uint64_t method);

/* Is anything inlined at a node's bytecode? */
bool inline_tree_has_inlined(const struct inline_tree *tree, uint32_t node, int32_t index);

/* The bits of all points at a node's bytecode; 0: there is none. */
unsigned inline_tree_flags(const struct inline_tree *tree, uint32_t node, int32_t index);

/* Is a node, or one that it is inlined in, directly or not, this one? */
bool inline_tree_is_below(const struct inline_tree *tree, uint32_t node, uint32_t above);

void inline_tree_free(struct inline_tree *tree);

/* ---- jit_code.c ---- */

/* Tiers of the compilers. */
#define JIT_TIER_C1 1u /* C1 without counting calls: for good; 2 and 3: with, until C2 compiles it */
#define JIT_TIER_C2 4u

/* A class of receivers that the JVM counted. */
struct jit_receiver {
    const char *class_name;
    uint64_t n;
};

/* A call, or an allocation of an object or an array, in a method's bytecodes. */
struct jit_instruction {
    int32_t index;
    uint32_t line;                              /* 0: not known */
    bool is_allocation, is_array;               /* is_array: of an array */
    bool is_virtual;                            /* what is called depends on the receiver */
    const char *class_name, *name, *descriptor; /* as it names it; of an allocation the class; NULL: not known */
    bool is_counted;                            /* the JVM counted how often it was reached */
    uint64_t n_reached;
    uint32_t n_receivers;
    struct jit_receiver receivers[VM_RECEIVERS_MAX];
};

struct compiled_method {
    const char *class_name, *name, *descriptor; /* internal form: "java/util/List" */
    struct jit_instruction *instructions;       /* in their order */
    uint32_t n_instructions;
    bool has_instructions; /* they have been read */
    bool is_profiled;      /* the JVM has counted in it */
    struct vm_code_counts counts;
    uint32_t n_straight;      /* bytes of its code in front of the first jump, switch, return or throw */
    uint64_t address;         /* of its Method, for the reader */
    bool is_asked, is_wanted; /* the same */
};

struct jit_code {
    uint64_t address;
    uint32_t number, tier; /* of the compilation, of the compiler */
    int32_t entry_index;   /* of the bytecode in a loop at which it is entered; -1: at its beginning */
    uint32_t method;       /* that was compiled */
    bool is_there;         /* calls enter it, as of the last look */
    struct inline_tree tree;
    uint32_t *methods; /* owned: by node */
    uint32_t methods_room;
};

/* Was an instruction of a method reached before that was compiled?  0: no; 1: yes; -1: it is not known. */
int jit_instruction_reached(const struct compiled_method *method, const struct jit_instruction *at);

/* Is somebody interested in code that has this method?  is_inlined: in another one. */
typedef bool jit_wanted_fn(void *context, const struct compiled_method *method);

struct jit_codes {
    struct vm *vm;        /* borrowed */
    struct jit_code *all; /* owned; what was wanted, also what has been discarded since */
    uint32_t n, room;
    struct compiled_method **methods; /* owned; they are the arena's */
    uint32_t n_methods, methods_room;
    struct arena arena;
    bool has_all_tiers;        /* for its user to set: what is inlined is read of C1's tiers 2 and 3, too */
    struct jit_reader *reader; /* owned */
};

/*
 * codes  for jit_codes_close, whatever is returned.
 *
 * Returns 0, or -1 with *err set: this JVM's code cannot be read.
 */
int jit_codes_open(struct vm *vm, struct jit_codes *codes, jit_wanted_fn *wanted, void *context, struct err *err);

/*
 * Look what code there is now: what is new is read, of what was known is_there is set anew.
 *
 * Returns false: the JVM has ended meanwhile, and all is as it was found in part.
 */
bool jit_codes_look(struct jit_codes *codes);

void jit_codes_close(struct jit_codes *codes);

#endif
