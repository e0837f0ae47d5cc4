#include "report/format/table.h"

#include "core/base/text.h"

#include <cjson/cJSON.h>

static void add_cell(cJSON *to, const char *key, const struct table_cell *cell)
{
    if (cell->value == TABLE_WORDS)
        cJSON_AddStringToObject(to, key, cell->words);
    else if (cell->value == TABLE_NUMBER)
        cJSON_AddNumberToObject(to, key, cell->number);
    else
        cJSON_AddNullToObject(to, key);
}

static cJSON *add_object(cJSON *to)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(to, json);
    return json;
}

/* The schema's name and version, and what the columns are. */
static void add_schema(cJSON *json, const struct table *table)
{
    static const char *const units[] = {
        [TABLE_TEXT] = "text",   [TABLE_COUNT] = "count", [TABLE_SHARE] = "share", [TABLE_NS] = "ns",
        [TABLE_RATIO] = "ratio", [TABLE_RATE] = "rate",   [TABLE_BYTES] = "bytes"
    };
    cJSON_AddStringToObject(json, "schema", table->schema);
    cJSON_AddNumberToObject(json, "schema_version", table->schema_version);
    cJSON *columns = cJSON_AddArrayToObject(json, "columns");
    for (size_t c = 0; c < table->n_columns; c++) {
        cJSON *column = add_object(columns);
        cJSON_AddStringToObject(column, "key", table->columns[c].key);
        cJSON_AddStringToObject(column, "unit", units[table->columns[c].unit]);
        cJSON_AddStringToObject(column, "heading", table->columns[c].heading);
    }
}

static void fill(cJSON *json, const struct table *table)
{
    if (table->schema != NULL)
        add_schema(json, table);
    cJSON *about = cJSON_AddObjectToObject(json, "about");
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    cJSON *notes = cJSON_AddArrayToObject(json, "notes");
    for (size_t i = 0; i < table->n_metadata; i++)
        if (table->metadata[i].key != NULL)
            add_cell(about, table->metadata[i].key, &table->metadata[i].cell);
    for (size_t i = 0; i < table->n_rows; i++) {
        cJSON *row = add_object(rows);
        cJSON_AddStringToObject(row, "kind", table->rows[i].kind);
        for (size_t c = 0; c < table->n_columns; c++)
            add_cell(row, table->columns[c].key, &table->rows[i].cells[c]);
    }
    for (size_t i = 0; i < table->n_notes; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(table->notes[i]));
}

int table_print_json(const struct table *table, FILE *out, struct err *err)
{
    if (table->is_broken)
        return err_set(err, "out of memory for a table of %zu rows", table->n_rows);
    cJSON *json = cJSON_CreateObject();
    fill(json, table);
    char *text = cJSON_Print(json);
    text_print_json(out, text);
    free(text);
    cJSON_Delete(json);
    return fputc('\n', out) >= 0 && !ferror(out) ? 0 : err_set(err, "cannot write the table");
}
