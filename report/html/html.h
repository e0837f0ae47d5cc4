/*
 * Pages for a browser, each a file that needs no other, and no network: the report; the comparison of two versions;
 * phases of services over days and versions; tables of any command.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/view/phase_report.h"
#include "report/view/timeline_table.h"

#define HTML_STEPS_MAX       600  /* of a time line, when nobody asked for a step */
#define HTML_STEPS_ASKED_MAX 5000 /* a page of more opens slowly */

/* What costs much: a sentence, and the view that shows more. */
struct html_finding {
    const char *text, *view;
};

/*
 * What the page shows.  Everything is borrowed; tables are of the first trace, or NULL: it has none.
 *
 * traces       as for report_make_joined; all but the table of phases is of the first one
 * whole        the first one with what samples saw in its tree
 * other        likewise on the other clock, or NULL: there is none
 * line         the time line of the first one, of at most HTML_STEPS_MAX steps or as many as the user asked for; or
 *              NULL, and no_line says why; likewise where and hot with no_where, pauses with no_pauses
 * sites        where the first one's threads wait
 * findings     of the whole first one, those that cost most first
 */
struct html_page {
    const struct report_trace *traces;
    size_t n_traces;
    const struct report_source *whole, *other;
    const struct table *phases, *cost, *stats, *slow, *jit, *where, *hot, *pauses, *startup, *virtuals, *values,
        *live_objects, *fields;
    const struct timeline_read *line;
    const char *no_line, *no_where, *no_pauses;
    const struct trace_allocation *allocations;
    size_t n_allocations;
    const struct trace_wait *waits;
    size_t n_waits;
    struct wait_sites *sites;
    const struct html_finding *findings;
    size_t n_findings;
};

/*
 * Write the page.  Its size is bounded whatever the trace's: what is left out of it, it says.
 *
 * These four return 0, or -1 with *err set: out cannot be written.
 */
int html_write(const struct html_page *page, FILE *out, struct err *err);

/* ---- two versions: a differential flame graph and the table ---- */

struct html_stacks;

/* What is said of a method in the graph.  Borrowed. */
struct html_change {
    uint32_t frame; /* of the stacks */
    int direction;  /* 1: more of the time, -1: less, both more than chance; 0: not shown */
    const char *words;
};

/*
 * Everything is borrowed.
 *
 * sides   of the traces before and after, as the page calls them
 * stacks  values 0 and 1: before and after, each as a share of its time
 * table   of the comparison, as text has it
 * runs    what the runs themselves took, or NULL: mmprof did not run them
 */
struct html_diff {
    const char *sides[2];
    const char *clock; /* "CPU time" or "wall time" */
    const struct html_stacks *stacks;
    const struct html_change *changes;
    size_t n_changes;
    const struct table *table, *runs;
    struct arena *arena;
};

int html_diff_write(const struct html_diff *diff, FILE *out, struct err *err);

/* ---- phases of services over days and versions ---- */

/* A phase's values on a day, of the runs of a version.  Texts are borrowed; service, version: or NULL. */
struct html_fleet_point {
    const char *service, *phase, *version, *day; /* day: 2026-11-28, UTC */
    double ns_per_call;
    double share; /* of the service's CPU time of that day and version, 0..1 */
};

/* Everything is borrowed.  points: of a phase one after another, by version, then day. */
struct html_fleet {
    const char *of; /* the directory or server */
    const struct table *table;
    const struct html_fleet_point *points;
    size_t n_points;
    struct arena *arena;
};

int html_fleet_write(const struct html_fleet *fleet, FILE *out, struct err *err);

/* ---- tables of a command ---- */

/* How a part is drawn: as its table, as a curve of live bytes and its table, or a paragraph for each hint. */
enum html_part_kind { HTML_PART_TABLE, HTML_PART_LIVE_BYTES, HTML_PART_HINTS };

/* Everything is borrowed. */
struct html_part {
    enum html_part_kind kind;
    const char *id;    /* a word, in the page's address */
    const char *title; /* a heading */
    const char *lead;  /* one or two sentences */
    const char *why;   /* what "-" in a cell means */
    const struct table *table;
};

struct html_tables {
    const char *title, *of; /* of: the trace or command */
    const struct html_part *parts;
    size_t n;
    struct arena *arena;
};

int html_tables_write(const struct html_tables *tables, FILE *out, struct err *err);

#endif
