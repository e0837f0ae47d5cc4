#include "report/format/table.h"

#include "core/base/text.h"

#include <cjson/cJSON.h>

static bool add_cell(cJSON *to, const char *key, const struct table_cell *cell)
{
    if (cell->value == TABLE_WORDS)
        return cJSON_AddStringToObject(to, key, cell->words) != NULL;
    if (cell->value == TABLE_NUMBER)
        return cJSON_AddNumberToObject(to, key, cell->number) != NULL;
    return cJSON_AddNullToObject(to, key) != NULL;
}

static bool add_row(cJSON *rows, const struct table *table, const struct table_row *row)
{
    cJSON *json = cJSON_CreateObject();
    bool ok =
        json != NULL && cJSON_AddItemToArray(rows, json) && cJSON_AddStringToObject(json, "kind", row->kind) != NULL;
    for (size_t c = 0; ok && c < table->n_columns; c++)
        ok = add_cell(json, table->columns[c].key, &row->cells[c]);
    return ok;
}

static const char *unit_name(enum table_unit unit)
{
    static const char *const names[] = {
        [TABLE_TEXT] = "text",   [TABLE_COUNT] = "count", [TABLE_SHARE] = "share", [TABLE_NS] = "ns",
        [TABLE_RATIO] = "ratio", [TABLE_RATE] = "rate",   [TABLE_BYTES] = "bytes"
    };
    return names[unit];
}

/* The schema's name and version, and what the columns are. */
static bool add_schema(cJSON *json, const struct table *table)
{
    bool ok = cJSON_AddStringToObject(json, "schema", table->schema) != NULL &&
              cJSON_AddNumberToObject(json, "schema_version", table->schema_version) != NULL;
    cJSON *columns = cJSON_AddArrayToObject(json, "columns");
    for (size_t c = 0; ok && columns != NULL && c < table->n_columns; c++) {
        cJSON *column = cJSON_CreateObject();
        ok = column != NULL && cJSON_AddItemToArray(columns, column) &&
             cJSON_AddStringToObject(column, "key", table->columns[c].key) != NULL &&
             cJSON_AddStringToObject(column, "unit", unit_name(table->columns[c].unit)) != NULL &&
             cJSON_AddStringToObject(column, "heading", table->columns[c].heading) != NULL;
    }
    return ok && columns != NULL;
}

static bool fill(cJSON *json, const struct table *table)
{
    if (table->schema != NULL && !add_schema(json, table))
        return false;
    cJSON *about = cJSON_AddObjectToObject(json, "about");
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    cJSON *notes = cJSON_AddArrayToObject(json, "notes");
    bool ok = about != NULL && rows != NULL && notes != NULL;
    for (size_t i = 0; ok && i < table->n_metadata; i++)
        ok = table->metadata[i].key == NULL || add_cell(about, table->metadata[i].key, &table->metadata[i].cell);
    for (size_t i = 0; ok && i < table->n_rows; i++)
        ok = add_row(rows, table, &table->rows[i]);
    for (size_t i = 0; ok && i < table->n_notes; i++)
        ok = cJSON_AddItemToArray(notes, cJSON_CreateString(table->notes[i]));
    return ok;
}

int table_print_json(const struct table *table, FILE *out, struct err *err)
{
    int rc = -1;
    char *text = NULL;
    cJSON *json = cJSON_CreateObject();
    if (!table->is_broken && json != NULL && fill(json, table))
        text = cJSON_Print(json);
    if (text == NULL)
        err_set(err, "out of memory for a table of %zu rows", table->n_rows);
    else
        text_print_json(out, text);
    if (text != NULL && fputc('\n', out) >= 0 && !ferror(out))
        rc = 0;
    else if (text != NULL)
        err_set(err, "cannot write the table");
    free(text);
    cJSON_Delete(json);
    return rc;
}
