#include "report/html/html_diff.h"

static bool put_graph(cJSON *graphs, const struct html_diff *diff, const char *key, cJSON *tree)
{
    bool is_first = tree != NULL;
    cJSON *json = cJSON_CreateObject();
    return html_put(graphs, NULL, json) && html_put(json, "key", cJSON_CreateString(key)) &&
           html_put(json, "label",
                    html_text(diff->arena, arena_printf(diff->arena, "Share of the %s %s", diff->clock, key))) &&
           html_put(json, "unit", cJSON_CreateString("share")) &&
           html_put(json, "about", cJSON_CreateString("means over the traces of the side")) &&
           html_put(json, "value", cJSON_CreateString(key)) &&
           (is_first ? html_put(json, "tree", tree) : html_put(json, "of", cJSON_CreateString("after")));
}

static bool put_changes(cJSON *json, const struct html_diff *diff)
{
    cJSON *changes = cJSON_AddArrayToObject(json, "changes");
    bool ok = changes != NULL;
    for (size_t i = 0; ok && i < diff->n_changes; i++) {
        const struct html_change *change = &diff->changes[i];
        cJSON *item = cJSON_CreateObject();
        ok = html_put(changes, NULL, item) && html_put(item, "frame", cJSON_CreateNumber(change->frame)) &&
             html_put(item, "direction", cJSON_CreateNumber(change->direction)) &&
             html_put(item, "words", html_text(diff->arena, change->words));
    }
    return ok;
}

static bool put_runs(cJSON *json, const struct html_diff *diff)
{
    cJSON *runs = diff->runs == NULL ? NULL : html_table(diff->runs, diff->arena);
    return diff->runs == NULL || (html_put(json, "runs", runs) && html_metadata(runs, diff->runs, diff->arena));
}

static bool put_diff(cJSON *json, const struct html_diff *diff)
{
    cJSON *table = html_table(diff->table, diff->arena);
    return html_put(json, "before", html_text(diff->arena, diff->sides[0])) &&
           html_put(json, "after", html_text(diff->arena, diff->sides[1])) && html_put(json, "table", table) &&
           html_metadata(table, diff->table, diff->arena) && put_runs(json, diff) && put_changes(json, diff);
}

static cJSON *make(const struct html_diff *diff)
{
    static const char *const values[] = { "before", "after" };
    cJSON *json = cJSON_CreateObject(), *of = cJSON_CreateObject(), *graphs = cJSON_CreateArray();
    bool ok = html_put(json, "diff", of);
    ok = html_put(ok ? json : NULL, "graphs", graphs) && ok;
    if (ok && html_put(json, "version", cJSON_CreateString(MMPROF_VERSION)) && put_diff(of, diff) &&
        put_graph(graphs, diff, "after", html_stacks_json(diff->stacks, values, 2)) &&
        put_graph(graphs, diff, "before", NULL))
        return json;
    cJSON_Delete(json);
    return NULL;
}

int html_diff_write(const struct html_diff *diff, FILE *out, struct err *err)
{
    cJSON *json = make(diff);
    int rc = json == NULL ? err_set(err, "out of memory for a page") : html_write_json(json, out, err);
    cJSON_Delete(json);
    return rc;
}
