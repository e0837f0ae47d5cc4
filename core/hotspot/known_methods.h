/* What stacks are walked by: the processor's rules, and the methods and the code that were found, kept for the next
 * stack. */
#ifndef CORE_HOTSPOT_KNOWN_METHODS_H
#define CORE_HOTSPOT_KNOWN_METHODS_H

#include "core/base/err.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"

struct code_blobs;
struct known_methods;
struct vm;

/* ---- frame_rules.c ---- */

/*
 * What of the frames of Java code differs between processors: where an interpreted frame has what (HotSpot's
 * frame_x86.hpp and frame_aarch64.hpp), and how much of a compiled frame is there at an instruction.
 *
 * The rules of all processors are compiled everywhere, so that they can be tested everywhere.
 */

/* What may be there of a frame besides the whole of it: bits. */
#define FRAME_NONE   1u /* nothing yet, or no more: the stack pointer is the caller's */
#define FRAME_PUSHED 2u /* frame pointer and return address, at the stack pointer */
#define FRAME_TAKEN  4u /* all of its room, with nothing in it yet but what a call itself stores */

#define FRAME_CODE_BYTES 128u /* that 'shapes' looks at */
#define FRAME_CALL_BYTES 8u   /* that 'call' looks at */
#define FRAME_UNKNOWN    UINT64_MAX

enum frame_call { FRAME_CALL_NONE, FRAME_CALL_DIRECT, FRAME_CALL_INDIRECT };

struct frame_rules {
    /* Of an interpreted frame, in words: of the sender's stack pointer from the frame pointer on, of others from it. */
    int32_t sender_sp, method, bytecode;
    int32_t call_wrapper; /* of the frame of a call from the JVM, in words from its frame pointer on */

    bool has_link;         /* a call leaves the return address in the link register, and not on the stack */
    uint64_t address_bits; /* of a return address: the others may authenticate it */

    /*
     * How far above a return address the stack pointer of the frame that it returns to may be, where native code has
     * stored it: on x86-64 it is the next word; on aarch64 the address is at the lower end of the native frame.
     */
    uint32_t search_bytes;

    /*
     * Which FRAME_ bits are possible at an instruction; 0: the whole frame is there.  code: the FRAME_CODE_BYTES from
     * it on; 0: not read.  n_before: how many bytes later the JVM says that the frame is complete; 0: it is, or
     * FRAME_UNKNOWN.
     */
    unsigned (*shapes)(const uint8_t *code, uint64_t n_before);

    /* Does the code in front of the point where a frame is complete take a frame of so many bytes? */
    bool (*takes)(const uint8_t *code, size_t n, uint64_t frame_bytes);

    /* The call with which these FRAME_CALL_BYTES end; *distance: of what a direct one calls, from behind it on. */
    enum frame_call (*call)(const uint8_t *code, int64_t *distance);
};

extern const struct frame_rules frame_rules_x86, frame_rules_aarch64;

/* Those of the processor that this is compiled for. */
const struct frame_rules *frame_rules_here(void);

/* ---- known_methods.c ---- */

/*
 * The methods that stacks have, by the addresses of their Methods; kept for the next stack.
 *
 * A class may be unloaded at any time, and another method take the address.  So what is kept of methods and of code
 * follows one rule: it counts in a round only if it was compared in that round with what the JVM has there now.  The
 * rounds are one for each time that samples are taken out of the rings (stack_walker_round).  What was asked for in the
 * rounds before is compared when a round begins, all of it together; the rest when it is asked for.
 */

/* So many rounds after it was asked for last, what is kept is compared together with the rest. */
#define RECENT_ROUNDS 3u

struct known_method {
    uint64_t address;
    uint64_t key; /* vm_methods_keys; 0: there is no Method any more */
    struct vm_method_parts parts;
    bool is_asked, is_run;    /* whether it is Continuation.run */
    uint64_t compared, asked; /* in which round, last */
    bool is_recent;
    /* The code that keeps it, and what that was then: code_blobs.c. */
    const struct code_blob *holder;
    uint32_t holder_life;
    /* The user's; false when this is another method than before. */
    bool is_numbered;
    uint32_t number;
};

struct known_methods *known_methods_open(struct vm *vm);
void known_methods_close(struct known_methods *methods); /* NULL is fine */

/* Classes may have been unloaded from now on. */
void known_methods_round(struct known_methods *methods);

/* The one at an address now; NULL: there is none.  It stays where it is until known_methods_close. */
struct known_method *known_methods_get(struct known_methods *methods, uint64_t address);

/* The one that was there when it was compared last; NULL: there was none, or it was never asked for. */
struct known_method *known_methods_last(const struct known_methods *methods, uint64_t address);

/* Compare those at n addresses (KNOWN_AT_ONCE at most), by few system calls. */
#define KNOWN_AT_ONCE 128u

void known_methods_compare(struct known_methods *methods, const uint64_t *addresses, size_t n);

/* What is known of the code that keeps them is forgotten. */
void known_methods_let_go(struct known_methods *methods);

/* ---- code_blobs.c ---- */

/*
 * What is at an address of the code cache: compiled code and its frames, stubs, adapters; kept for the next question.
 *
 * The JVM frees code and takes its addresses for other code while it is looked at: known_methods.h says when what is
 * kept counts.  Compiled code that is still there keeps the methods that it is of: these are not compared again.
 */

enum blob_kind {
    BLOB_NMETHOD,  /* a compiled method */
    BLOB_NATIVE,   /* the compiled wrapper of a native method */
    BLOB_STUB,     /* code with a frame of a known size */
    BLOB_ADAPTER,  /* no frame of its own: i2c and c2i adapters, vtable stubs */
    BLOB_ROUTINES, /* several routines, with and without frames */
    BLOB_INTERPRETER
};

struct code_blob {
    uint64_t address; /* of the header */
    uint64_t begin, end;
    uint64_t frame_bytes; /* with the return address; 0: not known */
    uint64_t complete;    /* from this address on the frame is there; FRAME_UNKNOWN */
    uint64_t deopt[2];    /* return addresses of frames that are to be deoptimized */
    uint64_t original_pc; /* of such a frame: where it has its own, from the stack pointer on */
    enum blob_kind kind;
    struct nmethod nmethod;   /* of NMETHOD, NATIVE */
    char name[32];            /* of others: as the JVM calls it */
    uint64_t compared, asked; /* in which round, last */
    uint32_t life;            /* counts what has been at the address */
    bool is_recent;
    bool has_scopes;
    bool is_continuation; /* stubs that move virtual threads' frames */
    bool is_upcall;       /* a stub by which native code calls Java (java.lang.foreign) */
};

/* A method that compiled code is of. */
struct compiled_frame {
    struct known_method *method; /* NULL: not known */
    int32_t index;               /* of the bytecode, or -1 */
};

/* What is known of one address. */
struct code_at {
    uint64_t pc;
    struct code_blob *blob;              /* NULL: no code there */
    const struct compiled_frame *frames; /* of a compiled method, the innermost first */
    uint32_t n_frames;
    bool is_call;        /* a call in it returns to this address */
    bool is_behind_call; /* that call is the instruction in front of it, which debug information is of */
    bool is_native_call; /* and may be one of native code */
    uint8_t shapes;      /* of its frame: FRAME_ bits */
    uint64_t round;
    uint32_t life;
};

/* methods: borrowed.  NULL with *err set: this JVM's layout is not known.  One at a time. */
struct code_blobs *code_blobs_open(struct vm *vm, const struct frame_rules *rules, struct known_methods *methods,
                                   struct err *err);
void code_blobs_close(struct code_blobs *blobs); /* NULL is fine */

/* Code may have changed from now on; after known_methods_round. */
void code_blobs_round(struct code_blobs *blobs);

/* Never NULL; until the next code_blobs_round. */
const struct code_at *code_blobs_at(struct code_blobs *blobs, uint64_t pc);

/* Is an address in the memory that is reserved for code? */
bool code_blobs_has(const struct code_blobs *blobs, uint64_t pc);
bool code_blobs_is_interpreter(const struct code_blobs *blobs, uint64_t pc);

#endif
