/*
 * What costs a program most, and why: sentences that each name a culprit, what it costs, and the view that shows more.
 */
#ifndef REPORT_FINDINGS_FINDINGS_H
#define REPORT_FINDINGS_FINDINGS_H

#include "report/folding.h"
#include "report/view/view_pass.h"

/* What is heard for them. */
#define VIEW_PASS_FINDINGS (VIEW_PASS_LIVE | VIEW_PASS_WAITS | VIEW_PASS_VALUES | VIEW_PASS_PRESSURE)

#define FINDINGS_ON_SCREEN 8 /* lines above the report */

/* What findings are made from; all borrowed. */
struct findings_input {
    const struct report_source *source;   /* its tree with samples in it, where there are any */
    const struct folding_list *libraries; /* classes that are not the program's own */
    const struct view_pass *pass;         /* of the source, with VIEW_PASS_FINDINGS; NULL: nothing is found by it */
};

/* A cost that exceeds its rule's threshold with the whole interval.  Texts are the arena's. */
struct finding {
    const char *rule;    /* a word: mmprof-report(1) has the list */
    const char *subject; /* a method, or a part of the JVM or the machine */
    const char *text;    /* one line of plain English, which begins with the subject */
    const char *view;    /* for 'mmprof report --view' */
    double cost_ns;      /* of CPU time, or of waiting of all threads together */
    double saving_ns;    /* of that, if it is mended: as the rule expects */
    double share;        /* what the threshold is of */
    const char *size;    /* the share in words: "0.5 threads on average" */
    bool is_condition;   /* no fault of the program, but what the measurement was made in */
    bool is_repeated;    /* it tells where time goes or objects are made, which the line of a fault there tells, too */
    double low, high;    /* the interval of 95 % around the share; the share itself where it was measured */
};

struct findings {
    const struct finding *all; /* those first whose mend saves most; the arena's */
    size_t n;
};

struct findings findings_find(const struct findings_input *input);

/* The first of them that repeat nothing, that many lines at most (0: all), as they stand above the report. */
void findings_print(const struct findings *findings, size_t most, FILE *out);

/*
 * The findings and the report's table as one JSON for assistants (agents.schema.json).  What is too much is left out as
 * whole items, and counted.  trace: the path, for the commands that show more.
 */
#define FINDINGS_AGENTS_BYTES 15360 /* at most, also as a string within another JSON; 16 KB with what that adds */
void findings_print_agents(const struct findings *findings, const struct table *phases, const char *trace, FILE *out);

/* All of them, a row each. */
void findings_table(const struct findings_input *input, struct table *table);

#endif
