/*
 * A table without a format: columns with units, rows of cells, metadata that stand above it, footnotes below.
 *
 * table_text.c, table_csv.c and table_json.c print it, table_choose.c chooses and sorts.  Everything lives in the
 * caller's arena.  Building never fails halfway: when memory runs out, the table is marked broken, and printing it
 * fails.
 */
#ifndef REPORT_FORMAT_TABLE_H
#define REPORT_FORMAT_TABLE_H

#include "core/base/arena.h"
#include "core/base/err.h"

enum table_unit {
    TABLE_TEXT,
    TABLE_COUNT, /* a whole number: 1,234 */
    TABLE_SHARE, /* 0..1, printed as per cent: 12.34, < 0.01 */
    TABLE_NS,    /* printed with a fitting unit: 12.3 us */
    TABLE_RATIO, /* 1.234 */
    TABLE_RATE,  /* 12.34, < 0.01 */
    TABLE_BYTES  /* printed with a fitting unit: 12.3 MB */
};

/* Where a column is printed. */
enum column_width {
    COLUMN_NARROW, /* in text, CSV and JSON */
    COLUMN_WIDE,   /* in text with --wide or --columns only */
    COLUMN_DATA    /* in text with --columns only */
};

enum column_type {
    COLUMN_NONE,
    COLUMN_CELL,   /* struct table_cell */
    COLUMN_DOUBLE, /* NAN is unmeasured, TABLE_NONE is not applicable */
    COLUMN_U64,
    COLUMN_U32,
    COLUMN_BOOL,
    COLUMN_TEXT /* NULL is unmeasured, TABLE_NO_WORDS is not applicable */
};

#define TABLE_NONE (-INFINITY)
extern const char TABLE_NO_WORDS[]; /* the same of texts */

/* What a row of a sum has in a column. */
enum column_sum {
    COLUMN_NO_SUM, /* nothing */
    COLUMN_ADDS,   /* its member, to which table_add_up adds those of other rows */
    COLUMN_OF_SUM  /* what its own member or the function says */
};

/* A member of the struct that a table's rows are made from. */
struct column_field {
    uint16_t offset;
    uint8_t type; /* enum column_type */
};

struct table_column {
    const char *key;     /* in CSV, JSON and --columns, with its unit: cpu_share, ns_per_call */
    const char *heading; /* in text; NULL: "" */
    enum table_unit unit;
    struct column_field field, error; /* its value, and half of its 95 % interval, which text prints behind it */
    struct table_cell (*value)(const void *row, struct arena *arena); /* or a function, which comes first */
    enum column_width width;
    unsigned when, text_when; /* any of these conditions must hold: to be there, to be in text; 0: always */
    enum column_sum sum;
    bool not_in_text;
    bool is_told;    /* a note says why it may have no value: text that leaves it out adds none */
    bool is_chosen;  /* by --columns: text has it even if it is empty */
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
    bool is_vague;     /* half of its interval is more than a third of it: grey on a terminal */
};

#define TABLE_VAGUE (1.0 / 3)

struct table_row {
    const char *kind; /* in CSV and JSON: "phase", "gc", "total" */
    bool after_rule;  /* a rule comes before it in text */
    bool is_below;    /* it belongs to the row above it, and stays there when rows are sorted */
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
#define TABLE_DETAILS_MAX  4

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
    bool has_order;        /* rows are a tree: they cannot be sorted */
    bool is_wide;          /* text has the columns of --wide */
    uint32_t details_wide; /* details 1 to this one that do not fit are not printed: a line names their columns */
    const char *schema;    /* what CSV and JSON promise to keep (mmprof.schema(5)), or NULL */
    int schema_version;
    bool is_broken; /* too many columns, metadata or notes */
};

/*
 * ---- declared tables ----
 *
 * A table is an array of columns; each takes its value from a member of the row's struct, or from a function:
 *
 *     struct lock { const char *name; double ns, error_ns; uint32_t n_threads; };
 *     static const struct table_column columns[] = {
 *         { "lock", "Lock", TABLE_TEXT, FROM(struct lock, name) },
 *         { "waited_ns", "Time", TABLE_NS, FROM(struct lock, ns), ERROR_FROM(struct lock, error_ns),
 *           .sum = COLUMN_ADDS },
 *         { "mean_ns", "Mean", TABLE_NS, .value = mean_of_lock, .sum = COLUMN_OF_SUM },
 *         { "threads", "Threads", TABLE_COUNT, FROM(struct lock, n_threads), .text_when = BY_THREAD },
 *         { "waited_ns_error", NULL, TABLE_NS, FROM(struct lock, error_ns), .width = COLUMN_DATA },
 *     };
 *     table_begin(table, arena);
 *     TABLE_COLUMNS(table, columns, conditions);
 *     table_add(table, "lock", &lock);               for each row
 *     table_add_up(table, &lock, &sum);              adds members of columns with COLUMN_ADDS to those of 'sum'
 *     table_add_sum(table, "total", "total", &sum);  its kind, its label in the first column
 *
 * Several arrays of columns may follow each other.  Columns whose keys or members are known only when the program runs
 * stand in an array of the function that adds them: FROM(struct lock, ns_of_part[i]).
 */

/* clang-format off */
#define COLUMN_TYPE(type, member) _Generic(((type *)sizeof(type))->member, \
    struct table_cell: COLUMN_CELL, double: COLUMN_DOUBLE, uint64_t: COLUMN_U64, uint32_t: COLUMN_U32, \
    bool: COLUMN_BOOL, const char *: COLUMN_TEXT)
#define FIELD_FROM(type, member) { (uint16_t)offsetof(type, member), COLUMN_TYPE(type, member) }
#define FROM(type, member)       .field = FIELD_FROM(type, member)
#define ERROR_FROM(type, member) .error = FIELD_FROM(type, member)
/* clang-format on */

/* conditions: those of 'when' and 'text_when' that hold. */
#define TABLE_COLUMNS(table, columns, conditions) \
    table_columns(table, columns, sizeof(columns) / sizeof *(columns), conditions)

void table_begin(struct table *table, struct arena *arena);
void table_columns(struct table *table, const struct table_column *columns, size_t n, unsigned conditions);

/* Add a row of these columns.  The result is its own until the next one is added: ->after_rule, ->is_below. */
struct table_row *table_add(struct table *table, const char *kind, const void *row);

/* Add a row's members to those of a sum, where columns say so; and add the sum's row, a "total" after a rule. */
void table_add_up(const struct table *table, const void *row, void *sum);
void table_add_sum(struct table *table, const char *kind, const char *label, const void *sum);

/*
 * Print only these columns, "key,key", in this order; text has all of them.  Returns 0, or -1 with *err set: the table
 * has no such column, which names the nearest ones and lists all.
 */
int table_choose(struct table *table, const char *keys, struct err *err);

/* A column's index; or n_columns with *err set, as table_choose does. */
size_t table_find_column(const struct table *table, const char *key, struct err *err);

/* Sort the rows between rules by a column: numbers with the largest first, words by the alphabet.  Sums stay last.
 * Returns 0, or -1 with *err set: no such column, or the rows are a tree. */
int table_sort(struct table *table, const char *key, struct err *err);

/* ---- building by hand ---- */

/* Texts are borrowed.  Returns the column's index. */
size_t table_column(struct table *table, const char *heading, const char *key, enum table_unit unit);

/* A row whose cells are all unmeasured. */
struct table_cell *table_row(struct table *table, const char *kind);

/* Metadata: a number or words (either may be NULL) under a key, and a line of text or NULL. */
void table_metadata_number(struct table *table, const char *key, double number, const char *words);
void table_metadata_words(struct table *table, const char *key, const char *value, const char *words);

/* A note below the table; each text stands there once.  A doubt says that figures are not what they seem. */
void table_note(struct table *table, const char *note);
void table_doubt(struct table *table, const char *note);

struct table_cell table_unmeasured(void);
struct table_cell table_number(double number);

/* A number and half of its interval (NAN: none), as a column with an error has it; TABLE_NONE: not applicable. */
struct table_cell table_estimate(double number, double error, enum table_unit unit, struct arena *arena);

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

/* The same text, for free(); NULL with *err set: it is broken. */
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
