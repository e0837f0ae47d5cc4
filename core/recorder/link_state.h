/* The recorder's side of a link; only the recorder's own files include it. */
#ifndef CORE_RECORDER_LINK_STATE_H
#define CORE_RECORDER_LINK_STATE_H

#include "core/base/map.h"
#include "core/recorder/link.h"
#include "core/recorder/session.h"

/* A command that has no answer yet. */
struct link_command {
    struct link_command *next; /* owned */
    enum recorder_command command;
    uint32_t *ids; /* owned, or NULL */
    size_t n_ids;
    char *lines; /* owned; of an instrument: its configuration (core/wire/setting.h), or NULL */
    int fd;      /* that goes with it; owned, or -1 */
    bool sent;
    char packet[];
};

/* For reading the JIT compiler's log: an entry is shorter than this. */
struct link_jit {
    uint8_t bytes[JIT_ENTRY_BYTES + 4];
    struct jit_event event;
};

struct recorder_link {
    struct session *session;                  /* borrowed */
    const struct recorder_observer *observer; /* borrowed; NULL: none */
    struct link_command *commands;            /* owned, oldest first */
    struct arena arena;
    struct map told; /* ids of methods that the recorder was told of: by the line of SETTING_PHASE, and by id */
    bool ready;      /* the agent takes commands */
    uint32_t n_pauses;
    double longest_pause_ms, pauses_ms;
    struct trace_writer *writer; /* borrowed: for metadata; NULL: it is closed */
    struct code_map *code;       /* borrowed */
    uint64_t code_ns;            /* CPU time in the agent's threads for telling of code that was asked for */
    int jit_fd;                  /* the JIT compiler's log; owned; -1: none */
    uint64_t jit_read_bytes;
    struct link_jit *jit;          /* owned; NULL: not needed yet */
    struct agent_config *rules;    /* owned; NULL: not read yet */
    uint32_t round_ms;             /* 0: as usual */
    char polling_refused[128];     /* why the agent does not sample stacks, or "" */
    char allocations_refused[128]; /* the same of allocations */
    bool is_over;
};

void link_init(struct recorder_link *link, struct session *session, const struct recorder_observer *observer);
void link_free(struct recorder_link *link);

/* A method that the agent told of.  Returns 0, or -1 with *err set. */
void link_know(struct recorder_link *link, const struct trace_method *method);

/* A message from the agent; those that are not the link's are passed over.  Returns 0, or -1 with *err set. */
int link_hear(struct recorder_link *link, const struct wire_message *told, struct err *err);

/*
 * The end of a round: what the JIT compiler did, then the observer's round, then what it asked for.  status: the link's
 * own part of it is filled in here.  Returns 0, or -1 with *err set.
 */
int link_round(struct recorder_link *link, struct recorder_status *status, struct err *err);

/*
 * Ask what code is at some addresses, LINK_ADDRESSES at most; the answer is in the code log.  It may be asked when
 * there is no question under way.
 */
#define LINK_ADDRESSES 64
bool link_may_ask(const struct recorder_link *link);
void link_where(struct recorder_link *link, const uint64_t *addresses, size_t n);

/*
 * Have the agent sample stacks, as core/wire/protocol.h says of 'poll', and append them to the memory file fd, which
 * is borrowed.  Returns 0, or -1 with *err set.
 */
int link_poll(struct recorder_link *link, uint32_t period_us, uint32_t part_ppm, int fd, struct err *err);

/* Have the agent sample allocations, and track the objects, too, and append that to the memory file fd, as above. */
int link_allocations(struct recorder_link *link, uint32_t part_ppm, bool is_tracking, int fd, struct err *err);

/* The end of a file, with another to follow: the observer's file.  As below. */
int link_file(struct recorder_link *link, struct recorder_status *status, struct err *err);

/* The end of the recording: the observer's finish.  Returns 0, or -1 with *err set. */
int link_finish(struct recorder_link *link, struct recorder_status *status, struct err *err);

#endif
