/* The parts of a report's page, one function each, which puts its item into the page's data. */
#ifndef REPORT_HTML_HTML_PARTS_H
#define REPORT_HTML_HTML_PARTS_H

#include "report/html/html.h"
#include "report/html/html_json.h"

#define HTML_NODES_MAX  4000 /* so many calling contexts are drawn at most */
#define HTML_VALUES_MAX 16   /* of each */

/*
 * The call tree, in arrays by context, callers first: names, calls, and of each value the context's own and that with
 * all it calls.  Contexts with little time are left out, so that HTML_NODES_MAX suffice.
 *
 * times_only  no counters
 * line        to have what html_steps() makes, as "steps"; or NULL
 */
void html_tree(struct html_json *json, const struct report_source *source, bool times_only,
               const struct timeline_read *line);

#define HTML_STEPS_ENTRIES_MAX 50000 /* of the call tree; more are merged into longer steps */
#define HTML_US                1000  /* ns in the page's unit of times */

/* What an entry's tick, and one of the page's numbers, is: ns or bytes. */
struct html_steps_unit {
    double of_entry, of_page;
};

/*
 * "steps": amounts of contexts by step: arrays of the same length, of a step, a context and an amount, sorted by step;
 * "unit": what an amount of 1 is; "grain": steps are merged so many to one, the first of which is named.
 *
 * entries  n of them, changed; drawn: by their node the index of a context, CALLTREE_NONE: it is left out
 * most     entries that there may be
 */
void html_steps_put(struct html_json *json, struct timeline_given *entries, size_t n, size_t most,
                    const uint32_t *drawn, uint32_t n_steps, struct html_steps_unit unit);

/*
 * The same of the time of the application's contexts, on the source's clock.
 *
 * drawn  by node of the source's tree: the index of the context that has its time; CALLTREE_NONE: it is left out
 */
void html_steps(struct html_json *json, const struct report_source *source, const struct timeline_read *line,
                const uint32_t *drawn);

/* What the widths of its flame graph can mean; and the tables of a start and of virtual threads. */
void html_graphs(struct html_json *json, const struct html_page *page);

/*
 * CPUs in use, CPI and misses, regions, and the phases with most time, by step.  Of a source whose samples tell the
 * wall clock the application and its phases have threads that run or wait, and "running" is the part that has a CPU.
 */
void html_timeline(struct html_json *json, const struct report_source *source, const struct timeline_read *read);

/* The grid of thresholds, and what was chosen; {"why": ...} where there is none. */
void html_sweep(struct html_json *json, const struct report_trace *trace);

#endif
