/*
 * A live recording: connects the recorder (core/recorder/link.h) with what decides (phases/live/live.h).  'record
 * --live', 'profile' and 'top' use it.
 */
#ifndef PHASES_LIVE_SESSION_H
#define PHASES_LIVE_SESSION_H

#include "core/pmu/events.h"
#include "core/jvm/compilers.h"
#include "core/recorder/link.h"
#include "phases/samples/candidates.h"
#include "phases/live/live.h"
#include "phases/live/live_samples.h"
#include "symbolize/vm_parts.h"

struct live_session;

/*
 * Told of each round after the decisions; may end the recording by recorder_end.  link is NULL when it is over.
 * Returns 0, or -1 with *err set.
 */
typedef int live_view_fn(void *context, struct live_session *session, struct recorder_link *link, struct err *err);

struct live_session {
    struct live_options options;
    struct live *live;             /* owned; NULL until the agent is ready */
    struct live_samples *samples;  /* owned; NULL: there are none yet */
    struct candidates *candidates; /* theirs, with each sample since; NULL: there was no choice yet */
    uint64_t sampled_since_ns;     /* from when on samples count */
    struct arena arena;            /* of the present choice */
    struct trace_method *first;    /* owned; methods that had probes before 'live' */
    size_t n_first, first_room;
    struct arena first_arena; /* of their names */
    struct jvm_compilers compilers;
    uint64_t compilers_ns, compilers_read_ns; /* as read last, and when */
    struct recorder_link *link;               /* borrowed: of the latest round */
    struct recorder_observer observer;
    struct recorder_status status; /* of the latest round */
    size_t n_windows;              /* of recompilation, told to the trace */
    uint64_t file_ticks;           /* where the trace's file before this one ended; 0: there is none */
    bool logs_jit;                 /* set it after live_session_init: the trace gets the JIT compiler's events */
    uint32_t n_samples;
    double rewriting_ms; /* what the batches cost there */
    bool has_cpi;
    char refused[256]; /* what the agent would not do, or "" */
    char archive[256]; /* the JVM writes its classes into an archive by this option, and none is changed; or "" */
    /* Set it after live_session_init, or NULL: the JVM is about to discard its code, which took so much to compile. */
    void (*discards)(uint64_t compilers_ns);
    live_view_fn *view; /* or NULL */
    void *view_context;
};

/*
 * Prepare; plan->observer is to be &session->observer, and plan->is_live set.  options->tree is filled in later.
 */
void live_session_init(struct live_session *session, const struct live_options *options);

/*
 * The events of the recording: where cycles and instructions are in the first of its groups, the first tracked counter
 * is cycles and the second instructions (session->has_cpi).
 */
void live_session_events(struct live_session *session, const struct counter_set *events,
                         const struct counter_layout *layout);
void live_session_free(struct live_session *session);

/* Was the program left as it is, so that there are samples and no records? */
bool live_session_has_samples_only(const struct live_session *session);

#endif
