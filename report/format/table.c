#include "report/format/table.h"

#define FIRST_ROWS 32

void table_begin(struct table *table, struct arena *arena)
{
    memset(table, 0, sizeof *table);
    table->arena = arena;
}

/* ---- declared tables ---- */

void table_columns(struct table *table, const struct table_column *columns, size_t n, unsigned conditions)
{
    for (size_t i = 0; i < n; i++) {
        const struct table_column *column = &columns[i];
        if (column->when != 0 && (column->when & conditions) == 0)
            continue;
        size_t at = table_column(table, column->heading == NULL ? "" : column->heading, column->key, column->unit);
        const char *heading = table->columns[at].heading;
        table->columns[at] = *column;
        table->columns[at].heading = heading;
        table->columns[at].not_in_text = column->not_in_text || column->width == COLUMN_DATA ||
                                         (column->text_when != 0 && (column->text_when & conditions) == 0);
    }
}

static double number_of(const struct column_field *field, const void *row)
{
    const void *at = (const char *)row + field->offset;
    switch ((enum column_type)field->type) {
    case COLUMN_DOUBLE:
        return *(const double *)at;
    case COLUMN_U64:
        return (double)*(const uint64_t *)at;
    case COLUMN_U32:
        return *(const uint32_t *)at;
    case COLUMN_BOOL:
        return *(const bool *)at;
    default:
        return NAN;
    }
}

/* "12.34 ±0.56": shares in per cent, times with their units, others with two decimals. */
static const char *with_error(double number, double error, enum table_unit unit, struct arena *arena)
{
    char text[64], half[64];
    if (unit == TABLE_NS) {
        table_format_ns(number, text, sizeof text);
        table_format_ns(error, half, sizeof half);
        return arena_printf(arena, "%s ±%s", text, half);
    }
    double scale = unit == TABLE_SHARE ? 100 : 1;
    if (number > 0 && scale * number < 0.005)
        return arena_printf(arena, "< 0.01 ±%.2f", scale * error);
    return arena_printf(arena, "%.2f ±%.2f", scale * number, scale * error);
}

struct table_cell table_estimate(double number, double error, enum table_unit unit, struct arena *arena)
{
    struct table_cell cell = table_number(number);
    if (number == TABLE_NONE)
        cell.value = TABLE_NOT_APPLICABLE;
    if (cell.value == TABLE_NUMBER && !isnan(error))
        cell.words = with_error(number, error, unit, arena);
    cell.is_vague = cell.value == TABLE_NUMBER && error > TABLE_VAGUE * fabs(number);
    return cell;
}

const char TABLE_NO_WORDS[] = "n/a";

static struct table_cell cell_of_words(const char *words)
{
    if (words == TABLE_NO_WORDS)
        return (struct table_cell){ .value = TABLE_NOT_APPLICABLE };
    return words == NULL ? table_unmeasured() : table_words(words);
}

static struct table_cell cell_of(const struct table_column *column, const void *row, struct arena *arena)
{
    const void *at = (const char *)row + column->field.offset;
    if (column->value != NULL)
        return column->value(row, arena);
    if (column->field.type == COLUMN_CELL)
        return *(const struct table_cell *)at;
    if (column->field.type == COLUMN_TEXT)
        return cell_of_words(*(const char *const *)at);
    return table_estimate(number_of(&column->field, row), number_of(&column->error, row), column->unit, arena);
}

struct table_row *table_add(struct table *table, const char *kind, const void *row)
{
    struct table_cell *cells = table_row(table, kind);
    for (size_t c = 0; c < table->n_columns; c++)
        cells[c] = cell_of(&table->columns[c], row, table->arena);
    return &table->rows[table->n_rows - 1];
}

void table_add_up(const struct table *table, const void *row, void *sum)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct column_field *field = &table->columns[c].field;
        void *at = (char *)sum + field->offset;
        if (table->columns[c].sum != COLUMN_ADDS)
            continue;
        if (field->type == COLUMN_DOUBLE)
            *(double *)at += number_of(field, row);
        else if (field->type == COLUMN_U64)
            *(uint64_t *)at += *(const uint64_t *)((const char *)row + field->offset);
        else if (field->type == COLUMN_U32)
            *(uint32_t *)at += *(const uint32_t *)((const char *)row + field->offset);
    }
}

void table_add_sum(struct table *table, const char *kind, const char *label, const void *sum)
{
    struct table_cell *cells = table_row(table, kind);
    for (size_t c = 0; c < table->n_columns; c++) {
        struct table_column column = table->columns[c];
        column.error.type = COLUMN_NONE;
        if (column.sum != COLUMN_NO_SUM)
            cells[c] = cell_of(&column, sum, table->arena);
    }
    cells[0] = table_words(label);
    table->rows[table->n_rows - 1].after_rule = strcmp(kind, "total") == 0;
}

/* ---- by hand ---- */

size_t table_column(struct table *table, const char *heading, const char *key, enum table_unit unit)
{
    if (table->n_columns == TABLE_COLUMNS_MAX || table->n_rows > 0) {
        table->is_broken = true;
        return 0;
    }
    table->columns[table->n_columns] = (struct table_column){ .heading = heading, .key = key, .unit = unit };
    return table->n_columns++;
}

struct table_cell *table_row(struct table *table, const char *kind)
{
    if (table->n_rows == table->rows_room) {
        size_t room = table->rows_room == 0 ? FIRST_ROWS : table->rows_room * 2;
        struct table_row *rows = arena_alloc(table->arena, room * sizeof *rows);
        if (table->n_rows > 0)
            memcpy(rows, table->rows, table->n_rows * sizeof *rows);
        table->rows = rows;
        table->rows_room = room;
    }
    struct table_cell *cells = arena_alloc(table->arena, (table->n_columns + 1) * sizeof *cells);
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
    if (table->n_notes == TABLE_NOTES_MAX) {
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
    return cell;
}
