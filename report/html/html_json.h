/*
 * A page and its data: JSON that is written as it is made, into the page's template.
 *
 * A key is that of an object's item; NULL in an array.
 */
#ifndef REPORT_HTML_HTML_JSON_H
#define REPORT_HTML_HTML_JSON_H

#include "report/format/table.h"

struct html_json {
    FILE *out;
    struct arena *arena;
    bool has_item; /* the next item needs a comma */
};

/* Write the template up to its data; and the rest.  html_end returns 0, or -1 with *err set: it cannot be written. */
struct html_json html_begin(FILE *out, struct arena *arena);
int html_end(struct html_json *json, struct err *err);

void html_object(struct html_json *json, const char *key);
void html_array(struct html_json *json, const char *key);
void html_close(struct html_json *json, char bracket); /* '}' or ']' */

void html_exact(struct html_json *json, const char *key, double number);
void html_bool(struct html_json *json, const char *key, bool is_true);

/* A number with six digits, a whole one with all; null for what is negative or no number, and so not known. */
void html_number(struct html_json *json, const char *key, double number);

/* Well-formed UTF-8 of any text, in which nothing looks like a tag; null for NULL. */
void html_text(struct html_json *json, const char *key, const char *text);

/*
 * Columns, rows and notes.  A cell is its text, or with a number behind it to sort by: ["12.3 us", 12345.6]; "-" where
 * nothing was measured.  html_table_about also has what stands above the table, as html_about puts it into an object:
 * lines of text, numbers and words under their keys.
 */
void html_table(struct html_json *json, const char *key, const struct table *table);
void html_table_lines(struct html_json *json, const char *key, const struct table *table);
void html_table_about(struct html_json *json, const char *key, const struct table *table);
void html_about(struct html_json *json, const struct table *table);

/* {"why": ...} for what there is not. */
void html_why(struct html_json *json, const char *key, const char *why);

#endif
