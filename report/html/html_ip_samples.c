/*
 * The page's tables of where threads' time goes.
 */
#include "report/html/html_data.h"

/* Of a table that cannot be had: the reason only. */
static cJSON *table_or_why(const struct table *table, const char *why, struct arena *arena)
{
    if (table != NULL)
        return html_table(table, arena);
    cJSON *json = cJSON_CreateObject();
    if (html_put(json, "why", html_text(arena, why)))
        return json;
    cJSON_Delete(json);
    return NULL;
}

cJSON *html_ip_samples(const struct html_page *page)
{
    struct arena *arena = page->traces[0].source->arena;
    cJSON *json = cJSON_CreateObject(), *where = table_or_why(page->where, page->no_where, arena);
    bool ok = html_put(json, "where", where);
    ok = ok && (page->where == NULL || html_metadata(where, page->where, arena));
    ok = ok && (page->hot == NULL || html_put(json, "hot", html_table(page->hot, arena)));
    if (ok && html_put(json, "pauses", table_or_why(page->pauses, page->no_pauses, arena)))
        return json;
    cJSON_Delete(json);
    return NULL;
}
