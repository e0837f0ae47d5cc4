/*
 * What the parts of the class rewriter share.
 *
 * One 'struct rewrite_job' is one method on its way through the parts: rewrite_layout.c decides where each
 * instruction goes, rewrite_init.c finds what a constructor has done so far, rewrite_code.c writes the new Code
 * attribute with the help of rewrite_tables.c and rewrite_frames.c.
 */
#ifndef CORE_AGENT_REWRITE_PARTS_H
#define CORE_AGENT_REWRITE_PARTS_H

#include "core/agent/rewrite/classfile.h"
#include "core/agent/rewrite/rewrite.h"
#include "core/base/hash.h"

/* ---- rewrite_parts ---- */

/* How a step ended; all but the first and the last mean that the method is left as it was. */
enum rewrite_outcome { REWRITE_DONE, REWRITE_TOO_LARGE, REWRITE_LIMITS, REWRITE_UNUSUAL, REWRITE_NO_MEMORY };

/* --- A growing buffer of big-endian numbers; after a failed allocation it takes nothing more. --- */

struct rewrite_buffer {
    uint8_t *at; /* owned */
    size_t n, room;
    bool failed;
};

void buffer_bytes(struct rewrite_buffer *b, const void *bytes, size_t n);
void buffer_fill(struct rewrite_buffer *b, uint8_t byte, size_t n);
void buffer_big(struct rewrite_buffer *b, uint64_t value, size_t n_bytes);
/* Overwrite what is already there; what lies behind the end is not written. */
void buffer_set(struct rewrite_buffer *b, size_t at, uint64_t value, size_t n_bytes);
void buffer_free(struct rewrite_buffer *b);

static inline void buffer_span(struct rewrite_buffer *b, struct span span)
{
    buffer_bytes(b, span.at, span.n);
}

/* --- The constant pool and what is added to it. --- */

struct rewrite_pool {
    const struct classfile *file; /* borrowed */
    struct rewrite_buffer added;
    uint32_t n;             /* constants, index 0 included, as in a class file's header */
    struct hash_set hashes; /* slots: owned; value: index, 0: none; second: where, in the class file or behind it */
    bool full;              /* something did not fit */
};

struct pool_mark {
    uint32_t n;
    size_t n_added;
};

/* Returns 0, or -1 when there is no memory.  Free it with pool_close also then. */
int pool_open(struct rewrite_pool *pool, const struct classfile *file);
void pool_close(struct rewrite_pool *pool);

/* Forget everything that was added since a mark. */
struct pool_mark pool_mark(const struct rewrite_pool *pool);
void pool_rollback(struct rewrite_pool *pool, struct pool_mark mark);

/* The index of a constant, added when it is not there; 0 (and the pool full) when there is no room. */
uint16_t pool_utf8(struct rewrite_pool *pool, struct span text);
uint16_t pool_class(struct rewrite_pool *pool, struct span name);
uint16_t pool_member(struct rewrite_pool *pool, uint8_t tag, const char *class_name, const char *name,
                     const char *descriptor);

/* --- One method. --- */

/* Bytes of the added code; they depend on the index of the new local variable. */
struct rewrite_sizes {
    unsigned entry, exit, handler;
};

/* A run of instructions that one handler covers, in the order of the code; offsets in the old code. */
struct rewrite_run {
    uint32_t start, end;
    bool before; /* in a constructor before this(...) or super(...) */
};

/* The argument that the entry's probe is given. */
struct rewrite_argument {
    uint16_t local;
    uint8_t load, convert;          /* opcodes; convert 0: none */
    const char *probe, *descriptor; /* NULL: it is given none */
};

struct rewrite_job {
    const struct classfile *file; /* borrowed, as all that is not said to be owned */
    const struct classfile_method *method;
    const struct classfile_code *old;
    const struct rewrite_flag *flag;
    const char *probe_class;
    struct rewrite_pool *pool;
    struct rewrite_buffer *out;

    struct span frames; /* the old StackMapTable, at == NULL when there is none that counts */
    bool write_frames;
    bool constructor; /* one whose 'this' has to be initialized */
    uint16_t local;   /* the new local variable */
    struct rewrite_argument argument;
    struct rewrite_sizes sizes;

    uint8_t *starts;          /* owned; per old offset: INSTRUCTION when one begins here, and CATCH */
    uint32_t *to;             /* owned; per old offset and one more: the new offset, of the probe before it if any */
    uint32_t n_body;          /* to[end]: new code without the handlers */
    struct rewrite_run *runs; /* owned */
    uint32_t n_runs;
    bool has_catches;
    bool has_after, has_before;             /* which handlers the runs need */
    uint32_t handler_after, handler_before; /* new offsets */
};

enum { STARTS_INSTRUCTION = 1, STARTS_CATCH = 2 };

/* The new offset of an instruction itself, behind the probe of the catch that it begins. */
static inline uint32_t job_offset(const struct rewrite_job *job, uint32_t offset)
{
    return job->to[offset] + ((job->starts[offset] & STARTS_CATCH) != 0 ? job->sizes.exit : 0);
}

/* Whether an instruction begins at an old offset. */
static inline bool job_is_start(const struct rewrite_job *job, uint64_t offset)
{
    return offset < job->old->bytes.n && job->starts[offset] != 0;
}

/*
 * Mark in starts (zeroed, one byte per byte of code) where instructions begin.
 *
 * has_loop  set when something branches to its own or a lower offset.
 *
 * Returns REWRITE_DONE, or REWRITE_UNUSUAL when an instruction is invalid or a branch leaves the instructions.
 */
enum rewrite_outcome layout_scan(struct span code, uint8_t *starts, bool *has_loop);

/* Fill argument, as the flag has it. */
void argument_find(struct rewrite_job *job);

/* The bytes of a load or store of a local variable. */
static inline unsigned variable_bytes(uint16_t local)
{
    return local < 4 ? 1 : local < 256 ? 2 : 4;
}

/* Find the catches, fill sizes, to, n_body. */
void layout_assign(struct rewrite_job *job);

/* Fill runs, and which handlers there are. */
enum rewrite_outcome init_find_runs(struct rewrite_job *job);

/*
 * What a constructor has done at each instruction: called this(...) or super(...), or not yet; 0: it is never reached.
 * Of the job it needs file, method, old, frames, constructor and starts.
 */
enum {
    INIT_BEFORE = 1,
    INIT_AFTER = 2, /* both: two ways meet that differ */
    INIT_CALL = 4   /* this is the call */
};

/* phases: zeroed, one byte per byte of code. */
enum rewrite_outcome init_find_phases(const struct rewrite_job *job, uint8_t *phases);

/* Append the method's new Code attribute, header included. */
enum rewrite_outcome code_write(struct rewrite_job *job);

/* Append a relocated copy of a Code attribute other than the StackMapTable; one that is unknown is dropped. */
enum rewrite_outcome tables_write(struct rewrite_job *job, const struct classfile_attribute *attribute,
                                  unsigned *n_written);

/* The smallest line of a Code attribute's line tables, or 0. */
uint32_t tables_first_line(const struct classfile *file, const struct classfile_code *code);

/* Append the new StackMapTable. */
enum rewrite_outcome frames_write(struct rewrite_job *job);

/* --- Reading the old StackMapTable. --- */

enum {
    TYPE_TOP = 0,
    TYPE_INTEGER = 1,
    TYPE_FLOAT = 2,
    TYPE_DOUBLE = 3,
    TYPE_LONG = 4,
    TYPE_UNINIT_THIS = 6,
    TYPE_OBJECT = 7,
    TYPE_UNINIT = 8
};

struct frame_type {
    uint16_t data; /* class constant of an object, old offset of an uninitialized one */
    uint8_t tag;
};

struct frame_list {
    struct frame_type *at; /* owned */
    size_t n, room;        /* types */
    size_t n_slots;        /* long and double count twice */
    size_t max_slots;
};

struct frames {
    const struct rewrite_job *job;
    struct cursor at;
    unsigned n, left; /* frames; those not yet read */
    uint32_t offset;  /* of the current frame, in the old code */
    bool first;       /* the current frame is the first one */
    bool same_locals; /* it has the locals of the one before */
    struct frame_list locals, stack;
};

/*
 * Begin to read; the locals are then those at the method's entry.
 *
 * pool      where to find the class constants of the arguments' types; NULL: they stay 0.
 */
enum rewrite_outcome frames_open(struct frames *f, const struct rewrite_job *job, struct rewrite_pool *pool);
void frames_close(struct frames *f);

/* Read the next frame; there must be one left. */
enum rewrite_outcome frames_next(struct frames *f);

/* ---- verify ---- */

/*
 * The check of a rewritten class before the JVM gets it: all that was not to change is the same, and all that was
 * added is what rewrite.h says.  So the JVM's verifier passes the rewritten class if it passes the original; classes of
 * the boot loader, which it does not verify, are safe as well.
 *
 * Each changed method is read again next to its original, with nothing that the writer knew: its instructions, branch
 * targets, exception table, StackMapTable, line and variable tables.  In constructors the state of 'this' is found
 * again, in the new code.
 */

/* What the class was rewritten for. */
struct verify_expected {
    const char *probe_class;
    const struct rewrite_flag *flags; /* of the changed methods, in the order of the class file; borrowed */
    size_t n_flags;
};

/*
 * Returns 0, or -1 with *err set: "METHODDESCRIPTOR: why".
 *
 * old, made   the original and the rewritten class file; borrowed.
 */
int verify_class(const struct classfile *old, struct span made, const struct verify_expected *expected,
                 struct err *err);

#endif
