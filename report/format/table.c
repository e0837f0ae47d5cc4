#include "report/format/table.h"

#include <math.h>
#include <string.h>

#define FIRST_ROWS 32

void table_begin(struct table *table, struct arena *arena)
{
    memset(table, 0, sizeof *table);
    table->arena = arena;
}

size_t table_column(struct table *table, const char *heading, const char *key, enum table_unit unit)
{
    if (table->n_columns == TABLE_COLUMNS_MAX || table->n_rows > 0) {
        table->is_broken = true;
        return 0;
    }
    table->columns[table->n_columns] = (struct table_column){ .heading = heading, .key = key, .unit = unit };
    return table->n_columns++;
}

size_t table_data_column(struct table *table, const char *key, enum table_unit unit)
{
    size_t column = table_column(table, key, key, unit);
    table->columns[column].not_in_text = true;
    return column;
}

struct table_cell *table_row(struct table *table, const char *kind)
{
    if (table->n_rows == table->rows_room) {
        size_t room = table->rows_room == 0 ? FIRST_ROWS : table->rows_room * 2;
        struct table_row *rows = arena_alloc(table->arena, room * sizeof *rows);
        table->is_broken = table->is_broken || rows == NULL;
        if (rows == NULL)
            return NULL;
        if (table->n_rows > 0)
            memcpy(rows, table->rows, table->n_rows * sizeof *rows);
        table->rows = rows;
        table->rows_room = room;
    }
    struct table_cell *cells = arena_alloc(table->arena, (table->n_columns + 1) * sizeof *cells);
    table->is_broken = table->is_broken || cells == NULL;
    if (cells != NULL)
        table->rows[table->n_rows++] = (struct table_row){ .kind = kind, .cells = cells };
    return cells;
}

static void add_metadata_number(struct table *table, const char *key, struct table_cell cell, const char *words)
{
    if (table->n_metadata == TABLE_METADATA_MAX)
        table->is_broken = true;
    else
        table->metadata[table->n_metadata++] = (struct table_metadata){ key, words, cell };
}

void table_metadata_number(struct table *table, const char *key, double number, const char *words)
{
    add_metadata_number(table, key, table_number(number), words);
}

void table_metadata_words(struct table *table, const char *key, const char *value, const char *words)
{
    add_metadata_number(table, key, value == NULL ? table_unmeasured() : table_words(value), words);
}

static void add_note(struct table *table, const char *note, bool is_doubt)
{
    if (note == NULL || table->n_notes == TABLE_NOTES_MAX) {
        table->is_broken = true;
        return;
    }
    for (size_t i = 0; i < table->n_notes; i++)
        if (strcmp(table->notes[i], note) == 0)
            return;
    table->is_doubt[table->n_notes] = is_doubt;
    table->notes[table->n_notes++] = note;
}

void table_note(struct table *table, const char *note)
{
    add_note(table, note, false);
}

void table_doubt(struct table *table, const char *note)
{
    add_note(table, note, true);
}

struct table_cell table_unmeasured(void)
{
    return (struct table_cell){ .value = TABLE_UNMEASURED };
}

struct table_cell table_number(double number)
{
    return (struct table_cell){ .value = isfinite(number) ? TABLE_NUMBER : TABLE_UNMEASURED, .number = number };
}

struct table_cell table_quotient(double numerator, double denominator)
{
    return denominator == 0 ? table_unmeasured() : table_number(numerator / denominator);
}

struct table_cell table_words(const char *words)
{
    return (struct table_cell){ .value = TABLE_WORDS, .words = words == NULL ? "" : words };
}

struct table_cell table_number_in(struct table *table, double number, enum table_unit unit)
{
    struct table_cell cell = table_number(number);
    char text[64];
    table_format(&cell, unit, text, sizeof text);
    cell.words = cell.value == TABLE_NUMBER ? arena_text(table->arena, text, strlen(text)) : NULL;
    table->is_broken = table->is_broken || (cell.value == TABLE_NUMBER && cell.words == NULL);
    return cell;
}
