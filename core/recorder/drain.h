/*
 * From the target's rings into the trace.
 *
 * A round keeps the order that readers rely on: drain_snapshot notes how far each ring is filled; then the kernel's
 * events up to that moment are written; drain_threads finds out whose rings these are (a thread's start is known by
 * now), drain_methods writes the methods; drain_records writes the records up to the snapshot.
 *
 * A virtual thread leaves one carrier before it comes to another, and so it is in the trace: the records of a ring in
 * which one comes wait for those of the ring that it left, and if need be for the next round, in which they are there.
 */
#ifndef CORE_RECORDER_DRAIN_H
#define CORE_RECORDER_DRAIN_H

#include "core/recorder/link_state.h"
#include "core/recorder/session.h"
#include "core/recorder/threads.h"

struct drain_ring {
    uint64_t head;                  /* at the snapshot */
    uint64_t ready;                 /* up to where records can be written */
    bool waits;                     /* a virtual thread comes there that has not left another ring */
    uint64_t waited_at;             /* ready plus 1, if so, at the end of the round before; else not it */
    uint64_t seen_head, seen_lost;  /* when the one before was */
    struct recorder_thread *thread; /* whose ring it is; NULL: nobody's */
    bool taken;                     /* at the snapshot */
    bool ended;                     /* the thread was gone at the snapshot: head is final */
};

struct drain {
    struct session *session;                  /* borrowed */
    struct threads *threads;                  /* borrowed */
    struct drain_ring *rings;                 /* owned, of those looked at so far */
    uint32_t rings_room;                      /* for so many */
    uint64_t *words;                          /* owned: a copy of one ring's words, in one piece */
    uint8_t *methods;                         /* owned: a piece of the method log */
    uint64_t *tickets;                        /* owned: a bit for each that a virtual thread has left; or NULL */
    uint32_t *value_methods;                  /* owned, by the id of a value: 1 more than its method; 0: it is none */
    uint32_t n_values;                        /* ids are below this */
    uint32_t n_told_values;                   /* so far */
    uint64_t methods_at;                      /* bytes of the method log that were read */
    uint32_t n_seen;                          /* rings looked at in this round */
    uint64_t snapshot_ns;                     /* when it was made; CLOCK_MONOTONIC_RAW */
    uint64_t n_damaged;                       /* rings whose head made no sense: the target was overwritten there */
    uint64_t n_lost;                          /* calls lost by threads that have ended */
    pid_t pid, inner_pid;                     /* of the target: to translate thread ids */
    bool kernel_tells_ends;                   /* so the rings need not */
    const struct recorder_observer *observer; /* is told of records; borrowed, or NULL */
    struct recorder_link *link;               /* is told of methods; borrowed, or NULL */
};

/* Returns 0, or -1 with *err set. */
void drain_init(struct drain *drain, struct session *session, struct threads *threads);
void drain_free(struct drain *drain);

/* Note how far the rings are filled.  Returns the words that wait. */
uint64_t drain_snapshot(struct drain *drain);

/* Find out whose rings they are.  Returns 0, or -1 with *err set. */
void drain_threads(struct drain *drain);

/* Write the methods that the agent has told of so far.  Returns 0, or -1 with *err set. */
int drain_methods(struct drain *drain, struct trace_writer *writer, struct err *err);

/* Write the records up to the snapshot; now is a moment after it, in ticks.  Returns 0, or -1 with *err set. */
int drain_records(struct drain *drain, struct trace_writer *writer, uint64_t now, struct err *err);

/* Calls that could not be recorded so far. */
uint64_t drain_n_lost(const struct drain *drain);

#endif
