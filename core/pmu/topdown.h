/*
 * Top-down analysis: the share of a processor's slots that retired an operation, and what the others were lost to.
 * A slot is the chance to take one operation into the back end; a processor has so many a cycle.
 *
 * The formulas are a table: a row for each kind of processor, with the document that they are from.
 */
#ifndef CORE_PMU_TOPDOWN_H
#define CORE_PMU_TOPDOWN_H

#include "core/base/arena.h"
#include "core/base/err.h"

enum topdown_part {
    TOPDOWN_RETIRING,
    TOPDOWN_BAD_SPECULATION,
    TOPDOWN_FRONTEND,
    TOPDOWN_BACKEND,
    TOPDOWN_MEMORY, /* of the back end's; so is the next one */
    TOPDOWN_CORE,
    TOPDOWN_OTHER_THREAD, /* slots that the core's other hardware thread had */
    TOPDOWN_PARTS
};

extern const char *const topdown_part_names[TOPDOWN_PARTS];

/*
 * A formula is arithmetic: + and - between spaces, * / ( ), numbers, 'width', other parts, and events as -e takes them.
 */
struct topdown_cpu {
    const char *pmus; /* libpfm4's names, with a space between them; "simulated" */
    const char *name; /* in traces */
    double width;     /* slots a cycle */
    const char *formulas[TOPDOWN_PARTS];
    const char *why_none; /* a part has no formula; without any, the row is a refusal */
    const char *caution;  /* what else to know of the figures, or NULL */
    const char *source;
};

/* The last one has pmus NULL. */
extern const struct topdown_cpu topdown_cpus[];

/* The row of a PMU.  is_early: Arm's erratum of revisions before r0p3 applies.  NULL: there is none. */
const struct topdown_cpu *topdown_for(const char *pmu, bool is_early);

/* The row that a trace names, or NULL. */
const struct topdown_cpu *topdown_named(const char *name);

/* How often an event was counted; NAN: that is not known. */
typedef double topdown_count_fn(const char *event, void *context);

/* A part, 0..1; NAN: it has no formula, or an event of it is not known. */
double topdown_value(const struct topdown_cpu *cpu, enum topdown_part part, topdown_count_fn *count, void *context);

bool topdown_uses(const struct topdown_cpu *cpu, enum topdown_part part, const char *event);

#define TOPDOWN_ALIAS "topdown"

/*
 * In a list of events, put cycles, instructions and the row's events where it says 'topdown', each event once.  *used
 * is the row, NULL: the list does not say it, and is returned as it is.  pmu NULL: this processor's.  Returns NULL with
 * *err set: there are no formulas for that PMU.
 */
const char *topdown_expand(const char *list, const char *pmu, struct arena *arena, const char **used, struct err *err);

#endif
