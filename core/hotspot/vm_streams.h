/*
 * HotSpot's compressed streams, from copies of their bytes: which methods' bytecodes a piece of compiled code is from,
 * and a method's line numbers.
 *
 * Numbers are UNSIGNED5: up to five digits of a byte each, the lowest first; one below 192 is the last.
 *
 * The JVM may have changed what is copied meanwhile: the decoders trust nothing.
 */
#ifndef CORE_HOTSPOT_VM_STREAMS_H
#define CORE_HOTSPOT_VM_STREAMS_H

#include "core/wire/code_log.h"

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

#endif
