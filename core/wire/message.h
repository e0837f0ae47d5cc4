/*
 * The messages of the conversation between recorder and agent (core/wire/protocol.h): packets of text, a word and
 * fields.  message.c has a table with a row for each; encoding, decoding and the tests go by it.
 */
#ifndef CORE_WIRE_MESSAGE_H
#define CORE_WIRE_MESSAGE_H

#include "core/base/std.h"

#define WIRE_PACKET_BYTES 4096
#define WIRE_LIST_MAX     400u /* ids or addresses in one message: ids have 7 digits at most */

enum wire_kind {
    WIRE_UNKNOWN, /* a packet of another version, or a damaged one */
    /* the agent says */
    WIRE_HELLO,
    WIRE_READY,
    WIRE_FAILED,
    WIRE_COUNTERS,
    WIRE_CHANGING,
    WIRE_PAUSE,
    WIRE_FULL,
    WIRE_PERF_MAP,
    WIRE_PERF_MAP_FAILED,
    WIRE_CODE_MAP_FAILED,
    WIRE_CODE_MAP_ALL,
    WIRE_ARCHIVE,
    WIRE_STOPPED,
    /* it answers */
    WIRE_ENABLED,
    WIRE_DISABLED,
    WIRE_INSTRUMENTED,
    WIRE_REMOVED,
    WIRE_POLLING,
    WIRE_ALLOCATIONS_BEGUN,
    WIRE_DEPENDENTS_TOLD,
    WIRE_LOGGING,
    WIRE_TOLD,
    WIRE_COMPILING,
    WIRE_REFUSED,
    /* the recorder says */
    WIRE_SESSION,
    WIRE_BEGIN,
    WIRE_STOP,
    /* it commands */
    WIRE_ENABLE,
    WIRE_DISABLE,
    WIRE_INSTRUMENT,
    WIRE_REMOVE,
    WIRE_POLL,
    WIRE_ALLOCATIONS,
    WIRE_DEPENDENTS,
    WIRE_JIT,
    WIRE_WHERE,
    WIRE_COMPILE,
    WIRE_N_KINDS
};

struct wire_list {
    size_t n;
    uint64_t numbers[WIRE_LIST_MAX];
};

/* The row of a kind says which of these it has; the others are 0. */
struct wire_message {
    enum wire_kind kind;
    uint32_t version, pid;   /* of the protocol; of the JVM, as it sees itself */
    uint32_t tid, ring;      /* a thread, and the number of its ring */
    uint32_t n_classes;      /* that were changed, or are to be */
    uint32_t n_methods;      /* that got or lost probes */
    uint32_t n_unknown;      /* ids that no method has; methods that could not be compiled */
    uint32_t n_batches;      /* times that the application was stopped */
    uint32_t n;              /* flags switched; pieces of code told of; methods handed to the compilers */
    uint32_t period_us;      /* from one round of samples to the next, at least */
    uint32_t part_ppm;       /* that they may take of the CPU time, in millionths */
    uint32_t is_tracking;    /* 1: of sampled objects, how long they live, too */
    uint64_t ticks;          /* a moment: protocol.h says which */
    uint64_t pause_ns;       /* how long the application stood still from then on, at most */
    double call_ms;          /* of RetransformClasses */
    double longest_ms;       /* the longest such call */
    double longest_pause_ms; /* the longest stop, at most */
    double total_ms, cpu_ms; /* of all of it */
    enum wire_kind command;  /* that is refused */
    const char *text;        /* up to the packet's end; borrowed, never NULL when decoded */
    struct wire_list *list;  /* ids, or addresses; borrowed, or NULL */
};

/*
 * Write the packet of a message, with a NUL: what does not fit into room (at least 64) is left out.  Returns its length
 * in bytes.
 */
size_t wire_encode(const struct wire_message *message, char *packet, size_t room);

/*
 * Read a packet that ends with a NUL; message->text points into it.  list: where ids and addresses go, message->list
 * from then on; NULL: they are passed over.  Keys that are not known are passed over, and a field that is missing is 0;
 * where a number should be and is none, the kind is WIRE_UNKNOWN.
 */
void wire_decode(const char *packet, struct wire_list *list, struct wire_message *message);

/* The word that a kind begins with; the answer to a command (WIRE_UNKNOWN: it has none); is it one at a time? */
const char *wire_name(enum wire_kind kind);
enum wire_kind wire_answer(enum wire_kind command);
bool wire_is_slow(enum wire_kind command);

#endif
