/*
 * report --for-agents: findings, phases and notes as one JSON of bounded size, by the schema agents.schema.json.
 *
 * What is too much is left out as whole items, those with the least cost first, and 'dropped' says how many.
 */
#include "report/findings/findings.h"

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/base/words.h"
#include "core/base/xalloc.h"

#include <cjson/cJSON.h>

#define SCHEMA         "mmprof.agents"
#define SCHEMA_VERSION 1
#define ITEM_BYTES     4096 /* of one item; a longer one has a hostile name */
#define WORDS_BYTES    1024 /* of the words about the trace */

enum list { FINDINGS, CONDITIONS, PHASES, PARTS, NOTES, N_LISTS };

static const char *const list_names[] = { "findings", "conditions", "phases", "process_parts", "notes" };

/* What is left out first where all is too much, down to so many items. */
static const struct {
    enum list list;
    int keep;
} drops[] = { { PHASES, 12 }, { NOTES, 6 },  { FINDINGS, 8 }, { PHASES, 4 },     { NOTES, 2 },
              { PARTS, 0 },   { PHASES, 0 }, { NOTES, 0 },    { CONDITIONS, 0 }, { FINDINGS, 0 } };

struct agents {
    cJSON *json, *lists[N_LISTS]; /* json owns all */
    double n_dropped[N_LISTS];
    struct arena *arena;
    const char *trace; /* as a shell takes it; NULL: its name is no UTF-8 */
};

/* ---- text and size ---- */

static char *text_of(const cJSON *json, size_t *n)
{
    char *raw = cJSON_PrintUnformatted(json), *text = NULL;
    FILE *out = xopen_memstream(&text, n);
    text_print_json(out, raw);
    xclose_memstream(out);
    free(raw);
    return text;
}

/* Bytes of it as a string within another JSON, where a quote and a backslash take two. */
static size_t bytes_of(const cJSON *json)
{
    size_t n = 0;
    char *text = text_of(json, &n);
    for (const char *at = text; *at != '\0'; at++)
        n += *at == '"' || *at == '\\';
    free(text);
    return n;
}

static void add_item(struct agents *agents, enum list list, cJSON *item)
{
    if (bytes_of(item) <= ITEM_BYTES) {
        cJSON_AddItemToArray(agents->lists[list], item);
        return;
    }
    agents->n_dropped[list]++;
    cJSON_Delete(item);
}

static void add_words(cJSON *to, const char *key, const char *words)
{
    cJSON *item = words == NULL ? NULL : cJSON_CreateString(words);
    bool fits = item != NULL && bytes_of(item) <= WORDS_BYTES;
    cJSON_AddItemToObject(to, key, fits ? item : cJSON_CreateNull());
    if (!fits)
        cJSON_Delete(item);
}

/* Digits that say nothing are left out. */
static void add_number(cJSON *to, const char *key, double number, enum table_unit unit)
{
    double scale = unit == TABLE_SHARE ? 1e4 : unit == TABLE_RATIO || unit == TABLE_RATE ? 1e3 : 1;
    if (isfinite(number))
        cJSON_AddNumberToObject(to, key, nearbyint(number * scale) / scale);
    else
        cJSON_AddNullToObject(to, key);
}

/* ---- findings ---- */

/* By the interval of its share. */
static const char *confidence(const struct finding *f)
{
    double half = (f->high - f->low) / 2;
    if (!(half > 0))
        return "measured";
    return half <= 0.1 * f->share ? "high" : half <= TABLE_VAGUE * f->share ? "medium" : "low";
}

static void add_finding(struct agents *agents, const struct finding *f)
{
    cJSON *item = cJSON_CreateObject();
    char line[ITEM_BYTES] = "mmprof report --no-pager --view";
    cJSON_AddStringToObject(item, "rule", f->rule);
    cJSON_AddStringToObject(item, "subject", f->subject);
    cJSON_AddStringToObject(item, "evidence", f->text);
    cJSON_AddStringToObject(item, "size", f->size);
    add_number(item, "share", f->share, TABLE_SHARE);
    add_number(item, "share_low", f->low, TABLE_SHARE);
    add_number(item, "share_high", f->high, TABLE_SHARE);
    add_number(item, "cost_ns", f->cost_ns, TABLE_NS);
    cJSON_AddStringToObject(item, "confidence", confidence(f));
    cJSON_AddStringToObject(item, "view", f->view);
    words_append_quoted(line, sizeof line, f->view);
    cJSON_AddItemToObject(item, "next",
                          agents->trace == NULL
                              ? cJSON_CreateNull()
                              : cJSON_CreateString(arena_printf(agents->arena, "%s %s", line, agents->trace)));
    add_item(agents, f->is_condition ? CONDITIONS : FINDINGS, item);
}

/* ---- the phases' table ---- */

/* Columns of the report, and of a trace of samples only, behind the label; what a row lacks is left out. */
static const char *const keys[] = { "time_share",
                                    "time_share_error",
                                    "share",
                                    "share_error",
                                    "self_share",
                                    "self_share_error",
                                    "known_by",
                                    "samples",
                                    "calls",
                                    "ns_per_call",
                                    "p50_ns",
                                    "p99_ns",
                                    "cpi",
                                    "off_cpu_ns_per_call",
                                    "allocated_bytes_per_s",
                                    NULL };

static void add_row(struct agents *agents, const struct table *table, const struct table_row *row, enum list list)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "kind", row->kind);
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct table_column *column = &table->columns[c];
        const struct table_cell *cell = &row->cells[c];
        const char *key = c == 0 ? "label" : column->key;
        if (c > 0 && !text_is_among(key, keys))
            continue;
        if (cell->value == TABLE_WORDS)
            cJSON_AddStringToObject(item, key, cell->words);
        else if (cell->value == TABLE_NUMBER)
            add_number(item, key, cell->number, column->unit);
    }
    add_item(agents, list, item);
}

static void add_table(struct agents *agents, const struct table *table)
{
    enum list list = PHASES;
    for (size_t r = 0; r < table->n_rows; r++) {
        list = r > 0 && table->rows[r].after_rule ? PARTS : list;
        add_row(agents, table, &table->rows[r], list);
    }
    for (int is_doubt = 1; is_doubt >= 0; is_doubt--)
        for (size_t i = 0; i < table->n_notes; i++)
            if (table->is_doubt[i] == (is_doubt == 1))
                add_item(agents, NOTES, cJSON_CreateString(table->notes[i]));
}

/* The line "complete 99.6 % of CPU time, ...", and what else is known of the recording. */
static void add_about(struct agents *agents, const struct table *table)
{
    static const char *const about[] = { "trace",      "jvm",          "simulated", "duration_ns",
                                         "cpu_ns",     "clock",        "calls",     "accounted_share",
                                         "cost_share", "exact_phases", NULL };
    cJSON *to = cJSON_AddObjectToObject(agents->json, "recording");
    const char *complete = NULL;
    for (size_t i = 0; i < table->n_metadata; i++) {
        const struct table_metadata *m = &table->metadata[i];
        bool is_share = strstr(m->key == NULL ? "" : m->key, "share") != NULL;
        if (m->key == NULL || !text_is_among(m->key, about))
            continue;
        complete = strcmp(m->key, "exact_phases") == 0 ? m->words : complete;
        if (m->cell.value == TABLE_NUMBER)
            add_number(to, m->key, m->cell.number, is_share ? TABLE_SHARE : TABLE_COUNT);
        else
            add_words(to, m->key, m->cell.value == TABLE_WORDS ? m->cell.words : NULL);
    }
    add_words(to, "complete", complete);
}

/* ---- all ---- */

static void fill(struct agents *agents, const struct findings *findings, const struct table *phases)
{
    cJSON_AddStringToObject(agents->json, "schema", SCHEMA);
    cJSON_AddNumberToObject(agents->json, "schema_version", SCHEMA_VERSION);
    add_about(agents, phases);
    for (size_t i = 0; i < N_LISTS; i++)
        agents->lists[i] = cJSON_AddArrayToObject(agents->json, list_names[i]);
    for (size_t i = 0; i < findings->n; i++)
        add_finding(agents, &findings->all[i]);
    add_table(agents, phases);
}

/* Items that are left out, by list. */
static void tell_dropped(struct agents *agents)
{
    cJSON *dropped = cJSON_CreateObject();
    for (size_t i = 0; i < N_LISTS; i++)
        cJSON_AddNumberToObject(dropped, list_names[i], agents->n_dropped[i]);
    cJSON_DeleteItemFromObject(agents->json, "dropped");
    cJSON_AddItemToObject(agents->json, "dropped", dropped);
}

static void fit(struct agents *agents)
{
    tell_dropped(agents);
    for (size_t i = 0; i < sizeof drops / sizeof *drops && bytes_of(agents->json) > FINDINGS_AGENTS_BYTES; i++) {
        cJSON *list = agents->lists[drops[i].list];
        while (cJSON_GetArraySize(list) > drops[i].keep && bytes_of(agents->json) > FINDINGS_AGENTS_BYTES) {
            cJSON_DeleteItemFromArray(list, cJSON_GetArraySize(list) - 1);
            agents->n_dropped[drops[i].list]++;
            tell_dropped(agents);
        }
    }
}

void findings_print_agents(const struct findings *findings, const struct table *phases, const char *trace, FILE *out)
{
    struct agents agents = { .json = cJSON_CreateObject(), .arena = phases->arena };
    char line[2 * PATH_MAX] = "";
    size_t n;
    words_append_quoted(line, sizeof line, trace);
    if (strcmp(text_utf8(phases->arena, trace, strlen(trace)), trace) == 0)
        agents.trace = line;
    fill(&agents, findings, phases);
    fit(&agents);
    char *text = text_of(agents.json, &n);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(agents.json);
}
