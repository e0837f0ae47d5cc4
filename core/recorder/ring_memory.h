/*
 * The memory of a session's rings: how much each has, and how much all may have.
 *
 * Where the target has plenty of room, its threads may use all of their rings at once, and what they touch first is
 * charged to the target's memory group.  Other rings have only memory that was allocated here, before a thread of the
 * target can touch it, for which our own group is charged.  Such a ring begins small; where its thread would fill it
 * within a fifth of a second it gets more.  It keeps that for the next thread, or gives it back where memory is short.
 */
#ifndef CORE_RECORDER_RING_MEMORY_H
#define CORE_RECORDER_RING_MEMORY_H

#include "core/base/std.h"
#include "core/base/err.h"

struct session;

struct ring_memory {
    uint64_t limit_bytes;  /* of used_bytes; UINT64_MAX: none */
    uint64_t used_bytes;   /* allocated here */
    uint64_t target_bytes; /* that the target may still be charged for */
    uint32_t first_words;  /* that a ring begins with: a power of two */
    uint32_t n_expected;   /* of the prepared rings so many begin with memory that is allocated here */
    uint32_t n_prepared;   /* rings below it may be taken */
    uint32_t *granted;     /* owned, n_rings: words that each has memory for; 0: none */
    bool is_short;         /* a ring got less than its thread needed */
};

struct ring_memory_plan {
    uint32_t n_threads;    /* of the target; 0: not known */
    uint64_t limit_bytes;  /* that we may be charged for; UINT64_MAX: any */
    uint64_t target_bytes; /* that the target may be charged for; UINT64_MAX: any */
};

/* Returns 0, or -1 with *err set. */
int ring_memory_open(struct session *session, const struct ring_memory_plan *plan, struct err *err);
void ring_memory_close(struct ring_memory *memory);

/* When so many rings are taken: prepare some more, if they are few. */
void ring_memory_prepare(struct session *session, uint32_t n_taken);

/* A ring should have so many words: it gets as many as there is memory for. */
void ring_memory_grow(struct session *session, uint32_t i, uint64_t words);

/* Before a ring is free again: its memory goes back where it is short.  Nothing waits in it, and no thread has it. */
void ring_memory_give_back(struct session *session, uint32_t i);

#endif
