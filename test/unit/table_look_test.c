/*
 * Text for a terminal: names cut to fit, colours; and names that are cut so that they can be read.
 */
#include "core/base/text.h"
#include "report/format/table.h"
#include "test/unit/tap.h"

#include <stdlib.h>

static struct arena arena;

static void test_names(void)
{
    static const struct {
        const char *claim, *name;
        size_t columns;
        const char *cut;
    } rows[] = {
        { "what fits stays", "Shop.find(int)", 14, "Shop.find(int)" },
        { "parameters go first", "Shop.find(int, java.lang.String)", 14, "Shop.find(\u2026)" },
        { "then the package", "org.apache.catalina.core.Valve.invoke", 20, "org.ap\u2026.Valve.invoke" },
        { "class and method stay", "com.example.deeply.nested.VeryLongClassName.method", 28,
          "com\u2026VeryLongClassName.method" },
        { "indentation stays", "    org.apache.catalina.core.Valve.invoke", 24, "    org.ap\u2026.Valve.invoke" },
        { "deep indentation leaves eight columns", "                    a.b.Class.method", 12, "    \u2026.method" },
        { "what is added to a name stays", "org.apache.Valve.invoke (+2 frames)", 26,
          "o\u2026Valve.invoke (+2 frames)" },
        { "a sentence is cut at its end, whatever dots it has", "measured; of it 9.00 ms more", 16,
          "measured; of it\u2026" },
        { "without dots it is cut at its end; a character is a column",
          "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4", 8,
          "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u2026" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char cut[256];
        text_shorten(rows[i].name, rows[i].columns, cut, sizeof cut);
        CHECK_TEXT(rows[i].claim, cut, rows[i].cut);
        CHECK("and it fits", text_columns(cut) <= rows[i].columns);
    }
}

static void make(struct table *table)
{
    table_begin(table, &arena);
    table_column(table, "Method", "method", TABLE_TEXT);
    table_column(table, "Time (%)", "share", TABLE_SHARE);
    table_column(table, "Calls", "calls", TABLE_COUNT);
    table_column(table, "Faults", "faults", TABLE_COUNT);
    table_column(table, "Switches", "switches", TABLE_COUNT);
    for (int i = 0; i < 2; i++) {
        struct table_cell *cells = table_row(table, "phase");
        cells[0] = table_words("org.apache.catalina.core.StandardWrapperValve.invoke");
        cells[1] = table_number(i == 0 ? 0.5 : 0.05);
        cells[2] = cells[3] = cells[4] = table_number(1234567);
    }
    table_note(table, "a note of several words that does not fit on one line of a narrow terminal");
}

static const char *print(const struct table *table, size_t columns, bool has_colours)
{
    char *text = NULL;
    size_t n = 0;
    struct err err;
    const struct table_look look = { columns, has_colours };
    FILE *out = open_memstream(&text, &n);
    table_print_look(table, &look, out, &err);
    fclose(out);
    const char *copy = arena_text(&arena, text, n);
    free(text);
    return copy;
}

static size_t widest(const char *text)
{
    size_t most = 0;
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n"), columns = text_columns(arena_text(&arena, line, n));
        most = columns > most ? columns : most;
        line += n + (line[n] == '\n');
    }
    return most;
}

static void test_tables(void)
{
    struct table *table = arena_alloc(&arena, sizeof *table);
    make(table);
    const char *plain = print(table, 0, false);
    CHECK("elsewhere names and notes are whole", strstr(plain, "StandardWrapperValve.invoke  ") != NULL &&
                                                     strstr(plain, "on one line of a narrow terminal\n") != NULL);
    CHECK_TEXT("on a wide terminal, too", print(table, 200, false), plain);
    const char *cut = print(table, 72, false);
    CHECK("on one of 72 columns names are cut",
          widest(cut) <= 72 && strstr(cut, "StandardWrapperValve.invoke") != NULL && strstr(cut, "catalina") == NULL);
    const char *narrow = print(table, 44, false);
    CHECK("on one of 44 columns the last columns are below",
          widest(narrow) <= 44 && strstr(narrow, "Switches") != NULL && strstr(narrow, "\n\nMethod") != NULL);
    CHECK("there is no colour", strchr(cut, '\033') == NULL);
    const char *coloured = print(table, 200, true);
    CHECK("a large share is red, a small one is not",
          strstr(coloured, "\033[31m   50.00\033[0m") != NULL && strstr(coloured, "  5.00\033") == NULL);
    table->rows[0].cells[1].is_vague = true;
    CHECK("one less certain than a third of itself is grey",
          strstr(print(table, 200, true), "\033[90m   50.00\033[0m") != NULL);
    CHECK("headings are bold", strncmp(coloured, "\033[1mMethod", 10) == 0);
}

/* Three names that say what a row is, a figure, a name that says more of it; and n columns of details. */
static const char *print_names(size_t n, size_t columns)
{
    struct table *table = arena_alloc(&arena, sizeof *table);
    table_begin(table, &arena);
    table_column(table, "Method", "method", TABLE_TEXT);
    table_column(table, "Allocates in", "allocator", TABLE_TEXT);
    table_column(table, "Class", "class", TABLE_TEXT);
    table_column(table, "Bytes", "bytes", TABLE_BYTES);
    table_column(table, "In phase", "phase", TABLE_TEXT);
    for (size_t i = 0; i < n; i++)
        table->columns[table_column(table, "Of more columns", "more", TABLE_COUNT)].detail = 1;
    struct table_cell *cells = table_row(table, "method");
    cells[0] = cells[1] = cells[2] = cells[4] = table_words("com.example.catalog.CatalogExporter.export");
    cells[3] = table_number(2e9);
    for (size_t i = 0; i < n; i++)
        cells[5 + i] = table_number(1);
    table->details_wide = TABLE_DETAILS_MAX;
    return print(table, columns, false);
}

static void test_many_names(void)
{
    const char *text = print_names(0, 70);
    CHECK("figures stay beside the names, and what more is named goes below",
          widest(text) <= 70 && strstr(text, "  Bytes\n") != NULL && strstr(text, "\n\nMethod") != NULL &&
              strstr(text, "In phase\n") != NULL);
    text = print_names(6, 80);
    CHECK("the list of columns that are left out has lines that fit, too",
          widest(text) <= 80 && strstr(text, "\nmore columns: Of more columns, ") != NULL);
}

int main(void)
{
    test_names();
    test_tables();
    test_many_names();
    arena_free(&arena);
    return tap_done();
}
