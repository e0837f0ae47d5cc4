/*
 * Text: the first column to the left, numbers to the right, a rule under the headings and before the last rows.  A
 * table that is too wide for a screen leaves its details to further tables.
 */
#include "report/format/table.h"

#include "core/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 64

/* Columns that a terminal needs for UTF-8 text: one for each character. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_padding(FILE *out, char filler, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fputc(filler, out);
}

static void format_count(double number, char *text, size_t n)
{
    char digits[CELL_BYTES / 2];
    snprintf(digits, sizeof digits, "%.0f", number);
    size_t n_digits = strlen(digits), used = 0;
    for (size_t i = 0; i < n_digits && used + 2 < n; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0 && digits[i - 1] != '-')
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

/* The thesis' tables print what is there but rounds to nothing as '< 0.01'. */
static void format_small(double number, char *text, size_t n)
{
    if (number > 0 && number < 0.005)
        snprintf(text, n, "< 0.01");
    else
        snprintf(text, n, "%.2f", number);
}

/* With the first unit that leaves three digits, or the last one; each is a thousand of the one before. */
static void format_in(double value, const char *const *units, size_t n_units, char *text, size_t n)
{
    size_t unit = 0;
    while (unit + 1 < n_units && fabs(value) >= 999.5) {
        value /= 1000;
        unit++;
    }
    double size = fabs(value);
    int n_decimals = size == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(text, n, "%.*f %s", n_decimals, value, units[unit]);
}

void table_format_ns(double ns, char *text, size_t n)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    format_in(ns, units, sizeof units / sizeof *units, text, n);
}

void table_format_bytes(double bytes, char *text, size_t n)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    format_in(bytes, units, sizeof units / sizeof *units, text, n);
}

void table_format(const struct table_cell *cell, enum table_unit unit, char *text, size_t n)
{
    if (cell->value == TABLE_UNMEASURED || cell->value == TABLE_NOT_APPLICABLE)
        snprintf(text, n, "%s", cell->value == TABLE_UNMEASURED ? "-" : "n/a");
    else if (cell->value == TABLE_WORDS)
        snprintf(text, n, "%s", cell->words);
    else if (unit == TABLE_COUNT)
        format_count(cell->number, text, n);
    else if (unit == TABLE_SHARE)
        format_small(cell->number * 100, text, n);
    else if (unit == TABLE_NS)
        table_format_ns(cell->number, text, n);
    else if (unit == TABLE_BYTES)
        table_format_bytes(cell->number, text, n);
    else if (unit == TABLE_RATE)
        format_small(cell->number, text, n);
    else
        snprintf(text, n, "%.3f", cell->number);
}

/* A text cell is printed as it is, however long; all others are formatted into scratch. */
static const char *cell_text(const struct table *table, const struct table_cell *cell, size_t column, char *scratch)
{
    if (cell->value == TABLE_WORDS || cell->words != NULL)
        return cell->words;
    table_format(cell, table->columns[column].unit, scratch, CELL_BYTES);
    return scratch;
}

static void measure(const struct table *table, size_t *widths)
{
    char scratch[CELL_BYTES];
    for (size_t c = 0; c < table->n_columns; c++) {
        widths[c] = width_of(table->columns[c].heading);
        for (size_t r = 0; r < table->n_rows; r++) {
            size_t width = width_of(cell_text(table, &table->rows[r].cells[c], c, scratch));
            if (width > widths[c])
                widths[c] = width;
        }
    }
}

/* is_last: no padding after a text column, so that no line ends in blanks. */
static void print_cell(FILE *out, const char *text, size_t width, bool to_the_left, bool is_last)
{
    size_t padding = width - width_of(text);
    if (!to_the_left)
        print_padding(out, ' ', padding);
    text_print(out, text);
    if (to_the_left && !is_last)
        print_padding(out, ' ', padding);
}

/* Which columns one table on the screen has. */
struct view {
    const struct table *table;
    size_t widths[TABLE_COLUMNS_MAX];
    bool shown[TABLE_COLUMNS_MAX];
};

static size_t view_width(const struct view *view)
{
    size_t n = 0;
    for (size_t c = 0; c < view->table->n_columns; c++)
        if (view->shown[c])
            n += view->widths[c] + 2;
    return n < 2 ? 0 : n - 2;
}

/* row is NULL for the headings. */
static const char *line_text(const struct table *table, const struct table_row *row, size_t column, char *scratch)
{
    return row == NULL ? table->columns[column].heading : cell_text(table, &row->cells[column], column, scratch);
}

/* One line, which ends in no blanks. */
static void print_line(const struct view *view, const struct table_row *row, FILE *out)
{
    const struct table *table = view->table;
    size_t last = 0;
    char scratch[CELL_BYTES];
    for (size_t c = 0; c < table->n_columns; c++)
        if (view->shown[c] && line_text(table, row, c, scratch)[0] != '\0')
            last = c;
    for (size_t c = 0; c <= last && c < table->n_columns; c++) {
        if (!view->shown[c])
            continue;
        const char *text = line_text(table, row, c, scratch);
        print_cell(out, text, view->widths[c], table->columns[c].unit == TABLE_TEXT, c == last);
        fputs(c == last ? "\n" : "  ", out);
    }
}

static void print_rule(const struct view *view, FILE *out)
{
    print_padding(out, '-', view_width(view));
    fputc('\n', out);
}

/* A row that has nothing in the columns of details is left out there. */
static bool has_details(const struct view *view, const struct table_row *row)
{
    bool has = false;
    for (size_t c = 0; c < view->table->n_columns; c++) {
        const struct table_cell *cell = &row->cells[c];
        bool is_there = cell->value == TABLE_NUMBER || (cell->value == TABLE_WORDS && cell->words[0] != '\0');
        has = has || (view->shown[c] && view->table->columns[c].detail > 0 && is_there);
    }
    return has;
}

static void print_view(const struct view *view, bool is_details, FILE *out)
{
    const struct table *table = view->table;
    bool has_rule = false;
    print_line(view, NULL, out);
    print_rule(view, out);
    for (size_t r = 0; r < table->n_rows; r++) {
        has_rule = has_rule || table->rows[r].after_rule;
        if (is_details && !has_details(view, &table->rows[r]))
            continue;
        if (has_rule)
            print_rule(view, out);
        has_rule = false;
        print_line(view, &table->rows[r], out);
    }
}

/* As many columns of these details at a time as fit beside the first column. */
static void print_details(struct view *view, uint32_t detail, FILE *out)
{
    const struct table *table = view->table;
    fprintf(out, "\n%s\n", table->details[detail - 1]);
    for (size_t c = 0; c < table->n_columns;) {
        size_t n_shown = 0;
        memset(view->shown, 0, sizeof view->shown);
        view->shown[0] = true;
        for (; c < table->n_columns; c++) {
            if (table->columns[c].detail != detail || table->columns[c].not_in_text)
                continue;
            view->shown[c] = true;
            if (n_shown++ > 0 && view_width(view) > TABLE_TEXT_COLUMNS) {
                view->shown[c] = false;
                break;
            }
        }
        if (n_shown == 0)
            break;
        fputc('\n', out);
        print_view(view, true, out);
    }
}

/* Are there columns of these details?  They are hidden. */
static bool hide_details(struct view *view, uint32_t detail)
{
    bool are_there = false;
    for (size_t c = 0; c < view->table->n_columns; c++) {
        are_there = are_there || (view->shown[c] && view->table->columns[c].detail == detail);
        view->shown[c] = view->shown[c] && view->table->columns[c].detail != detail;
    }
    return are_there;
}

/* Has no row anything there? */
static bool is_empty(const struct table *table, size_t column)
{
    for (size_t r = 0; r < table->n_rows; r++) {
        const struct table_cell *cell = &table->rows[r].cells[column];
        if (cell->value == TABLE_NUMBER || (cell->value == TABLE_WORDS && cell->words[0] != '\0'))
            return false;
    }
    return table->n_rows > 0 && column > 0;
}

/* A column that is to be left out: not from a table of nothing. */
static bool is_left_out(const struct table *table, size_t column)
{
    bool is_all = true;
    for (size_t c = 1; c < table->n_columns; c++)
        is_all = is_all && (table->columns[c].not_in_text || is_empty(table, c));
    return !is_all && is_empty(table, column);
}

static bool is_shown(const struct table *table, size_t column)
{
    return !table->columns[column].not_in_text && !is_left_out(table, column);
}

static void print_tables(const struct table *table, FILE *out)
{
    struct view view = { .table = table };
    bool is_apart[TABLE_DETAILS_MAX] = { false };
    measure(table, view.widths);
    for (size_t c = 0; c < table->n_columns; c++)
        view.shown[c] = is_shown(table, c);
    for (uint32_t d = 1; d <= TABLE_DETAILS_MAX && view_width(&view) > TABLE_TEXT_COLUMNS; d++)
        is_apart[d - 1] = hide_details(&view, d);
    print_view(&view, false, out);
    for (uint32_t d = 1; d <= TABLE_DETAILS_MAX; d++)
        if (is_apart[d - 1])
            print_details(&view, d, out);
}

/* ---- notes ---- */

/* The next note after the last one (n_notes: the first one), doubts first; n_notes: there is none. */
static size_t next_note(const struct table *table, size_t last)
{
    bool is_doubt = last == table->n_notes || table->is_doubt[last];
    size_t at = last == table->n_notes ? 0 : last + 1;
    for (; is_doubt && at < table->n_notes; at++)
        if (table->is_doubt[at])
            return at;
    for (at = is_doubt ? 0 : at; at < table->n_notes; at++)
        if (!table->is_doubt[at])
            return at;
    return table->n_notes;
}

/* Columns that are left out, and no note tells why: "CPI, L1-D".  out: or NULL.  Returns how many. */
static size_t print_left_out(const struct table *table, FILE *out)
{
    size_t n = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        if (column->not_in_text || column->is_told || !is_left_out(table, c))
            continue;
        if (out != NULL)
            fprintf(out, "%s%s", n == 0 ? "" : ", ", column->heading);
        n++;
    }
    return n;
}

static void print_notes(const struct table *table, FILE *out)
{
    size_t n = 0, most = table->notes_most == 0 ? SIZE_MAX : table->notes_most;
    size_t all = table->n_notes + (print_left_out(table, NULL) > 0);
    for (size_t i = next_note(table, table->n_notes); i < table->n_notes && n < most; i = next_note(table, i)) {
        fputs(n++ == 0 ? "\nnote: " : "note: ", out);
        text_print(out, table->notes[i]);
        fputc('\n', out);
    }
    if (n < all && n < most) {
        fprintf(out, "%snote: no row has a value, so these columns are left out: ", n++ == 0 ? "\n" : "");
        print_left_out(table, out);
        fputc('\n', out);
    }
    if (n < all)
        fprintf(out, "%zu more note%s: --notes\n", all - n, all - n == 1 ? "" : "s");
}

int table_print_text(const struct table *table, FILE *out, struct err *err)
{
    size_t n_lines = 0;
    if (table->is_broken)
        return err_set(err, "out of memory for a table of %zu rows", table->n_rows);
    for (size_t i = 0; i < table->n_metadata; i++) {
        if (table->metadata[i].words == NULL)
            continue;
        text_print(out, table->metadata[i].words);
        fputc('\n', out);
        n_lines++;
    }
    if (n_lines > 0)
        fputc('\n', out);
    print_tables(table, out);
    print_notes(table, out);
    return ferror(out) ? err_set(err, "cannot write the table") : 0;
}

char *table_text(const struct table *table, struct err *err)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    int rc = out == NULL ? err_set(err, "out of memory") : table_print_text(table, out, err);
    if (out != NULL && fclose(out) != 0 && rc == 0)
        rc = err_set(err, "out of memory");
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}
