#include "report/html/html_fleet.h"

static bool put_points(cJSON *json, const struct html_fleet *fleet)
{
    cJSON *points = cJSON_AddArrayToObject(json, "points");
    bool ok = points != NULL;
    for (size_t i = 0; ok && i < fleet->n_points; i++) {
        const struct html_fleet_point *point = &fleet->points[i];
        cJSON *item = cJSON_CreateObject();
        ok = html_put(points, NULL, item) && html_put(item, "service", html_text(fleet->arena, point->service)) &&
             html_put(item, "phase", html_text(fleet->arena, point->phase)) &&
             html_put(item, "version", html_text(fleet->arena, point->version)) &&
             html_put(item, "day", html_text(fleet->arena, point->day)) &&
             html_put(item, "ns_per_call", html_number(point->ns_per_call)) &&
             html_put(item, "share", html_number(point->share));
    }
    return ok;
}

static cJSON *make(const struct html_fleet *fleet)
{
    cJSON *json = cJSON_CreateObject(), *of = cJSON_CreateObject();
    bool ok = html_put(json, "fleet", of);
    cJSON *table = ok ? html_table(fleet->table, fleet->arena) : NULL;
    if (ok && html_put(json, "version", cJSON_CreateString(MMPROF_VERSION)) &&
        html_put(of, "of", html_text(fleet->arena, fleet->of)) && html_put(of, "table", table) &&
        html_metadata(table, fleet->table, fleet->arena) && put_points(of, fleet))
        return json;
    cJSON_Delete(json);
    return NULL;
}

int html_fleet_write(const struct html_fleet *fleet, FILE *out, struct err *err)
{
    cJSON *json = make(fleet);
    int rc = json == NULL ? err_set(err, "out of memory for a page") : html_write_json(json, out, err);
    cJSON_Delete(json);
    return rc;
}
