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
#include "symbolize/vm_parts.h"

/* ---- stack samples ---- */

/*
 * Stack samples of a live recording: what the choice of methods (phases/samples/candidates.h) is told of them, and in
 * which loops threads are that go on for long.
 *
 * HotSpot compiles no code of a class from before it was changed: a loop that is under way when its class is changed is
 * interpreted until its call ends, ten to fifty times slower (17 and 25; also when nothing changed in its own method).
 * So classes with hot loops that are under way are left alone for a while (core/agent/instrument/retransform.h).
 */

struct live_samples;

struct live_samples *live_samples_open(void);
void live_samples_close(struct live_samples *samples); /* NULL is fine */

/* A thread has ended, and its number is another's from now on. */
void live_samples_forget(struct live_samples *samples, uint32_t thread);

/* Those that are added from now on count; methods that are known to be too short stay known. */
void live_samples_begin(struct live_samples *samples);

/* Take up a sample of an application's thread (the recorder's index). */
void live_samples_add(struct live_samples *samples, const struct stack_sample *sample, uint32_t thread);

/*
 * Take up what a visit found of a thread of the application that waits.  Who waits for work counts nothing, and what
 * goes on for long counts as WAIT_COUNTED_NS.
 */
void live_samples_add_wait(struct live_samples *samples, const struct stack_wait *wait, uint32_t thread);

/* How many waits counted so far. */
uint32_t live_samples_n_waits(const struct live_samples *samples);

/* The same samples with waits, on the wall clock; described by live_samples_candidates; borrowed. */
struct candidates *live_samples_wall(struct live_samples *samples);

/*
 * The candidates with what is known of their methods now; borrowed.
 *
 * wanted  the rules of what may get probes
 * cpu_ns  that the JVM has used since its start
 */
struct candidates *live_samples_candidates(struct live_samples *samples, const struct agent_config *rules,
                                           uint64_t cpu_ns);

/* The methods of loops that are under way, n of them at most, in *all: names are the samples'.  Returns how many. */
size_t live_samples_loops(const struct live_samples *samples, struct recorder_phase *all, size_t n);

/* ---- the session ---- */

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
    /* Set them after live_session_init, or NULL: the JVM is about to discard its code, which took so much to compile;
     * or no class is changed, since it would be. */
    void (*discards)(uint64_t compilers_ns);
    void (*spares)(const struct live_session *session);
    bool has_told;      /* of the latter: once */
    live_view_fn *view; /* or NULL */
    void *view_context;
};

/* Prepare; plan->observer is to be &session->observer, and plan->is_live set.  options->tree is filled in later. */
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

/* ---- methods that samples found, and that have no probes ---- */

#define LIVE_SAMPLED_MAX 512u /* methods told of: deep stacks have hundreds with a hundredth of the time */

struct live_sampled {
    const struct candidate *found; /* in the arena, its names the session's until the next choice */
    const char *why;               /* "dear", "loop", ...: mmprof.trace(5) */
    double recompilation_ns;       /* of its class; 0: not known */
};

/*
 * By CPU time, those with the session's weight at least, largest share first, LIVE_SAMPLED_MAX at most; without methods
 * of the JDK that only pass on.
 *
 * Returns how many, in *all, which lives in the arena.
 */
size_t live_sampled_list(struct live_session *session, struct arena *arena, struct live_sampled **all);

/* At the end, once: their metadata, for mmprof report, with those that only pass on, and that of those that have such a
 * weight on the wall clock only.  Returns 0, or -1 with *err set. */
int live_sampled_write(struct live_session *session, struct recorder_link *link, struct err *err);

#endif
