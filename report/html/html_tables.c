#include "report/html/html_tables.h"

static bool put_part(cJSON *parts, const struct html_part *part, struct arena *arena)
{
    static const char *const kinds[] = { "table", "live-bytes", "hints" };
    cJSON *json = cJSON_CreateObject();
    if (!html_put(parts, NULL, json))
        return false;
    cJSON *table = html_table(part->table, arena);
    return html_put(json, "table", table) && html_metadata(table, part->table, arena) &&
           html_put(json, "kind", cJSON_CreateString(kinds[part->kind])) &&
           html_put(json, "id", html_text(arena, part->id)) && html_put(json, "title", html_text(arena, part->title)) &&
           html_put(json, "lead", html_text(arena, part->lead)) && html_put(json, "why", html_text(arena, part->why));
}

static cJSON *make(const struct html_tables *tables)
{
    cJSON *json = cJSON_CreateObject(), *of = cJSON_CreateObject();
    bool ok = html_put(json, "tables", of);
    cJSON *parts = ok ? cJSON_AddArrayToObject(of, "parts") : NULL;
    ok = parts != NULL && html_put(json, "version", cJSON_CreateString(MMPROF_VERSION)) &&
         html_put(of, "title", html_text(tables->arena, tables->title)) &&
         html_put(of, "of", html_text(tables->arena, tables->of));
    for (size_t i = 0; ok && i < tables->n; i++)
        ok = put_part(parts, &tables->parts[i], tables->arena);
    if (ok)
        return json;
    cJSON_Delete(json);
    return NULL;
}

int html_tables_write(const struct html_tables *tables, FILE *out, struct err *err)
{
    cJSON *json = make(tables);
    int rc = json == NULL ? err_set(err, "out of memory for a page") : html_write_json(json, out, err);
    cJSON_Delete(json);
    return rc;
}
