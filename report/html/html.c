#include "report/html/html.h"

#include "core/trace/recording_info.h"
#include "report/event_columns.h"
#include "report/html/html_parts.h"
#include "report/html/html_stacks.h"
#include "report/view/tables.h"

/* ---- what was measured, and how ---- */

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
                                           INFO_KEPT_MEMORY,
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

static void put_info(struct html_json *json, const struct report_source *source)
{
    html_object(json, "info");
    for (size_t i = 0; i < sizeof info_keys / sizeof info_keys[0]; i++) {
        const char *value = info_text(source->reader, info_keys[i]);
        if (value != NULL)
            html_text(json, info_name(info_keys[i]), value);
    }
    html_close(json, '}');
}

static void put_event(struct html_json *json, const struct event_column *event)
{
    html_object(json, NULL);
    html_text(json, "name", event->name);
    html_text(json, "heading", event->heading);
    html_text(json, "why", event->why);
    html_array(json, "groups");
    for (uint32_t g = 0; g < event->n_recorded; g++)
        html_exact(json, NULL, event->recorded[g].group);
    html_close(json, ']');
    html_close(json, '}');
}

/* Each trace's events. */
static void put_events(struct html_json *json, const struct html_page *page)
{
    html_array(json, "events");
    for (size_t t = 0; t < page->n_traces; t++) {
        const struct report_source *source = page->traces[t].source;
        struct event_column columns[EVENT_COLUMNS_MAX];
        size_t n = event_columns(source->reader, source->tree, columns);
        html_object(json, NULL);
        html_text(json, "trace", source->path);
        html_array(json, "events");
        for (size_t i = 0; i < n; i++)
            put_event(json, &columns[i]);
        html_close(json, ']');
        html_close(json, '}');
    }
    html_close(json, ']');
}

/* And what recording cost, as far as the trace tells. */
static void put_about(struct html_json *json, const struct html_page *page)
{
    const struct report_source *source = page->traces[0].source;
    const struct calltree *tree = source->tree;
    double pair_ns = calltree_pair_ns(tree);
    html_object(json, "about");
    html_about(json, page->phases);
    html_number(json, "pair_ns", pair_ns > 0 ? pair_ns : -1);
    html_number(json, "probe_ns", pair_ns > 0 ? report_ns(source, tree->probe_ticks) : -1);
    html_number(json, "perf_records_lost", (double)tree->n_kernel_lost);
    html_number(json, "calls_folded", (double)tree->n_folded);
    html_number(json, "groups", tree->groups.n);
    html_number(json, "threads", tree->n_threads);
    put_info(json, source);
    put_events(json, page);
    html_close(json, '}');
}

/* ---- the report ---- */

/* [["text", "view"], ...] */
static void put_findings(struct html_json *json, const struct html_page *page)
{
    html_array(json, "findings");
    for (size_t i = 0; i < page->n_findings; i++) {
        html_array(json, NULL);
        html_text(json, NULL, page->findings[i].text);
        html_text(json, NULL, page->findings[i].view);
        html_close(json, ']');
    }
    html_close(json, ']');
}

/* Samples of threads that wait are a part of the wall time, and no row of their own. */
static void put_parts(struct html_json *json, const struct html_page *page)
{
    const struct report_source *source = page->whole->clock == PHASES_WALL ? page->whole : page->traces[0].source;
    struct table *table = arena_alloc(json->arena, sizeof *table);
    parts_table(source, table);
    html_table(json, "parts", table);
}

static void put_optional(struct html_json *json, const char *key, const struct table *table)
{
    if (table != NULL)
        html_table(json, key, table);
}

/* With what stands above the table. */
static void put_with_lines(struct html_json *json, const char *key, const struct table *table)
{
    if (table != NULL)
        html_table_lines(json, key, table);
}

/* Where threads were found, the hottest code, and what the JVM counted of its pauses. */
static void put_ip_samples(struct html_json *json, const struct html_page *page)
{
    html_object(json, "ip_samples");
    if (page->where != NULL)
        html_table_about(json, "where", page->where);
    else
        html_why(json, "where", page->no_where);
    put_optional(json, "hot", page->hot);
    if (page->pauses != NULL)
        html_table(json, "pauses", page->pauses);
    else
        html_why(json, "pauses", page->no_pauses);
    html_close(json, '}');
}

static void begin(struct html_json *json, FILE *out, struct arena *arena)
{
    *json = html_begin(out, arena);
    html_object(json, NULL);
}

static int end(struct html_json *json, struct err *err)
{
    html_close(json, '}');
    return html_end(json, err);
}

int html_write(const struct html_page *page, FILE *out, struct err *err)
{
    struct html_json json;
    begin(&json, out, page->traces[0].source->arena);
    html_text(&json, "version", MMPROF_VERSION);
    put_about(&json, page);
    put_findings(&json, page);
    html_table(&json, "phases", page->phases);
    put_optional(&json, "cost", page->cost);
    put_with_lines(&json, "stats", page->stats);
    put_with_lines(&json, "slow", page->slow);
    put_with_lines(&json, "jit", page->jit);
    put_optional(&json, "values", page->values);
    put_with_lines(&json, "live_objects", page->live_objects);
    put_optional(&json, "fields", page->fields);
    if (page->line != NULL)
        html_timeline(&json, page->whole, page->line);
    else
        html_why(&json, "timeline", page->no_line);
    put_parts(&json, page);
    put_ip_samples(&json, page);
    html_tree(&json, page->whole, false, page->line);
    html_graphs(&json, page);
    html_sweep(&json, &page->traces[0]);
    return end(&json, err);
}

/* ---- tables of a command ---- */

int html_tables_write(const struct html_tables *tables, FILE *out, struct err *err)
{
    static const char *const kinds[] = { "table", "live-bytes", "hints" };
    struct html_json json;
    begin(&json, out, tables->arena);
    html_object(&json, "tables");
    html_array(&json, "parts");
    for (size_t i = 0; i < tables->n; i++) {
        const struct html_part *part = &tables->parts[i];
        html_object(&json, NULL);
        html_table_about(&json, "table", part->table);
        html_text(&json, "kind", kinds[part->kind]);
        html_text(&json, "id", part->id);
        html_text(&json, "title", part->title);
        html_text(&json, "lead", part->lead);
        html_text(&json, "why", part->why);
        html_close(&json, '}');
    }
    html_close(&json, ']');
    html_text(&json, "title", tables->title);
    html_text(&json, "of", tables->of);
    html_close(&json, '}');
    html_text(&json, "version", MMPROF_VERSION);
    return end(&json, err);
}

/* ---- two versions ---- */

static void begin_graph(struct html_json *json, const struct html_diff *diff, const char *key)
{
    html_object(json, NULL);
    html_text(json, "key", key);
    html_text(json, "label", arena_printf(diff->arena, "Share of the %s %s", diff->clock, key));
    html_text(json, "unit", "share");
    html_text(json, "about", "means over the traces of the side");
    html_text(json, "value", key);
}

static void put_graphs(struct html_json *json, const struct html_diff *diff)
{
    static const char *const values[] = { "before", "after" };
    html_array(json, "graphs");
    begin_graph(json, diff, "after");
    html_stacks_put(json, diff->stacks, values, 2);
    html_close(json, '}');
    begin_graph(json, diff, "before");
    html_text(json, "of", "after");
    html_close(json, '}');
    html_close(json, ']');
}

static void put_changes(struct html_json *json, const struct html_diff *diff)
{
    html_array(json, "changes");
    for (size_t i = 0; i < diff->n_changes; i++) {
        html_object(json, NULL);
        html_exact(json, "frame", diff->changes[i].frame);
        html_exact(json, "direction", diff->changes[i].direction);
        html_text(json, "words", diff->changes[i].words);
        html_close(json, '}');
    }
    html_close(json, ']');
}

int html_diff_write(const struct html_diff *diff, FILE *out, struct err *err)
{
    struct html_json json;
    begin(&json, out, diff->arena);
    html_object(&json, "diff");
    html_text(&json, "before", diff->sides[0]);
    html_text(&json, "after", diff->sides[1]);
    html_table_about(&json, "table", diff->table);
    if (diff->runs != NULL)
        html_table_about(&json, "runs", diff->runs);
    put_changes(&json, diff);
    html_close(&json, '}');
    put_graphs(&json, diff);
    html_text(&json, "version", MMPROF_VERSION);
    return end(&json, err);
}

/* ---- many runs ---- */

int html_fleet_write(const struct html_fleet *fleet, FILE *out, struct err *err)
{
    struct html_json json;
    begin(&json, out, fleet->arena);
    html_object(&json, "fleet");
    html_text(&json, "of", fleet->of);
    html_table_about(&json, "table", fleet->table);
    html_array(&json, "points");
    for (size_t i = 0; i < fleet->n_points; i++) {
        const struct html_fleet_point *point = &fleet->points[i];
        html_object(&json, NULL);
        html_text(&json, "service", point->service);
        html_text(&json, "phase", point->phase);
        html_text(&json, "version", point->version);
        html_text(&json, "day", point->day);
        html_number(&json, "ns_per_call", point->ns_per_call);
        html_number(&json, "share", point->share);
        html_close(&json, '}');
    }
    html_close(&json, ']');
    html_close(&json, '}');
    html_text(&json, "version", MMPROF_VERSION);
    return end(&json, err);
}
