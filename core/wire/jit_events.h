/*
 * What the JIT compiler did with methods that are watched: the log that the agent appends to, in a memory file, and the
 * payload of a trace's JIT chunk, which is the same.
 *
 * An entry is a u32 (little-endian) with the length of what follows, then a byte, its kind, then numbers (LEB128; a
 * text is its length and its bytes):
 *
 *     0, a method: number, class, name, descriptor
 *     1, compiled: ticks, number, flags (enum jit_flag), bytes of machine code, n, and n times: the number of a method
 *        that was inlined, the number of the one that calls it there
 *     2, discarded: ticks, number
 *     3, watched: ticks, number: from now on it is one of those that are asked for; its probes come next
 *
 * A method is described before another entry names it.  The decoder trusts nothing.
 */
#ifndef CORE_WIRE_JIT_EVENTS_H
#define CORE_WIRE_JIT_EVENTS_H

#include "core/wire/wire_text.h"

#define JIT_ENTRY_BYTES ((size_t)256 * 1024) /* no entry is longer */
#define JIT_LOG_BYTES   ((size_t)16 << 20)   /* an agent logs no more */
#define JIT_MAX_METHODS 65536u
#define JIT_MAX_INLINED 512u

enum jit_kind { JIT_METHOD, JIT_COMPILED, JIT_DISCARDED, JIT_WATCHED };

enum jit_flag {
    JIT_WAS_THERE = 1, /* the code is not new: the agent has just asked what there is */
    JIT_IS_CUT = 2     /* there are more inlined methods than JIT_MAX_INLINED */
};

struct jit_inlined {
    uint32_t method, caller;
};

struct jit_event {
    enum jit_kind kind;
    uint32_t method; /* number */
    uint64_t ticks;
    uint32_t flags, code_bytes, n_inlined;
    struct wire_text class_name, name, descriptor;
    struct jit_inlined inlined[JIT_MAX_INLINED];
};

/* Append an entry with its length in front.  s->full when it does not fit. */
void jit_events_put(struct sink *s, const struct jit_event *event);

/*
 * Take the next whole entry.  Returns 1 with *event set (texts live as long as the cursor's bytes), 0 when less than an
 * entry is left (the cursor stays before it), or -1 when the log is damaged.
 */
int jit_events_get(struct cursor *c, struct jit_event *event);

#endif
