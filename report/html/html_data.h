/*
 * The data of the page as JSON, one object for each of its parts.  Shared by the files that make the page.
 */
#ifndef REPORT_HTML_HTML_DATA_H
#define REPORT_HTML_HTML_DATA_H

#include "report/html/html.h"

#include <cjson/cJSON.h>

#define HTML_NODES_MAX  4000 /* so many calling contexts are drawn at most */
#define HTML_VALUES_MAX 16   /* of each */

/* The functions that follow return NULL when there is no memory; else an item for cJSON_Delete. */

/* All of it. */
cJSON *html_data(const struct html_page *page);

/*
 * Columns, rows and notes.  A cell is its text, or with a number behind it to sort by: ["12.3 us", 12345.6]; "-" where
 * nothing was measured.
 */
cJSON *html_table(const struct table *table, struct arena *arena);

/* What stands above a table: numbers and words under their keys, lines of text.  Returns whether it is there. */
bool html_metadata(cJSON *json, const struct table *table, struct arena *arena);

/*
 * The call tree, in arrays by context, callers first: names, calls, and of each value the context's own and that with
 * all it calls.  Contexts with little time are left out, so that HTML_NODES_MAX suffice.
 *
 * times_only  no counters
 * line        to have what html_steps() makes, as "steps"; or NULL
 */
cJSON *html_tree(const struct report_source *source, bool times_only, const struct timeline_read *line);

#define HTML_STEPS_ENTRIES_MAX 50000 /* of the call tree; more are merged into longer steps */
#define HTML_US                1000  /* ns in the page's unit of times */

/* What an entry's tick, and one of the page's numbers, is: ns or bytes. */
struct html_steps_unit {
    double of_entry, of_page;
};

/*
 * Amounts of contexts by step: arrays of the same length, of a step, a context and an amount, sorted by step; "unit":
 * what an amount of 1 is; "grain": steps are merged so many to one, the first of which is named.
 *
 * entries  n of them, changed; drawn: by their node the index of a context, CALLTREE_NONE: it is left out
 * most     entries that there may be
 */
cJSON *html_steps_json(struct timeline_given *entries, size_t n, size_t most, const uint32_t *drawn, uint32_t n_steps,
                       struct html_steps_unit unit);

/*
 * The same of the time of the application's contexts, on the source's clock.
 *
 * drawn  by node of the source's tree: the index of the context that has its time; CALLTREE_NONE: it is left out
 */
cJSON *html_steps(const struct report_source *source, const struct timeline_read *line, const uint32_t *drawn);

/* What the widths of its flame graph can mean. */
cJSON *html_graphs(const struct html_page *page);

/*
 * CPUs in use, CPI and misses, regions, and the phases with most time, by step.  Of a source whose samples tell the
 * wall clock the application and its phases have threads that run or wait, and "running" is the part that has a CPU.
 */
cJSON *html_timeline(const struct report_source *source, const struct timeline_read *read);

/* Where threads were found, the hottest code, and what the JVM counted of its pauses; {"why": ...} for what there is
 * not. */
cJSON *html_ip_samples(const struct html_page *page);

/* The grid of thresholds, and what was chosen; {"why": ...} where there is none. */
cJSON *html_sweep(const struct report_trace *trace);

/* ---- for all of them ---- */

/* A number with six digits, a whole one with all; null for what is negative, and so not known. */
cJSON *html_number(double number);

/* Well-formed UTF-8 of any text; null for NULL. */
cJSON *html_text(struct arena *arena, const char *text);

/* Put an item into an object or, with no key, into an array; it is deleted where that fails or it is NULL.  Returns
 * whether it is there. */
bool html_put(cJSON *to, const char *key, cJSON *item);

/*
 * Print JSON so that it can stand in a <script>: nothing in it looks like a tag.
 *
 * Returns 0, or -1 with *err set: no memory, or out cannot be written.
 */
int html_print_json(const cJSON *json, FILE *out, struct err *err);

/* Write a page with such data.  Likewise. */
int html_write_json(const cJSON *json, FILE *out, struct err *err);

#endif
