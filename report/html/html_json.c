#include "report/html/html_json.h"

#include "core/base/text.h"

/* report/html/, made into one text by the build; the data go to the mark. */
extern const unsigned char html_template[];

static const char mark[] = "@DATA@";

static const char *find_mark(void)
{
    return strstr((const char *)html_template, mark);
}

struct html_json html_begin(FILE *out, struct arena *arena)
{
    fwrite(html_template, 1, (size_t)(find_mark() - (const char *)html_template), out);
    return (struct html_json){ .out = out, .arena = arena };
}

int html_end(struct html_json *json, struct err *err)
{
    fputs(find_mark() + strlen(mark), json->out);
    return ferror(json->out) ? err_set(err, "cannot write the page") : 0;
}

/* ---- items ---- */

static void put_string(struct html_json *json, const char *text)
{
    static const char short_ones[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r' };
    putc('"', json->out);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        if (*at == '"' || *at == '\\')
            fprintf(json->out, "\\%c", *at);
        else if (*at < sizeof short_ones && short_ones[*at] != '\0')
            fprintf(json->out, "\\%c", short_ones[*at]);
        else if (*at < ' ' || strchr("<>&", *at) != NULL) /* these three make tags */
            fprintf(json->out, "\\u%04x", (unsigned)*at);
        else
            putc(*at, json->out);
    putc('"', json->out);
}

/* What stands before an item. */
static void put_key(struct html_json *json, const char *key)
{
    if (json->has_item)
        putc(',', json->out);
    if (key != NULL) {
        put_string(json, key);
        putc(':', json->out);
    }
    json->has_item = true;
}

static void open(struct html_json *json, const char *key, char bracket)
{
    put_key(json, key);
    putc(bracket, json->out);
    json->has_item = false;
}

void html_object(struct html_json *json, const char *key)
{
    open(json, key, '{');
}

void html_array(struct html_json *json, const char *key)
{
    open(json, key, '[');
}

void html_close(struct html_json *json, char bracket)
{
    putc(bracket, json->out);
    json->has_item = true;
}

void html_exact(struct html_json *json, const char *key, double number)
{
    char text[32];
    put_key(json, key);
    snprintf(text, sizeof text, "%1.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, sizeof text, "%1.17g", number);
    fputs(!isfinite(number) ? "null" : number == 0 ? "0" : text, json->out);
}

void html_bool(struct html_json *json, const char *key, bool is_true)
{
    put_key(json, key);
    fputs(is_true ? "true" : "false", json->out);
}

void html_number(struct html_json *json, const char *key, double number)
{
    char text[32];
    bool is_whole = number < 1e15 && number == floor(number);
    snprintf(text, sizeof text, "%.6g", number);
    html_exact(json, key, !(number >= 0) ? NAN : is_whole ? number : strtod(text, NULL));
}

void html_text(struct html_json *json, const char *key, const char *text)
{
    put_key(json, key);
    if (text == NULL)
        fputs("null", json->out);
    else
        put_string(json, text_clean(json->arena, text));
}

void html_why(struct html_json *json, const char *key, const char *why)
{
    html_object(json, key);
    html_text(json, "why", why);
    html_close(json, '}');
}

/* ---- tables ---- */

static void put_cell(struct html_json *json, const struct table_cell *cell, enum table_unit unit)
{
    char text[64];
    table_format(cell, unit, text, sizeof text);
    if (cell->value != TABLE_NUMBER) {
        html_text(json, NULL, cell->value == TABLE_WORDS ? cell->words : text);
        return;
    }
    html_array(json, NULL);
    html_text(json, NULL, cell->words == NULL ? text : cell->words);
    (cell->number < 0 ? html_exact : html_number)(json, NULL, cell->number);
    html_close(json, ']');
}

static void put_column(struct html_json *json, const struct table_column *column)
{
    static const char *const units[] = {
        [TABLE_TEXT] = "text",   [TABLE_COUNT] = "count", [TABLE_SHARE] = "share", [TABLE_NS] = "ns",
        [TABLE_RATIO] = "ratio", [TABLE_RATE] = "rate",   [TABLE_BYTES] = "bytes"
    };
    html_object(json, NULL);
    html_text(json, "heading", column->heading);
    html_text(json, "key", column->key);
    html_text(json, "unit", units[column->unit]);
    html_bool(json, "hidden", column->not_in_text);
    html_close(json, '}');
}

static void put_row(struct html_json *json, const struct table *table, const struct table_row *row)
{
    html_object(json, NULL);
    html_text(json, "kind", row->kind);
    html_array(json, "cells");
    for (size_t c = 0; c < table->n_columns; c++)
        put_cell(json, &row->cells[c], table->columns[c].unit);
    html_close(json, ']');
    html_close(json, '}');
}

static void put_table(struct html_json *json, const struct table *table)
{
    html_array(json, "columns");
    for (size_t c = 0; c < table->n_columns; c++)
        put_column(json, &table->columns[c]);
    html_close(json, ']');
    html_array(json, "rows");
    for (size_t r = 0; r < table->n_rows; r++)
        put_row(json, table, &table->rows[r]);
    html_close(json, ']');
    html_array(json, "notes");
    for (size_t i = 0; i < table->n_notes; i++)
        html_text(json, NULL, table->notes[i]);
    html_close(json, ']');
}

void html_table(struct html_json *json, const char *key, const struct table *table)
{
    html_object(json, key);
    put_table(json, table);
    html_close(json, '}');
}

static void put_lines(struct html_json *json, const struct table *table)
{
    html_array(json, "lines");
    for (size_t i = 0; i < table->n_metadata; i++)
        if (table->metadata[i].words != NULL)
            html_text(json, NULL, table->metadata[i].words);
    html_close(json, ']');
}

void html_table_lines(struct html_json *json, const char *key, const struct table *table)
{
    html_object(json, key);
    put_table(json, table);
    put_lines(json, table);
    html_close(json, '}');
}

void html_about(struct html_json *json, const struct table *table)
{
    put_lines(json, table);
    for (size_t i = 0; i < table->n_metadata; i++) {
        const struct table_metadata *row = &table->metadata[i];
        if (row->key != NULL && row->cell.value == TABLE_NUMBER)
            html_number(json, row->key, row->cell.number);
        else if (row->key != NULL)
            html_text(json, row->key, row->cell.words);
    }
}

void html_table_about(struct html_json *json, const char *key, const struct table *table)
{
    html_object(json, key);
    put_table(json, table);
    html_about(json, table);
    html_close(json, '}');
}
