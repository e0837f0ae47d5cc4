/* Shared by the rules of advice. */
#ifndef REPORT_FINDINGS_ADVICE_INTERNAL_H
#define REPORT_FINDINGS_ADVICE_INTERNAL_H

#include "report/findings/advice.h"
#include "report/findings/findings_internal.h"

#define EDEN_PART 0.8 /* of the young generation, as HotSpot divides it */

struct advice_rule {
    const char *name;
    const char *finding;    /* the rule of the finding that it acts on */
    double threshold;       /* what it saves at least, of the CPU time or the recording's, with the whole interval */
    double low, part, high; /* what part of the finding's cost it saves: at least, expected, at most */
    bool is_waiting;        /* that is time off the CPU */
    const char *basis;      /* where the parts are from: as struct advice_hint has it */
    const char *action;     /* "%s" is the subject, at most once */
    const char *option;     /* of the JVM, for the run that verifies it; NULL: the program is changed, or */
    const char *(*make_option)(const struct findings_making *making); /* that is made by this */
    const char *training;                                             /* an option for a run before that one, or NULL */
    bool (*applies)(const struct findings_making *making);            /* NULL: always */
    double (*cost_ns)(const struct findings_making *making);          /* of that time; NULL: as the finding has it */
};

extern const struct advice_rule advice_rules[]; /* one without a name ends them */

struct advising {
    const struct findings_making *making;
    struct advice_hint *hints; /* the arena's */
    size_t n;
};

/* How many collections of a kind, "gc_young" or "gc_full", there were, and what part of all pauses they took. */
double advice_pauses(const struct findings_making *making, const char *kind, double *part);

/*
 * Options of the JVM: a heap of twice the size, or half; a young generation of twice the size, or of so many bytes, in
 * a heap that is as much larger.  In the arena.
 */
const char *advice_larger_heap(const struct findings_making *making);
const char *advice_smaller_heap(const struct findings_making *making);
const char *advice_larger_young(const struct findings_making *making);
const char *advice_young_option(const struct findings_making *making, double bytes);

/* Pages that a young generation of so many bytes has more than that of the recording, and that are used in its time. */
double advice_touched_pages(const struct findings_making *making, double bytes);

/* The words of a command without the sizes that the options have, too: the last of them would count.  In the arena. */
const char *advice_without(struct arena *arena, const char *words, const char *options);

/* How to verify what changes the program, or adds an option of the JVM's; in the arena. */
const char *advice_verify(const struct findings_making *making, const struct advice_rule *rule);

#define ADVICE_MEMORY_MOST 12u

/* What is done with an emulated run (advice_memory.c). */
struct advice_memory_rules {
    /* Hints about objects: at most ADVICE_MEMORY_MOST. */
    void (*find)(struct advising *advising, const struct advice_memory *memory);
    /* The parts of a rule whose action that run tells the saving of; others stay as they are. */
    void (*measure)(struct advice_rule *rule, const struct advice_memory *memory);
};

#endif
