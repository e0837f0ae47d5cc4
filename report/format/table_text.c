/*
 * Text: the first column to the left, numbers to the right, a rule under the headings and before the last rows.  A
 * table that is too wide for a screen leaves its details to further tables.
 */
#include "report/format/table.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"

#define CELL_BYTES      64
#define CUT_COLUMNS     512 /* a column whose cells are cut is at most so wide */
#define NAME_LEAST      16  /* to so many columns names are cut before other columns go to a further table */
#define LARGE_SHARE     0.1
#define NOTE_INDENT     6
#define METADATA_INDENT 9
#define BOLD            "\033[1m"
#define RED             "\033[31m"
#define GREY            "\033[90m"
#define PLAIN           "\033[0m"

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
        widths[c] = text_columns(table->columns[c].heading);
        for (size_t r = 0; r < table->n_rows; r++) {
            size_t width = text_columns(cell_text(table, &table->rows[r].cells[c], c, scratch));
            if (width > widths[c])
                widths[c] = width;
        }
    }
}

/* is_last: no padding after a text column, so that no line ends in blanks. */
static void print_cell(FILE *out, const char *text, size_t width, bool to_the_left, bool is_last)
{
    char cut[4 * CUT_COLUMNS + 1];
    if (text_columns(text) > width) {
        text_shorten(text, width, cut, sizeof cut);
        text = cut;
    }
    size_t padding = width - text_columns(text);
    if (!to_the_left)
        print_padding(out, ' ', padding);
    text_print(out, text);
    if (to_the_left && !is_last)
        print_padding(out, ' ', padding);
}

/* Which columns one table on the screen has. */
struct view {
    const struct table *table;
    const struct table_look *look;
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

static size_t limit_of(const struct view *view)
{
    return view->look->columns > 0 ? view->look->columns : TABLE_TEXT_COLUMNS;
}

/* How narrow it can be: names are cut on a terminal. */
static size_t least_width(const struct view *view)
{
    size_t n = view_width(view);
    for (size_t c = 0; view->look->columns > 0 && c < view->table->n_columns; c++)
        if (view->shown[c] && view->table->columns[c].unit == TABLE_TEXT && view->widths[c] > NAME_LEAST)
            n -= view->widths[c] - NAME_LEAST;
    return n;
}

/* Cut the widest names until all fits, on a terminal. */
static void cut_names(struct view *view)
{
    while (view->look->columns > 0 && view_width(view) > limit_of(view)) {
        size_t widest = TABLE_COLUMNS_MAX;
        for (size_t c = 0; c < view->table->n_columns; c++)
            if (view->shown[c] && view->table->columns[c].unit == TABLE_TEXT && view->widths[c] > NAME_LEAST &&
                (widest == TABLE_COLUMNS_MAX || view->widths[c] > view->widths[widest]))
                widest = c;
        if (widest == TABLE_COLUMNS_MAX)
            return;
        view->widths[widest] = view->widths[widest] > CUT_COLUMNS ? CUT_COLUMNS : view->widths[widest] - 1;
    }
}

/* row is NULL for the headings. */
static const char *line_text(const struct table *table, const struct table_row *row, size_t column, char *scratch)
{
    return row == NULL ? table->columns[column].heading : cell_text(table, &row->cells[column], column, scratch);
}

static const char *colour_of(const struct view *view, const struct table_row *row, size_t column)
{
    bool is_large = row != NULL && view->table->columns[column].unit == TABLE_SHARE &&
                    row->cells[column].value == TABLE_NUMBER && row->cells[column].number >= LARGE_SHARE;
    if (!view->look->has_colours)
        return "";
    if (row != NULL && row->cells[column].is_vague)
        return GREY;
    return row == NULL ? BOLD : is_large ? RED : "";
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
        const char *colour = colour_of(view, row, c);
        fputs(colour, out);
        print_cell(out, text, view->widths[c], table->columns[c].unit == TABLE_TEXT, c == last);
        fputs(colour[0] == '\0' ? "" : PLAIN, out);
        fputs(c == last ? "\n" : "  ", out);
    }
}

static void print_rule(const struct view *view, FILE *out)
{
    print_padding(out, '-', view_width(view));
    fputc('\n', out);
}

/* A row that has nothing but its name in a further table is left out there. */
static bool has_details(const struct view *view, const struct table_row *row)
{
    bool has = false;
    for (size_t c = 1; c < view->table->n_columns; c++) {
        const struct table_cell *cell = &row->cells[c];
        bool is_there = cell->value == TABLE_NUMBER || (cell->value == TABLE_WORDS && cell->words[0] != '\0');
        has = has || (view->shown[c] && is_there);
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

/* As many of these columns at a time as fit beside the first column. */
static void print_further(struct view *view, const bool *wanted, FILE *out)
{
    const struct table *table = view->table;
    for (size_t c = 0; c < table->n_columns;) {
        size_t n_shown = 0;
        memset(view->shown, 0, sizeof view->shown);
        view->shown[0] = true;
        for (; c < table->n_columns; c++) {
            if (!wanted[c])
                continue;
            view->shown[c] = true;
            if (n_shown++ > 0 && least_width(view) > limit_of(view)) {
                view->shown[c] = false;
                break;
            }
        }
        if (n_shown == 0)
            break;
        fputc('\n', out);
        cut_names(view);
        print_view(view, true, out);
    }
}

/* Hide the columns of these details.  Returns whether there are any. */
static bool hide_details(struct view *view, uint32_t detail, bool *hidden)
{
    bool are_there = false;
    for (size_t c = 0; c < view->table->n_columns; c++) {
        hidden[c] = view->shown[c] && view->table->columns[c].detail == detail;
        are_there = are_there || hidden[c];
        view->shown[c] = view->shown[c] && !hidden[c];
    }
    return are_there;
}

/*
 * On a terminal: hide the last columns until the others fit, but for the first two, and for the names that say what a
 * row is: those before the first number, or all where a number is first.  Returns whether that took any.
 */
static bool hide_last(struct view *view, bool *hidden)
{
    bool are_there = false;
    size_t n_names = 2;
    bool has_names = view->table->n_columns > 0 && view->table->columns[0].unit == TABLE_TEXT;
    while (n_names < view->table->n_columns && view->table->columns[n_names].unit == TABLE_TEXT)
        n_names++;
    memset(hidden, 0, TABLE_COLUMNS_MAX * sizeof *hidden);
    for (size_t c = view->table->n_columns;
         view->look->columns > 0 && c-- > n_names && least_width(view) > limit_of(view);) {
        hidden[c] = view->shown[c] && (has_names || view->table->columns[c].unit != TABLE_TEXT);
        are_there = are_there || hidden[c];
        view->shown[c] = view->shown[c] && !hidden[c];
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

static bool is_not_in_text(const struct table *table, size_t column)
{
    const struct table_column *of = &table->columns[column];
    return !of->is_chosen && (of->not_in_text || (of->width == COLUMN_WIDE && !table->is_wide));
}

/* A column that is to be left out: not from a table of nothing. */
static bool is_left_out(const struct table *table, size_t column)
{
    bool is_all = true;
    for (size_t c = 1; c < table->n_columns; c++)
        is_all = is_all && (is_not_in_text(table, c) || is_empty(table, c));
    return !is_all && !table->columns[column].is_chosen && is_empty(table, column);
}

static bool is_shown(const struct table *table, size_t column)
{
    return !is_not_in_text(table, column) && !is_left_out(table, column);
}

/* "more columns: Recorded, Faults/s (--wide)". */
static void name_columns(const struct view *view, bool apart[][TABLE_COLUMNS_MAX], const bool *is_apart, FILE *out)
{
    const struct table *table = view->table;
    const char *names = NULL;
    for (uint32_t d = 0; d < table->details_wide; d++)
        for (size_t c = 0; is_apart[d] && c < table->n_columns; c++)
            if (apart[d][c])
                names = names == NULL ? table->columns[c].heading
                                      : arena_printf(table->arena, "%s, %s", names, table->columns[c].heading);
    if (names == NULL)
        return;
    fputc('\n', out);
    table_print_words("more columns: ", arena_printf(table->arena, "%s (--wide)", names), NOTE_INDENT, view->look, out);
}

static void print_tables(const struct table *table, const struct table_look *look, FILE *out)
{
    struct view view = { .table = table, .look = look };
    bool apart[TABLE_DETAILS_MAX][TABLE_COLUMNS_MAX], last[TABLE_COLUMNS_MAX], is_apart[TABLE_DETAILS_MAX] = { false };
    measure(table, view.widths);
    for (size_t c = 0; c < table->n_columns; c++)
        view.shown[c] = is_shown(table, c);
    for (uint32_t d = 0; d < TABLE_DETAILS_MAX && least_width(&view) > limit_of(&view); d++)
        is_apart[d] = hide_details(&view, d + 1, apart[d]);
    bool has_last = hide_last(&view, last);
    cut_names(&view);
    print_view(&view, false, out);
    if (has_last)
        print_further(&view, last, out);
    for (uint32_t d = table->details_wide; d < TABLE_DETAILS_MAX; d++) {
        if (!is_apart[d])
            continue;
        fprintf(out, "\n%s\n", table->details[d]);
        print_further(&view, apart[d], out);
    }
    name_columns(&view, apart, is_apart, out);
}

/* ---- lines of words ---- */

/* A part of text that fits on a line with used columns: blanks and a word.  Its bytes. */
static size_t word_bytes(const char *text, char *word, size_t room)
{
    size_t n_blanks = strspn(text, " "), n = n_blanks + strcspn(text + n_blanks, " ");
    n = n < room ? n : room - 1;
    while (n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    snprintf(word, room, "%.*s", (int)n, text);
    return n;
}

void table_print_words(const char *prefix, const char *text, size_t indent, const struct table_look *look, FILE *out)
{
    char word[1024];
    size_t used = strlen(prefix);
    fputs(prefix, out);
    for (size_t n; look->columns > 0 && *text != '\0'; text += n) {
        n = word_bytes(text, word, sizeof word);
        bool is_new = used > indent && used + text_columns(word) > look->columns;
        const char *shown = is_new ? word + strspn(word, " ") : word;
        used = is_new ? indent : used;
        if (is_new)
            fprintf(out, "\n%*s", (int)indent, "");
        text_print(out, shown);
        used += text_columns(shown);
    }
    if (look->columns == 0)
        text_print(out, text);
    fputc('\n', out);
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
        if (is_not_in_text(table, c) || column->is_told || !is_left_out(table, c))
            continue;
        if (out != NULL)
            fprintf(out, "%s%s", n == 0 ? "" : ", ", column->heading);
        n++;
    }
    return n;
}

static void print_notes(const struct table *table, const struct table_look *look, FILE *out)
{
    size_t n = 0, most = table->notes_most == 0 ? SIZE_MAX : table->notes_most;
    size_t all = table->n_notes + (print_left_out(table, NULL) > 0);
    for (size_t i = next_note(table, table->n_notes); i < table->n_notes && n < most; i = next_note(table, i)) {
        fputs(n++ == 0 ? "\n" : "", out);
        table_print_words("note: ", table->notes[i], NOTE_INDENT, look, out);
    }
    if (n < all && n < most) {
        fprintf(out, "%snote: no row has a value, so these columns are left out: ", n++ == 0 ? "\n" : "");
        print_left_out(table, out);
        fputc('\n', out);
    }
    if (n < all)
        fprintf(out, "%zu more note%s: --notes\n", all - n, text_plural(all - n));
}

int table_print_look(const struct table *table, const struct table_look *look, FILE *out, struct err *err)
{
    size_t n_lines = 0;
    if (table->is_broken)
        return err_set(err, "the table has too many columns or notes");
    for (size_t i = 0; i < table->n_metadata; i++) {
        if (table->metadata[i].words == NULL)
            continue;
        table_print_words("", table->metadata[i].words, METADATA_INDENT, look, out);
        n_lines++;
    }
    if (n_lines > 0)
        fputc('\n', out);
    print_tables(table, look, out);
    print_notes(table, look, out);
    return ferror(out) ? err_set(err, "cannot write the table") : 0;
}

int table_print_text(const struct table *table, FILE *out, struct err *err)
{
    const struct table_look plain = { 0, false };
    return table_print_look(table, &plain, out, err);
}

char *table_text(const struct table *table, struct err *err)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = xopen_memstream(&text, &n_bytes);
    int rc = table_print_text(table, out, err);
    xclose_memstream(out);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}
