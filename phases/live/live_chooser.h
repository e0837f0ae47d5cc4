/*
 * The chooser: which sampled methods get probes in the next batch, and when samples are to be judged.
 *
 * It reads the budget, and which methods have probes; it is told of candidates, with what recompiling their classes
 * costs, and says which of them fit.  It changes nothing else.
 */
#ifndef PHASES_LIVE_LIVE_CHOOSER_H
#define PHASES_LIVE_LIVE_CHOOSER_H

#include "core/recorder/recompilation_cost.h"
#include "phases/live/live_parts.h"
#include "phases/samples/candidates.h"

/* A method that samples found on the stack: internal form. */
struct live_candidate {
    const char *class_name, *name, *descriptor;
    double share;            /* of the samples' CPU time, callees included; or if it is more, of that and waiting */
    bool is_rare;            /* in too few samples to change its class for it */
    uint32_t class_number;   /* of its class among those whose cost was asked for; others: no cost is known */
    double recompilation_ns; /* what the chooser found its class to cost the compilers; 0: not known */
};

/* Why a sampled method has no probes. */
enum live_without {
    LIVE_WITHOUT_BATCH,  /* none has come since it was found, or it had no room in it */
    LIVE_WITHOUT_BUDGET, /* recompiling its class would exceed the budget */
    LIVE_WITHOUT_CHANGE, /* its class was to be changed, and was not */
    LIVE_WITHOUT_EXIT,   /* a loop of its class is active */
    LIVE_WITHOUT_LOSS,   /* no class is changed, for the JVM would discard all compiled code */
    LIVE_WITHOUT_CLASSES /* no class is changed, for the JVM writes its classes into an archive */
};

/* Candidates that may get probes; those that fit into the budget come first. */
struct live_choice {
    struct live_candidate *all; /* owned */
    size_t n, n_chosen;
};

struct live_chooser {
    /* What it reads; borrowed. */
    const struct live_budget *budget;
    const struct live_methods *methods;

    /* What it decides. */
    struct live_choice latest;    /* empty when its batch is under way */
    struct live_choice requested; /* that of the latest batch */
    size_t n_over_budget;         /* candidates of the latest choice that were not worth a batch */
    uint64_t
        discard_ns; /* the compilers' CPU time for all code there is, where the first batch discards it; 0: not known */
    uint64_t skipped_ns; /* likewise, where there is no batch for it; 0: there is */

    struct arena arena;               /* names of candidates */
    struct recompilation_costs costs; /* owned copy; of their classes: none where they are not known */
    double work_ns;                   /* the compilers' CPU time for a unit of work */
    bool has_candidates;              /* they have come since they were asked for */
    bool is_requested_again;          /* the latest batch changed no class */
    uint64_t next_ns, delay_ns;       /* when samples are judged again */
    uint32_t n_choices;
    uint64_t sampled_since_ns; /* samples count since then; 0: not yet */
    uint32_t first_sample;     /* then */
};

/*
 * The candidates of two lists, by CPU time and on the wall clock, each once, with the larger share; sorted for
 * live_chooser_candidates; behind them those of their classes in too few samples.  'found' has room for all methods of
 * 'cpu' and the candidates of 'wall'.  Returns how many.
 */
size_t live_candidates_join(const struct candidate_list *cpu, const struct candidate_list *wall,
                            struct live_candidate *found);

void live_chooser_free(struct live_chooser *c);

/*
 * Is it time for the first choice: does the program do what it is for, and are there samples of that?  *begins_anew:
 * samples count from now on.
 */
bool live_chooser_has_begun(struct live_chooser *c, bool *begins_anew);

/*
 * Would the first batch, and the one that removes its probes, cost more than the whole budget even if nothing were
 * compiled again?
 */
bool live_chooser_is_too_dear(const struct live_chooser *c);

/*
 * May a batch follow the next choice?  If not, what its classes cost need not be found out: the agent would look
 * through all of the JVM's code for it.
 */
bool live_chooser_needs_costs(const struct live_chooser *c);

/* A choice begins: candidates are asked for. */
void live_chooser_begin(struct live_chooser *c);

/*
 * The samples have come to this; sorted by share, largest first; copied.  costs: of recompiling their classes, or NULL.
 */
void live_chooser_candidates(struct live_chooser *c, const struct live_candidate *candidates, size_t n,
                             const struct recompilation_costs *costs);

/* Is there to be a batch now, of those that were chosen?  Then they are the ones requested. */
bool live_chooser_decide(struct live_chooser *c);

/* The batch is over, and has changed no class: what was wanted is so again. */
void live_chooser_changed_nothing(struct live_chooser *c);

/* What recompiling the classes costs that the latest batch has changed; NAN: it is not known. */
double live_chooser_changed_ns(const struct live_chooser *c);

/* Why does a method that samples found have no probes?  *recompilation_ns: what its class costs; 0: not known. */
enum live_without live_chooser_why(const struct live_chooser *c, const char *class_name, const char *name,
                                   const char *descriptor, double *recompilation_ns);

#endif
