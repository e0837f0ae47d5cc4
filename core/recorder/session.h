/*
 * One conversation with an agent: the shared memory, the method log, the configuration, the socket.
 * core/wire/protocol.h describes it.
 */
#ifndef CORE_RECORDER_SESSION_H
#define CORE_RECORDER_SESSION_H

#include "core/pmu/perf_open.h"
#include "core/jvm/guest.h"
#include "core/recorder/ring_memory.h"
#include "core/wire/message.h"
#include "core/wire/protocol.h"
#include "core/wire/ring.h"

struct session {
    int listener, peer; /* sockets, or -1 */
    int segment_fd, methods_fd, config_fd, code_fd;
    struct segment *segment; /* owned mapping */
    size_t segment_bytes;
    /* The geometry as we made it: the target may write into the segment's header. */
    uint32_t n_rings, ring_words, n_counters;
    uint64_t rings_offset, words_offset, stacks_offset;
    struct ring_memory memory;
    int fds[COUNTERS_GROUPS_MAX]; /* came with the latest packet: whose they are is for the receiver to say */
    size_t n_fds;
    char packet[WIRE_PACKET_BYTES];     /* the latest one */
    pid_t peer_pid;                     /* who connected; 0 before */
    char jvm[160];                      /* its name and version; "" before */
    struct guest guest;                 /* what is in the target's /tmp until the agent has connected */
    char socket_path[GUEST_PATH_BYTES]; /* as the target sees it */
};

struct session_plan {
    const struct jvm_process *process; /* NULL when the target is not there yet */
    uint64_t ring_bytes;               /* that a ring may grow to */
    struct ring_memory_plan memory;
    uint32_t n_counters;
    const char *config;  /* text for the agent; borrowed */
    const char *threads; /* a pattern of their names, shorter than SEGMENT_THREADS_BYTES; NULL: all; borrowed */
};

/* Nothing is open.  session_close may be called. */
void session_init(struct session *session);

/* Make everything.  Returns 0, or -1 with *err set; session_close is to be called in both cases. */
int session_open(struct session *session, const struct session_plan *plan, struct err *err);

/* Before a connection: let the agent in this process (NULL: in one of ours) reach the session.  As session_open. */
int session_move(struct session *session, const struct jvm_process *process, struct err *err);

/*
 * Accept the agent's connection if there is one, and give it the session.  Returns 1 when there was one, 0 when not,
 * or -1 with *err set.
 */
int session_accept(struct session *session, struct err *err);

/*
 * Receive a message if there is one.  Returns 1 with it (its text lives until the next call), 0 when there is none, -1
 * at the end of the connection.  Descriptors that come with it are in fds[0..n_fds); those still there at the next call
 * are closed.
 */
int session_receive(struct session *session, struct wire_message *message);

/* Send a message of its word alone; or a packet, with a descriptor unless that is -1.  0, or -1: no room or no peer. */
int session_send(struct session *session, enum wire_kind kind);
int session_send_with(struct session *session, const char *packet, int fd);

/* The descriptors to poll for reading: the listener before, the peer after the connection. */
int session_fd(const struct session *session);

/* Remove what is in the target's /tmp, close, unmap. */
void session_close(struct session *session);

static inline struct ring *session_ring(const struct session *session, uint32_t i)
{
    return (struct ring *)((char *)session->segment + session->rings_offset) + i;
}

static inline const uint64_t *session_words(const struct session *session, uint32_t i)
{
    return (const uint64_t *)((char *)session->segment + session->words_offset) + (size_t)i * session->ring_words;
}

#endif
