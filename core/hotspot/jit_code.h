/*
 * The compiled code of a JVM that somebody asks for, read from outside as it is now: which methods are inlined where,
 * which calls and allocations are left.  The JVM needs no flag, and nothing in it is changed.
 */
#ifndef CORE_HOTSPOT_JIT_CODE_H
#define CORE_HOTSPOT_JIT_CODE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/hotspot/inline_tree.h"
#include "core/hotspot/vm_profile.h"

struct vm;

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
    bool has_instructions;    /* they have been read */
    bool is_profiled;         /* the JVM has counted in it */
    uint32_t n_discarded;     /* pieces of its code, since the start: as the JVM counts that */
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
 * Returns 1; 0: the JVM has ended meanwhile, and all is as it was found in part; or -1 with *err set: no memory.
 */
int jit_codes_look(struct jit_codes *codes, struct err *err);

void jit_codes_close(struct jit_codes *codes);

#endif
