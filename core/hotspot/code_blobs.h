/*
 * What is at an address of the code cache: compiled code and its frames, stubs, adapters; kept for the next question.
 *
 * The JVM frees code and takes its addresses for other code while it is looked at: known_methods.h says when what is
 * kept counts.  Compiled code that is still there keeps the methods that it is of: these are not compared again.
 */
#ifndef CORE_HOTSPOT_CODE_BLOBS_H
#define CORE_HOTSPOT_CODE_BLOBS_H

#include "core/base/err.h"
#include "core/hotspot/frame_rules.h"
#include "core/hotspot/known_methods.h"
#include "core/hotspot/nmethod.h"

struct vm;

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

struct code_blobs;

/* methods: borrowed.  NULL with *err set: this JVM's layout is not known, or no memory.  One at a time. */
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
