/*
 * The report as one page for a browser: a file that needs no other, and no network.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/view/phase_report.h"
#include "report/view/timeline_table.h"

#include <stdio.h>

#define HTML_STEPS_MAX       600  /* of a time line, when nobody asked for a step */
#define HTML_STEPS_ASKED_MAX 5000 /* a page of more opens slowly */

/* What costs much: a sentence, and the view that shows more. */
struct html_finding {
    const char *text, *view;
};

/*
 * What the page shows.  Everything is borrowed.
 *
 * traces    as for report_make_joined; all but the table is of the first one.
 * whole     the first one with what samples saw in its tree; other, likewise on the other clock, or NULL: there is
 * none. phases    report_make_joined's table of them. cost      cost_make's table of the first one, or NULL. stats
 * stats_table's of the first one, or NULL. where     where_table's of the first one, and hot where_hot_table's; or
 * NULL, and no_where says why. pauses    pauses_table's of the first one; or NULL, and no_pauses says why. values
 * values_table's of the first one, live_objects live_objects_table's, and fields fields_table's; NULL: the trace has
 * none. findings  of the whole first one, n_findings of them, those that cost most first. line      the time line of
 * the first one, of at most HTML_STEPS_MAX steps or as many as the user asked for; or NULL, and no_line says why.
 * allocations n_allocations of them, of the first one; waits, likewise, with the classes that are not the program's
 * own.
 */
struct html_page {
    const struct report_trace *traces;
    size_t n_traces;
    const struct report_source *whole, *other;
    const struct table *phases, *cost, *stats, *where, *hot, *pauses, *values, *live_objects, *fields;
    const struct timeline_read *line;
    const char *no_line, *no_where, *no_pauses;
    const struct trace_allocation *allocations;
    size_t n_allocations;
    const struct trace_wait *waits;
    size_t n_waits;
    const struct folding_list *libraries;
    const struct html_finding *findings;
    size_t n_findings;
};

/*
 * Write the page.  Its size is bounded whatever the trace's: what is left out of it, it says.
 *
 * Returns 0, or -1 with *err set: no memory, or out cannot be written.
 */
int html_write(const struct html_page *page, FILE *out, struct err *err);

#endif
