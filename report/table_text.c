/*
 * Text: the first column to the left, numbers to the right, a rule under the headings and before the last rows.
 */
#include "report/table.h"

#include <math.h>
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

/* Control characters of foreign names do not get to the terminal. */
static void print_clean(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
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

void table_format_ns(double ns, char *text, size_t n)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    size_t unit = 0;
    double value = ns;
    while (unit < 3 && fabs(value) >= 999.5) {
        value /= 1000;
        unit++;
    }
    double size = fabs(value);
    int n_decimals = size == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(text, n, "%.*f %s", n_decimals, value, units[unit]);
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
    else if (unit == TABLE_RATE)
        format_small(cell->number, text, n);
    else
        snprintf(text, n, "%.3f", cell->number);
}

/* A text cell is printed as it is, however long; all others are formatted into scratch. */
static const char *cell_text(const struct table *table, const struct table_cell *cell, size_t column, char *scratch)
{
    if (cell->value == TABLE_WORDS || (cell->value == TABLE_NUMBER && cell->words != NULL))
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
    print_clean(out, text);
    if (to_the_left && !is_last)
        print_padding(out, ' ', padding);
}

/* One line; row is NULL for the headings. */
static void print_line(const struct table *table, const size_t *widths, const struct table_row *row, FILE *out)
{
    size_t last = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        if (!table->columns[c].not_in_text)
            last = c;
    for (size_t c = 0; c <= last && c < table->n_columns; c++) {
        char scratch[CELL_BYTES];
        if (table->columns[c].not_in_text)
            continue;
        const char *text = row == NULL ? table->columns[c].heading : cell_text(table, &row->cells[c], c, scratch);
        print_cell(out, text, widths[c], table->columns[c].unit == TABLE_TEXT, c == last);
        fputs(c == last ? "\n" : "  ", out);
    }
}

static void print_rule(const struct table *table, const size_t *widths, FILE *out)
{
    size_t n = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        if (!table->columns[c].not_in_text)
            n += widths[c] + 2;
    print_padding(out, '-', n < 2 ? 0 : n - 2);
    fputc('\n', out);
}

int table_print_text(const struct table *table, FILE *out, struct err *err)
{
    size_t widths[TABLE_COLUMNS_MAX], n_lines = 0;
    if (table->is_broken)
        return err_set(err, "out of memory for a table of %zu rows", table->n_rows);
    for (size_t i = 0; i < table->n_facts; i++) {
        if (table->facts[i].words == NULL)
            continue;
        print_clean(out, table->facts[i].words);
        fputc('\n', out);
        n_lines++;
    }
    if (n_lines > 0)
        fputc('\n', out);
    measure(table, widths);
    print_line(table, widths, NULL, out);
    print_rule(table, widths, out);
    for (size_t r = 0; r < table->n_rows; r++) {
        if (table->rows[r].after_rule)
            print_rule(table, widths, out);
        print_line(table, widths, &table->rows[r], out);
    }
    for (size_t i = 0; i < table->n_notes; i++) {
        fputs(i == 0 ? "\nnote: " : "note: ", out);
        print_clean(out, table->notes[i]);
        fputc('\n', out);
    }
    return ferror(out) ? err_set(err, "cannot write the table") : 0;
}
