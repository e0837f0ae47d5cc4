#include "report/html/html_data.h"

#include "core/base/text.h"
#include "core/trace/trace.h"
#include "core/trace/recording_info.h"
#include "report/event_columns.h"
#include "report/view/parts_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- items ---- */

cJSON *html_number(double number)
{
    char text[32];
    if (!(number >= 0))
        return cJSON_CreateNull();
    if (number < 1e15 && number == floor(number))
        return cJSON_CreateNumber(number);
    snprintf(text, sizeof text, "%.6g", number);
    return cJSON_CreateNumber(strtod(text, NULL));
}

cJSON *html_text(struct arena *arena, const char *text)
{
    const char *clean = text == NULL ? NULL : text_clean(arena, text);
    if (text == NULL)
        return cJSON_CreateNull();
    return clean == NULL ? NULL : cJSON_CreateString(clean);
}

bool html_put(cJSON *to, const char *key, cJSON *item)
{
    bool ok = to != NULL && item != NULL &&
              (key == NULL ? cJSON_AddItemToArray(to, item) : cJSON_AddItemToObject(to, key, item));
    if (!ok)
        cJSON_Delete(item);
    return ok;
}

int html_print_json(const cJSON *json, FILE *out, struct err *err)
{
    char *text = json == NULL ? NULL : cJSON_PrintUnformatted(json);
    if (text == NULL)
        return err_set(err, "out of memory for the page's data");
    /* These three stand in strings only. */
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '<' || *at == '>' || *at == '&')
            fprintf(out, "\\u%04x", (unsigned)*at);
        else
            putc(*at, out);
    free(text);
    return ferror(out) ? err_set(err, "cannot write the page") : 0;
}

/* ---- tables ---- */

static cJSON *cell_json(const struct table_cell *cell, enum table_unit unit, struct arena *arena)
{
    char text[64];
    if (cell->value == TABLE_WORDS)
        return html_text(arena, cell->words);
    table_format(cell, unit, text, sizeof text);
    if (cell->value != TABLE_NUMBER)
        return cJSON_CreateString(text);
    cJSON *pair = cJSON_CreateArray();
    if (html_put(pair, NULL, html_text(arena, cell->words == NULL ? text : cell->words)) &&
        html_put(pair, NULL, cell->number < 0 ? cJSON_CreateNumber(cell->number) : html_number(cell->number)))
        return pair;
    cJSON_Delete(pair);
    return NULL;
}

static const char *unit_key(enum table_unit unit)
{
    static const char *const keys[] = {
        [TABLE_TEXT] = "text",   [TABLE_COUNT] = "count", [TABLE_SHARE] = "share", [TABLE_NS] = "ns",
        [TABLE_RATIO] = "ratio", [TABLE_RATE] = "rate",   [TABLE_BYTES] = "bytes"
    };
    return keys[unit];
}

static bool put_column(cJSON *columns, const struct table_column *column, struct arena *arena)
{
    cJSON *json = cJSON_CreateObject();
    return html_put(columns, NULL, json) && html_put(json, "heading", html_text(arena, column->heading)) &&
           html_put(json, "key", html_text(arena, column->key)) &&
           html_put(json, "unit", cJSON_CreateString(unit_key(column->unit))) &&
           html_put(json, "hidden", cJSON_CreateBool(column->not_in_text));
}

static bool put_row(cJSON *rows, const struct table *table, const struct table_row *row, struct arena *arena)
{
    cJSON *json = cJSON_CreateObject(), *cells = cJSON_CreateArray();
    bool ok = html_put(rows, NULL, json) && html_put(json, "kind", html_text(arena, row->kind));
    ok = html_put(ok ? json : NULL, "cells", cells) && ok;
    for (size_t c = 0; ok && c < table->n_columns; c++)
        ok = html_put(cells, NULL, cell_json(&row->cells[c], table->columns[c].unit, arena));
    return ok;
}

cJSON *html_table(const struct table *table, struct arena *arena)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *columns = cJSON_AddArrayToObject(json, "columns"), *rows = cJSON_AddArrayToObject(json, "rows"),
          *notes = cJSON_AddArrayToObject(json, "notes");
    bool ok = columns != NULL && rows != NULL && notes != NULL;
    for (size_t c = 0; ok && c < table->n_columns; c++)
        ok = put_column(columns, &table->columns[c], arena);
    for (size_t r = 0; ok && r < table->n_rows; r++)
        ok = put_row(rows, table, &table->rows[r], arena);
    for (size_t i = 0; ok && i < table->n_notes; i++)
        ok = html_put(notes, NULL, html_text(arena, table->notes[i]));
    if (ok)
        return json;
    cJSON_Delete(json);
    return NULL;
}

/* ---- what was measured, and how ---- */

/* The lines of text as they stand above the table. */
static bool put_lines(cJSON *json, const struct table *table, struct arena *arena)
{
    cJSON *lines = cJSON_AddArrayToObject(json, "lines");
    bool ok = lines != NULL;
    for (size_t i = 0; ok && i < table->n_metadata; i++)
        if (table->metadata[i].words != NULL)
            ok = html_put(lines, NULL, html_text(arena, table->metadata[i].words));
    return ok;
}

bool html_metadata(cJSON *about, const struct table *table, struct arena *arena)
{
    bool ok = put_lines(about, table, arena);
    for (size_t i = 0; ok && i < table->n_metadata; i++) {
        const struct table_metadata *row = &table->metadata[i];
        if (row->key != NULL)
            ok = html_put(about, row->key,
                          row->cell.value == TABLE_NUMBER ? html_number(row->cell.number)
                                                          : html_text(arena, row->cell.words));
    }
    return ok;
}

/* The session's metadata that the page has words for. */
static const enum info_key info_keys[] = { INFO_MMPROF_VERSION,
                                           INFO_HOST,
                                           INFO_OS,
                                           INFO_CPU,
                                           INFO_JVM_PID,
                                           INFO_JVM_VERSION,
                                           INFO_JVM_COMMAND,
                                           INFO_SIMULATED,
                                           INFO_SIMULATED_MODEL,
                                           INFO_STARTED,
                                           INFO_CLOCK,
                                           INFO_RECORDING_MODE,
                                           INFO_PHASES_FILE,
                                           INFO_PROBE_READ,
                                           INFO_COUNTERS_GROUPS,
                                           INFO_COUNTERS_KERNEL,
                                           INFO_COUNTERS_REFUSED,
                                           INFO_READINGS,
                                           INFO_READINGS_CPU_MS,
                                           INFO_READINGS_THREADS_WITHOUT,
                                           INFO_PROCESS_CPU_NS,
                                           INFO_MACHINE_STOLEN_NS,
                                           INFO_QUOTA_CPUS,
                                           INFO_QUOTA_THROTTLED,
                                           INFO_QUOTA_THROTTLED_NS,
                                           INFO_OFFCPU,
                                           INFO_INSTRUMENTED_CLASSES,
                                           INFO_INSTRUMENTED_METHODS,
                                           INFO_FAILED_CLASSES,
                                           INFO_LEFT_CLASSES,
                                           INFO_LEFT_METASPACE,
                                           INFO_LEFT_LATE,
                                           INFO_LEFT_LOADERS,
                                           INFO_LEFT_BREAKPOINTS,
                                           INFO_KEPT_BREAKPOINTS,
                                           INFO_UNSURE_CLASSES,
                                           INFO_UNSURE_FIRST,
                                           INFO_REFUSED_CLASSES,
                                           INFO_REFUSED_FIRST,
                                           INFO_INSTRUMENT_MS,
                                           INFO_INSTRUMENT_LONGEST_MS,
                                           INFO_SKIPPED_TOO_LARGE,
                                           INFO_SKIPPED_LIMITS,
                                           INFO_SKIPPED_UNUSUAL,
                                           INFO_LOST_NO_RING,
                                           INFO_LIVE_BUDGET,
                                           INFO_LIVE_BATCHES,
                                           INFO_LIVE_PAUSES_MS,
                                           INFO_LIVE_LONGEST_PAUSE_MS,
                                           INFO_LIVE_SAMPLES,
                                           INFO_LIVE_PROBES_MS,
                                           INFO_LIVE_OWN_CPU_MS,
                                           INFO_LIVE_WINDOWS_MS };

static cJSON *info_json(const struct report_source *source)
{
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof info_keys / sizeof info_keys[0]; i++) {
        const char *value = info_text(source->reader, info_keys[i]);
        if (value != NULL && !html_put(json, info_name(info_keys[i]), html_text(source->arena, value))) {
            cJSON_Delete(json);
            return NULL;
        }
    }
    return json;
}

static bool put_event(cJSON *events, const struct event_column *event, struct arena *arena)
{
    cJSON *json = cJSON_CreateObject();
    bool ok = html_put(events, NULL, json) && html_put(json, "name", html_text(arena, event->name)) &&
              html_put(json, "heading", html_text(arena, event->heading)) &&
              html_put(json, "why", html_text(arena, event->why));
    cJSON *groups = ok ? cJSON_AddArrayToObject(json, "groups") : NULL;
    for (uint32_t g = 0; groups != NULL && ok && g < event->n_recorded; g++)
        ok = html_put(groups, NULL, cJSON_CreateNumber(event->recorded[g].group));
    return ok && groups != NULL;
}

/* Each trace's events. */
static cJSON *events_json(const struct html_page *page)
{
    cJSON *all = cJSON_CreateArray();
    bool ok = all != NULL;
    for (size_t t = 0; ok && t < page->n_traces; t++) {
        const struct report_source *source = page->traces[t].source;
        struct event_column columns[EVENT_COLUMNS_MAX];
        size_t n = event_columns(source->reader, source->tree, columns);
        cJSON *json = cJSON_CreateObject(), *events = cJSON_CreateArray();
        ok = html_put(all, NULL, json) && html_put(json, "trace", html_text(source->arena, source->path));
        ok = html_put(ok ? json : NULL, "events", events) && ok;
        for (size_t i = 0; ok && i < n; i++)
            ok = put_event(events, &columns[i], source->arena);
    }
    if (ok)
        return all;
    cJSON_Delete(all);
    return NULL;
}

/* What recording cost, as far as the trace tells. */
static bool put_cost(cJSON *about, const struct report_source *source)
{
    const struct calltree *tree = source->tree;
    double pair_ns = calltree_pair_ns(tree);
    return html_put(about, "pair_ns", html_number(pair_ns > 0 ? pair_ns : -1)) &&
           html_put(about, "probe_ns", html_number(pair_ns > 0 ? report_ns(source, tree->probe_ticks) : -1)) &&
           html_put(about, "perf_records_lost", html_number((double)tree->n_kernel_lost)) &&
           html_put(about, "calls_folded", html_number((double)tree->n_folded)) &&
           html_put(about, "groups", html_number(tree->groups.n)) &&
           html_put(about, "threads", html_number(tree->n_threads));
}

static cJSON *about_json(const struct html_page *page)
{
    const struct report_source *source = page->traces[0].source;
    cJSON *about = cJSON_CreateObject();
    if (about != NULL && html_metadata(about, page->phases, source->arena) && put_cost(about, source) &&
        html_put(about, "info", info_json(source)) && html_put(about, "events", events_json(page)))
        return about;
    cJSON_Delete(about);
    return NULL;
}

/* ---- the whole ---- */

/* Samples of threads that wait are a part of the wall time, and no row of their own. */
static const struct report_source *parts_source(const struct html_page *page)
{
    return page->whole->clock == PHASES_WALL ? page->whole : page->traces[0].source;
}

static cJSON *parts_json(const struct report_source *source)
{
    struct table *table = arena_alloc(source->arena, sizeof *table);
    struct err err;
    if (table == NULL || parts_table(source, table, &err) < 0)
        return NULL;
    return html_table(table, source->arena);
}

/* With what stands above the table. */
static cJSON *whole_json(const struct table *table, struct arena *arena)
{
    cJSON *json = html_table(table, arena);
    if (json != NULL && put_lines(json, table, arena))
        return json;
    cJSON_Delete(json);
    return NULL;
}

static cJSON *timeline_json(const struct html_page *page)
{
    const struct report_source *source = page->whole;
    if (page->line != NULL)
        return html_timeline(source, page->line);
    cJSON *json = cJSON_CreateObject();
    if (html_put(json, "why", html_text(source->arena, page->no_line)))
        return json;
    cJSON_Delete(json);
    return NULL;
}

/* [["text", "view"], ...] */
static cJSON *findings_json(const struct html_page *page)
{
    struct arena *arena = page->traces[0].source->arena;
    cJSON *all = cJSON_CreateArray();
    for (size_t i = 0; all != NULL && i < page->n_findings; i++) {
        cJSON *one = cJSON_CreateArray();
        if (!html_put(all, NULL, one) || !html_put(one, NULL, html_text(arena, page->findings[i].text)) ||
            !html_put(one, NULL, html_text(arena, page->findings[i].view))) {
            cJSON_Delete(all);
            return NULL;
        }
    }
    return all;
}

cJSON *html_data(const struct html_page *page)
{
    const struct report_source *source = page->traces[0].source;
    cJSON *json = cJSON_CreateObject();
    if (json != NULL && html_put(json, "version", cJSON_CreateString(MMPROF_VERSION)) &&
        html_put(json, "about", about_json(page)) && html_put(json, "findings", findings_json(page)) &&
        html_put(json, "phases", html_table(page->phases, source->arena)) &&
        (page->cost == NULL || html_put(json, "cost", html_table(page->cost, source->arena))) &&
        (page->stats == NULL || html_put(json, "stats", whole_json(page->stats, source->arena))) &&
        (page->values == NULL || html_put(json, "values", html_table(page->values, source->arena))) &&
        (page->live_objects == NULL || html_put(json, "live_objects", whole_json(page->live_objects, source->arena))) &&
        (page->fields == NULL || html_put(json, "fields", html_table(page->fields, source->arena))) &&
        html_put(json, "timeline", timeline_json(page)) && html_put(json, "parts", parts_json(parts_source(page))) &&
        html_put(json, "ip_samples", html_ip_samples(page)) &&
        html_put(json, "tree", html_tree(page->whole, false, page->line)) &&
        html_put(json, "graphs", html_graphs(page)) && html_put(json, "sweep", html_sweep(&page->traces[0])))
        return json;
    cJSON_Delete(json);
    return NULL;
}
