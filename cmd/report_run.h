/* What the parts of 'mmprof report' share: its options, what one run holds, and its views. */
#ifndef CMD_REPORT_RUN_H
#define CMD_REPORT_RUN_H

#include "cmd/trace_argument.h"
#include "report/findings/findings.h"
#include "report/format/table.h"
#include "report/html/html.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

struct report_run;

#define REPORT_TRACES_MAX ESTIMATE_GROUPS_MAX /* one for each group of events */
#define REPORT_VIEWS_MAX  25

/* What the page is made of. */
#define REPORT_PAGE_PARTS                                                                                \
    (VIEW_PASS_STATISTICS | VIEW_PASS_RECOVERY | VIEW_PASS_WHERE | VIEW_PASS_TIMELINE | VIEW_PASS_LIVE | \
     VIEW_PASS_WAIT_STACKS | VIEW_PASS_SLOW | VIEW_PASS_FINDINGS)

#define REPORT_VIEW_METHOD  1u  /* it needs its argument, a method */
#define REPORT_VIEW_THREADS 2u  /* it can be of some threads only */
#define REPORT_VIEW_WAITING 4u  /* it knows of time off the CPU: --clock wall makes a difference */
#define REPORT_VIEW_RUNS    16u /* of several traces, which it reads itself */
#define REPORT_VIEW_LAB     8u  /* it is of a simulation: mmprof-lab makes it */

/* What is printed: a table that takes the place of the phases', which is the first view. */
struct report_view {
    const char *name;
    const char *argument; /* what may follow as NAME=ARGUMENT, as help shows it; NULL: nothing */
    const char *help;
    int (*make)(struct report_run *run, struct table *table, struct err *err); /* 0, or -1 with *err set */
    unsigned can;                                                              /* of REPORT_VIEW_... */
    unsigned parts; /* VIEW_PASS_...: what it is made of, beside the tree */
};

/* All of them, in the order of --views; one without a name ends them. */
extern const struct report_view report_views[];

struct report_options {
    const char *paths[REPORT_TRACES_MAX], *clock, *html, *sources, *threads, *fold;
    size_t n_paths;
    struct report_row_options rows;
    const struct report_view *view;
    const char *argument;       /* of the view, or "" */
    const char *columns, *sort; /* keys; NULL: as the view has them */
    double decay_s;             /* half-life of the heat of misses; 0: none */
    bool csv, json, salvage, java, notes, no_fold, wide, regions, for_agents;
};

struct report_run {
    int argc; /* the command's words; borrowed */
    char **argv;
    const struct report_options *options;
    struct display *display; /* borrowed */
    struct arena arena;
    struct view_pass *passes; /* owned, of each trace: the first one of all that the view needs */
    struct report_trace traces[REPORT_TRACES_MAX];
    struct report_source first_whole;             /* the first trace with what samples saw in its tree */
    struct report_source first_other;             /* for a page: likewise on the other clock */
    struct report_trace whole[REPORT_TRACES_MAX]; /* traces, with this one */
    const struct folding_list *libraries;         /* classes that are not the program's own; the arena's */
};

/* Is it the view of that name? */
bool report_view_is(const struct report_view *view, const char *name);

/* The view that words name, as NAME or NAME=ARGUMENT; *argument is borrowed from them, or "".  NULL with *err set. */
const struct report_view *report_view_find(const char *words, const char **argument, struct err *err);

/* Print the view that was asked for; in text some have others below them.  Returns 0, or -1 with *err set. */
int report_view_print(struct report_run *run, struct err *err);

/* Print what --for-agents promises.  Returns 0, or -1 with *err set. */
int report_agents_print(struct report_run *run, struct err *err);

/* The names of those that can all of this (REPORT_VIEW_...), "phases, tree, ...". */
void report_views_that_can(unsigned can, char *text, size_t n);

/* Print the names of all views, a line for each. */
void report_views_print(FILE *out);

/* The report's table: of phases, or of the samples where the trace has nothing else.  Returns 0, or -1 with *err set.
 */
int report_make_table(struct report_run *run, struct table *table, struct err *err);

/* Write the page of --html.  Returns 0, or -1 with *err set. */
int report_page_print(struct report_run *run, struct err *err);

/* What costs most, in plain English: above a report's table, and while a recording still runs. */

/* Print them as they stand above a report, most of them at most (0: all), on lines that the look has room for. */
void report_findings_print(const struct findings_input *input, size_t most, const struct table_look *look, FILE *out);

/*
 * The same of what a trace that may still be written has by now.  Returns the text, for free(), "" where nothing costs
 * much; or NULL with *err set: the trace cannot be read yet.
 */
char *report_findings_of(const char *path, const struct table_look *look, struct err *err);

#endif
