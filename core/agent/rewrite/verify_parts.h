/* What the parts of the check (rewrite_parts.h) share; nobody else includes it. */
#ifndef CORE_AGENT_VERIFY_PARTS_H
#define CORE_AGENT_VERIFY_PARTS_H

#include "core/agent/rewrite/classfile.h"
#include "core/agent/rewrite/rewrite_parts.h"

#define VERIFY_HANDLERS 2 /* that are added to a method, at most */

/* Of an offset in the old code. */
enum {
    VERIFY_START = 1,   /* an instruction begins here */
    VERIFY_HANDLER = 2, /* of the exception table */
    VERIFY_CATCH = 4,   /* of a typed entry */
    VERIFY_NO_CATCH = 8 /* of one that may have no probe */
};

/* A class, and the method at hand. */
struct verify {
    const struct verify_expected *expected; /* borrowed */
    struct classfile old_file;              /* borrowed */
    struct classfile made_file;             /* its index is owned */
    size_t n_used;                          /* flags */
    const char *why;                        /* what is wrong; NULL: nothing yet */
    struct verify_call {
        const char *name;
        uint16_t index;
    } calls[4]; /* probes that were found: their constants */

    const struct rewrite_flag *flag;
    struct classfile_method old_method, made_method;
    struct classfile_code old, made;
    uint16_t local; /* the added one */
    bool is_constructor, has_frames;

    uint8_t *marks; /* owned; per old offset */
    uint16_t *to;   /* owned; per old offset and one more: the new one, of the probe before it, if any */
    uint16_t *self; /* owned; the new offset of the instruction itself */
    size_t room, room_to, room_self;
    uint32_t n_body; /* new code without the handlers */
    uint32_t n_handlers, handlers[VERIFY_HANDLERS];
    bool is_before[VERIFY_HANDLERS]; /* by its frame, 'this' is not initialized there */
};

/* Returns false. */
static inline bool verify_doubt(struct verify *v, const char *why)
{
    if (v->why == NULL)
        v->why = why;
    return false;
}

/* The instructions, which fill what is known of them; then the exception table (frames: the new StackMapTable, or at ==
 * NULL). */
bool verify_instructions(struct verify *v);
bool verify_exceptions(struct verify *v, struct span frames);

/* The StackMapTable; old: at == NULL, the original has none. */
bool verify_frames(struct verify *v, struct span old, struct span made);

#endif
