/*
 * The methods that have got probes, or were to get some, and their figures.
 */
#ifndef PHASES_LIVE_LIVE_METHODS_H
#define PHASES_LIVE_LIVE_METHODS_H

#include "core/base/arena.h"
#include "phases/live/live_status.h"

enum live_state { LIVE_ENABLED, LIVE_DISABLED, LIVE_ON_TRIAL, LIVE_REMOVED }; /* on trial: enabled for a moment */

enum live_why { LIVE_NOT_DISABLED, LIVE_TOO_SHORT, LIVE_TOO_FREQUENT, LIVE_OVER_BUDGET };

/* One instrumented method. */
struct live_method {
    uint32_t id;
    const char *class_name, *name, *descriptor; /* in the methods' arena */
    bool is_deferred; /* it has no probes yet, for a loop of its class is active: others' probes find it on the stack */
    enum live_state state;
    enum live_why why;
    uint64_t enabled_since_ns;    /* while enabled or on trial */
    uint64_t enabled_ns;          /* before that */
    uint64_t told_ns;             /* of both, in files before this one */
    uint64_t disabled_ns;         /* when it was switched off last */
    uint64_t next_trial_ns;       /* while disabled */
    uint32_t n_trials;            /* since it was switched off */
    struct live_account all;      /* as of the latest live_methods_refresh */
    struct live_account base;     /* what is left out of its figures: calls in recompilation, and before its trial */
    struct live_account frozen;   /* its figures when the latest batch began */
    struct live_account marks[2]; /* at the two latest marks of the budget */
    double calls_per_s, call_ns;  /* as of when it was switched off */
};

struct live_methods {
    struct live_tree *tree; /* owned */
    struct arena arena;
    struct live_method *all; /* owned */
    size_t n, room;
    struct live_account *accounts; /* owned: for live_methods_refresh */
    uint32_t accounts_room;
    bool is_frozen; /* a batch or its recompilation window is under way: calls do not count */
};

/* Returns 0, or -1 with *err set; live_methods_free in any case. */
int live_methods_open(struct live_methods *methods, const struct live_tree_options *options, struct err *err);
void live_methods_free(struct live_methods *methods);

/*
 * A method has probes from now on, enabled ones; without code (code_bytes 0) it has none yet.  Returns 0, or -1 with
 * *err set.
 */
int live_methods_add(struct live_methods *methods, const struct trace_method *method, uint64_t now_ns, struct err *err);

/* By id, or by name; NULL: there is none. */
struct live_method *live_methods_by_id(const struct live_methods *methods, uint32_t id);
struct live_method *live_methods_find(const struct live_methods *methods, const char *class_name, const char *name,
                                      const char *descriptor);

/* Has a method calls that were recorded, or probes, or has it had them? */
bool live_methods_know(const struct live_methods *methods, const char *class_name, const char *name,
                       const char *descriptor);

/* Bring each method's account up to the present round (ticks).  Returns 0, or -1 with *err set: no memory. */
int live_methods_refresh(struct live_methods *methods, uint64_t ticks, struct err *err);

/* Their calls do not count from now on; or they do again, as if those in between had not been (after a refresh). */
void live_methods_freeze(struct live_methods *methods);
void live_methods_thaw(struct live_methods *methods);

/* A method's figures without what is left out; those of a frozen one are from before, */
struct live_account live_method_figures(const struct live_methods *methods, const struct live_method *method);

/* or what it has so far, to decide on, if there were none. */
struct live_account live_method_net(const struct live_methods *methods, const struct live_method *method);

/* Is this method measured, and has it been called while its calls counted?  Is there any? */
bool live_method_has_figures(const struct live_methods *methods, const struct live_method *method);
bool live_methods_have_figures(const struct live_methods *methods);

/* Mean CPU time of a call in ns, and its wall time; 0 when there was none. */
double live_account_call_ns(const struct live_account *figures, double ns_per_tick);
double live_account_wall_ns(const struct live_account *figures, double ns_per_tick);

static inline bool live_method_is_on(const struct live_method *method)
{
    return method->state == LIVE_ENABLED || method->state == LIVE_ON_TRIAL;
}

/* "armed", "disarmed", "tried", "removed": as mmprof.trace(5) has them */
const char *live_state_name(enum live_state state);

/* "its calls are too short", and so on; "" for those that are enabled. */
const char *live_why_text(enum live_why why);

#endif
