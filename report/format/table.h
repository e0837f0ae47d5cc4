/*
 * A table without a format: columns with units, rows of cells, metadata that stand above it, footnotes below.
 *
 * table_text.c, table_csv.c and table_json.c print it.  Everything lives in the caller's arena.  Building never fails
 * halfway: when memory runs out, the table is marked broken, and printing it fails.
 */
#ifndef REPORT_FORMAT_TABLE_H
#define REPORT_FORMAT_TABLE_H

#include "core/base/arena.h"
#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_unit {
    TABLE_TEXT,
    TABLE_COUNT, /* a whole number: 1,234 */
    TABLE_SHARE, /* 0..1, printed as per cent: 12.34, < 0.01 */
    TABLE_NS,    /* printed with a fitting unit: 12.3 us */
    TABLE_RATIO, /* 1.234 */
    TABLE_RATE,  /* 12.34, < 0.01 */
    TABLE_BYTES  /* printed with a fitting unit: 12.3 MB */
};

struct table_column {
    const char *heading; /* in text */
    const char *key;     /* in CSV and JSON, with its unit: cpu_share, ns_per_call */
    enum table_unit unit;
    bool not_in_text;
    bool is_told;    /* a note says why it may have no value: text that leaves it out adds none */
    uint32_t detail; /* in text that gets too wide, it goes to a further table: number 1 first; 0: never */
};

enum table_value {
    TABLE_UNMEASURED,     /* '-', and 0/0 */
    TABLE_NOT_APPLICABLE, /* 'n/a' */
    TABLE_NUMBER,
    TABLE_WORDS
};

struct table_cell {
    enum table_value value;
    double number;
    const char *words; /* of a number, or none: what text prints instead, or NULL */
};

struct table_row {
    const char *kind; /* in CSV and JSON: "phase", "gc", "total" */
    bool after_rule;  /* a rule comes before it in text */
    struct table_cell *cells;
};

struct table_metadata {
    const char *key;   /* in JSON */
    const char *words; /* the line above the table in text; NULL: not in text */
    struct table_cell cell;
};

#define TABLE_COLUMNS_MAX  480
#define TABLE_METADATA_MAX 48
#define TABLE_NOTES_MAX    64
#define TABLE_DETAILS_MAX  3

struct table {
    struct arena *arena; /* borrowed */
    struct table_column columns[TABLE_COLUMNS_MAX];
    size_t n_columns;
    const char *details[TABLE_DETAILS_MAX]; /* the headings of numbers 1, 2, ...; borrowed */
    struct table_row *rows;
    size_t n_rows, rows_room;
    struct table_metadata metadata[TABLE_METADATA_MAX];
    size_t n_metadata;
    const char *notes[TABLE_NOTES_MAX];
    bool is_doubt[TABLE_NOTES_MAX]; /* by note: it makes figures doubtful, and stands before those that explain */
    size_t n_notes;
    size_t notes_most;     /* in text; 0: all */
    uint32_t details_wide; /* details 1 to this one that do not fit are not printed: a line names their columns */
    const char *schema;    /* what CSV and JSON promise to keep (mmprof.schema(5)), or NULL */
    int schema_version;
    bool is_broken; /* no memory, or too many columns, metadata or notes */
};

/* ---- building ---- */

void table_begin(struct table *table, struct arena *arena);

/* Texts are borrowed.  Returns the column's index. */
size_t table_column(struct table *table, const char *heading, const char *key, enum table_unit unit);

/* One that is not in text. */
size_t table_data_column(struct table *table, const char *key, enum table_unit unit);

/* A row whose cells are all unmeasured; NULL when the table is broken. */
struct table_cell *table_row(struct table *table, const char *kind);

/* Metadata: a number or words (either may be NULL) under a key, and a line of text or NULL. */
void table_metadata_number(struct table *table, const char *key, double number, const char *words);
void table_metadata_words(struct table *table, const char *key, const char *value, const char *words);

/* A note below the table; each text stands there once.  A doubt says that figures are not what they seem. */
void table_note(struct table *table, const char *note);
void table_doubt(struct table *table, const char *note);

struct table_cell table_unmeasured(void);
struct table_cell table_number(double number);

/* numerator / denominator; unmeasured for 0/0 and anything over 0. */
struct table_cell table_quotient(double numerator, double denominator);
struct table_cell table_words(const char *words);

/* A number whose unit is not its column's, but the row's: text prints it with that. */
struct table_cell table_number_in(struct table *table, double number, enum table_unit unit);

#define TABLE_TEXT_COLUMNS 120 /* what is wider goes into several tables, if it has details */

/* Where text is printed. */
struct table_look {
    size_t columns;   /* of a terminal: no line is wider, names are cut for that; 0: none, names are whole */
    bool has_colours; /* headings and large shares stand out */
};

/* ---- printing: 0, or -1 with *err set ---- */

int table_print_text(const struct table *table, FILE *out, struct err *err);
/* Words behind a prefix: on a terminal on lines that it has room for, those after the first indented by so many
 * columns. */
void table_print_words(const char *prefix, const char *text, size_t indent, const struct table_look *look, FILE *out);

int table_print_look(const struct table *table, const struct table_look *look, FILE *out, struct err *err);

/* The same text, for free(); NULL with *err set: it is broken, or no memory. */
char *table_text(const struct table *table, struct err *err);

/* RFC 4180: a header of the columns' keys, full precision, an empty field for what is not there, CRLF.  With a schema:
 * its version is the first column. */
int table_print_csv(const struct table *table, FILE *out, struct err *err);

/* {"about": {metadata}, "rows": [{"kind": ..., column keys}], "notes": [...]}; null for what is not there.  With a
 * schema: its name and version first, and the columns with their units. */
int table_print_json(const struct table *table, FILE *out, struct err *err);

/* A cell as the text table prints it; n bytes are enough at 64. */
void table_format(const struct table_cell *cell, enum table_unit unit, char *text, size_t n);

/* "12.3 us" with three digits. */
void table_format_ns(double ns, char *text, size_t n);

/* "12.3 MB" with three digits; a MB has 10^6 bytes. */
void table_format_bytes(double bytes, char *text, size_t n);

#endif
