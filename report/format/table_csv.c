#include "report/format/table.h"

#include "core/base/text.h"

/* A field is quoted where RFC 4180 asks for it; what would steer a terminal, line breaks too, is '?'. */
static void print_field(FILE *out, const char *text)
{
    const char *quote = text[strcspn(text, ",\"")] == '\0' ? "" : "\"", *end = text + strlen(text);
    fputs(quote, out);
    while (text < end) {
        uint32_t character = text_take_clean(&text, end);
        if (character == '"')
            fputc('"', out);
        text_put(out, character);
    }
    fputs(quote, out);
}

static void print_cell(FILE *out, const struct table_cell *cell, enum table_unit unit)
{
    if (cell->value == TABLE_WORDS)
        print_field(out, cell->words);
    else if (cell->value == TABLE_NUMBER && unit == TABLE_COUNT)
        fprintf(out, "%.0f", cell->number);
    else if (cell->value == TABLE_NUMBER)
        fprintf(out, "%.17g", cell->number);
}

int table_print_csv(const struct table *table, FILE *out, struct err *err)
{
    if (table->is_broken)
        return err_set(err, "the table has too many columns or notes");
    fputs(table->schema != NULL ? "schema_version,kind" : "kind", out);
    for (size_t c = 0; c < table->n_columns; c++) {
        fputc(',', out);
        print_field(out, table->columns[c].key);
    }
    fputs("\r\n", out);
    for (size_t r = 0; r < table->n_rows; r++) {
        if (table->schema != NULL)
            fprintf(out, "%d,", table->schema_version);
        print_field(out, table->rows[r].kind);
        for (size_t c = 0; c < table->n_columns; c++) {
            fputc(',', out);
            print_cell(out, &table->rows[r].cells[c], table->columns[c].unit);
        }
        fputs("\r\n", out);
    }
    return ferror(out) ? err_set(err, "cannot write the table") : 0;
}
