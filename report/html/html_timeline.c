/*
 * The page's time line.
 */
#include "report/html/html_data.h"
#include "report/sampled_tree.h"
#include "report/view/timeline_table.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_MAX        14 /* phases that are drawn */
#define REGION_ROWS_MAX 4  /* phases that a region names */
#define REGION_ROW_MIN  0.02

/* The rates that the page has: those that were measured in some step. */
struct kept {
    size_t rates[STATISTICS_METRICS_MAX];
    size_t n;
};

static double step_length_ns(const struct timeline *timeline, uint32_t step)
{
    return timeline_start_ns(timeline, step + 1) - timeline_start_ns(timeline, step);
}

/* Ticks of a step as CPUs. */
static double cpus(const struct report_source *source, const struct timeline *timeline, double ticks, uint32_t step)
{
    double length_ns = step_length_ns(timeline, step);
    return length_ns > 0 ? ticks * report_ns(source, 1) / length_ns : 0;
}

/* Three decimals: a hair's breadth on the page. */
static cJSON *rounded(double number)
{
    return cJSON_CreateNumber(floor(number * 1000 + 0.5) / 1000);
}

static bool is_wall(const struct report_source *source)
{
    return source->sampled != NULL && source->sampled->kept_ticks != NULL;
}

/* Spans of time add the numbers up.  Of all rows together, or on a CPU. */
static bool put_steps_of(cJSON *json, const char *key, const struct report_source *source,
                         const struct timeline_read *read, enum vm_part part, bool of_rows)
{
    cJSON *values = cJSON_AddArrayToObject(json, key);
    bool ok = values != NULL;
    for (uint32_t i = 0; ok && i < timeline_n_steps(read->timeline); i++) {
        double ticks = of_rows ? 0 : (double)timeline_cell(read->timeline, part, i).cpu_ticks;
        for (uint32_t row = 0; of_rows && row <= read->n_rows; row++)
            ticks += (double)timeline_row_ticks(read->timeline, row, i);
        ok = html_put(values, NULL, html_number(cpus(source, read->timeline, ticks, i)));
    }
    return ok;
}

static bool put_part(cJSON *parts, const struct report_source *source, const struct timeline_read *read,
                     enum vm_part part)
{
    cJSON *json = cJSON_CreateObject();
    bool has_waits = is_wall(source) && part == VM_PART_APPLICATION;
    return html_put(parts, NULL, json) && html_put(json, "key", cJSON_CreateString(vm_part_key(part))) &&
           html_put(json, "name", cJSON_CreateString(vm_part_name(part))) &&
           put_steps_of(json, "cpus", source, read, part, has_waits) &&
           (!has_waits || put_steps_of(json, "running", source, read, part, false));
}

static bool put_parts(cJSON *json, const struct report_source *source, const struct timeline_read *read)
{
    cJSON *parts = cJSON_AddArrayToObject(json, "parts");
    bool ok = parts != NULL;
    for (enum vm_part p = VM_PART_APPLICATION; ok && p < VM_PARTS; p++)
        if (timeline_has_part(read->timeline, p))
            ok = put_part(parts, source, read, p);
    return ok;
}

/* ---- CPI and misses ---- */

static bool put_rate_part(cJSON *parts, const struct timeline_read *read, size_t rate, enum vm_part part)
{
    cJSON *values = cJSON_CreateArray();
    bool is_measured = false, ok = values != NULL;
    for (uint32_t i = 0; ok && i < timeline_n_steps(read->timeline); i++) {
        double value = timeline_rate(read, rate, part, i);
        is_measured = is_measured || !isnan(value);
        ok = html_put(values, NULL, isnan(value) ? cJSON_CreateNull() : rounded(value));
    }
    cJSON *json = is_measured && ok ? cJSON_CreateObject() : NULL;
    if (!is_measured || !ok || json == NULL) {
        cJSON_Delete(values);
        return ok && !is_measured;
    }
    if (!html_put(json, "values", values)) {
        cJSON_Delete(json);
        return false;
    }
    return html_put(parts, NULL, json) && html_put(json, "key", cJSON_CreateString(vm_part_key(part))) &&
           html_put(json, "name", cJSON_CreateString(vm_part_name(part)));
}

/* A rate that was measured in no step is not there. */
static bool put_rate(cJSON *rates, const struct report_source *source, const struct timeline_read *read, size_t rate,
                     struct kept *kept)
{
    const struct call_metric *metric = &read->rates.of[rate];
    cJSON *json = cJSON_CreateObject(), *parts = cJSON_CreateArray();
    bool ok = html_put(json, "parts", parts);
    ok = ok && put_rate_part(parts, read, rate, VM_PART_APPLICATION) &&
         put_rate_part(parts, read, rate, read->regions.gc);
    if (!ok || cJSON_GetArraySize(parts) == 0) {
        cJSON_Delete(json);
        return ok;
    }
    kept->rates[kept->n++] = rate;
    return html_put(rates, NULL, json) && html_put(json, "name", html_text(source->arena, metric->name)) &&
           html_put(json, "unit", cJSON_CreateString(metric->format == TABLE_RATE ? "per 1,000 instructions" : ""));
}

static bool put_rates(cJSON *json, const struct report_source *source, const struct timeline_read *read,
                      struct kept *kept)
{
    cJSON *rates = cJSON_AddArrayToObject(json, "rates");
    bool ok = rates != NULL;
    for (size_t i = 0; ok && i < read->rates.options.n_metrics; i++)
        ok = read->rates.options.metrics[i].is_time || put_rate(rates, source, read, i, kept);
    return ok;
}

/* ---- what needs no counters: waiting, switches, faults ---- */

enum load { LOAD_WAITS, LOAD_SWITCHES, LOAD_FAULTS, LOADS };

static const struct {
    const char *name, *unit;
} loads[LOADS] = { [LOAD_WAITS] = { "waiting for a CPU", "threads" },
                   [LOAD_SWITCHES] = { "context switches", "a second" },
                   [LOAD_FAULTS] = { "page faults", "a second" } };

static double load_of(const struct report_source *source, const struct timeline *timeline, enum load load,
                      enum vm_part part, uint32_t step)
{
    struct timeline_cell cell = timeline_cell(timeline, part, step);
    enum calltree_metric metric = load == LOAD_SWITCHES ? CALLTREE_SWITCHES : CALLTREE_FAULTS;
    if (load == LOAD_WAITS)
        return cpus(source, timeline, (double)cell.runnable_ticks, step);
    double length_ns = step_length_ns(timeline, step);
    return metric < timeline_n_metrics(timeline) && length_ns > 0 ? (double)cell.metrics[metric] / length_ns * 1e9 : 0;
}

/* A part to which it never happened is not there: faults are only recorded when they are asked for. */
static bool put_load_part(cJSON *parts, const struct report_source *source, const struct timeline *timeline,
                          enum load load, enum vm_part part)
{
    double sum = 0;
    cJSON *json = cJSON_CreateObject();
    bool ok = html_put(json, "key", cJSON_CreateString(vm_part_key(part))) &&
              html_put(json, "name", cJSON_CreateString(vm_part_name(part)));
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (uint32_t i = 0; ok && i < timeline_n_steps(timeline); i++) {
        double value = load_of(source, timeline, load, part, i);
        sum += value;
        ok = html_put(values, NULL, rounded(value));
    }
    if (ok && sum > 0)
        return html_put(parts, NULL, json);
    cJSON_Delete(json);
    return ok;
}

static bool put_load(cJSON *array, const struct report_source *source, const struct timeline *timeline, enum load load)
{
    cJSON *json = cJSON_CreateObject();
    bool ok = html_put(json, "name", cJSON_CreateString(loads[load].name)) &&
              html_put(json, "unit", cJSON_CreateString(loads[load].unit));
    cJSON *parts = cJSON_AddArrayToObject(json, "parts");
    for (enum vm_part p = VM_PART_APPLICATION; ok && p < VM_PARTS; p++)
        ok = put_load_part(parts, source, timeline, load, p);
    if (ok && cJSON_GetArraySize(parts) > 0)
        return html_put(array, NULL, json);
    cJSON_Delete(json);
    return ok;
}

static bool put_loads(cJSON *json, const struct report_source *source, const struct timeline *timeline)
{
    cJSON *array = cJSON_AddArrayToObject(json, "loads");
    bool ok = array != NULL;
    for (enum load load = 0; ok && load < LOADS; load++)
        ok = put_load(array, source, timeline, load);
    return ok;
}

/* ---- phases ---- */

struct row_time {
    size_t row;
    double ticks;
};

static int most_first(const void *a, const void *b)
{
    const struct row_time *x = a, *y = b;
    return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

static double row_ticks(const struct timeline_read *read, size_t row)
{
    double sum = 0;
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++)
        sum += (double)timeline_row_ticks(read->timeline, (uint32_t)row, i);
    return sum;
}

static const char *row_label(const struct timeline_read *read, size_t row)
{
    return row < read->n_rows ? read->rows[row].label : "application, other code";
}

static bool put_row(cJSON *rows, const struct report_source *source, const struct timeline_read *read, size_t row)
{
    cJSON *json = cJSON_CreateObject();
    bool ok = html_put(rows, NULL, json) && html_put(json, "label", html_text(source->arena, row_label(read, row))) &&
              html_put(json, "is_sampled",
                       cJSON_CreateBool(row < read->n_rows && sampled_alone(source, read->rows[row].total)));
    cJSON *values = ok ? cJSON_AddArrayToObject(json, "cpus") : NULL;
    for (uint32_t i = 0; values != NULL && ok && i < timeline_n_steps(read->timeline); i++)
        ok = html_put(
            values, NULL,
            rounded(cpus(source, read->timeline, (double)timeline_row_ticks(read->timeline, (uint32_t)row, i), i)));
    return ok && values != NULL;
}

/* Those with most time of their own. */
static bool put_rows(cJSON *json, const struct report_source *source, const struct timeline_read *read)
{
    size_t n = read->n_rows + 1;
    struct row_time *order = arena_alloc(source->arena, n * sizeof *order);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    bool ok = order != NULL && rows != NULL;
    for (size_t i = 0; ok && i < n; i++)
        order[i] = (struct row_time){ i, row_ticks(read, i) };
    if (ok)
        qsort(order, n, sizeof *order, most_first);
    for (size_t i = 0; ok && i < n && i < ROWS_MAX && order[i].ticks >= 1; i++)
        ok = put_row(rows, source, read, order[i].row);
    return ok;
}

/* ---- regions ---- */

static bool put_region_rows(cJSON *json, const struct report_source *source, const struct timeline_read *read,
                            const struct timeline_region *region)
{
    size_t n = read->n_rows + 1;
    double all = 0;
    struct row_time *order = arena_alloc(source->arena, n * sizeof *order);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    bool ok = order != NULL && rows != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        order[i] = (struct row_time){ i, region->row_ticks == NULL ? 0 : (double)region->row_ticks[i] };
        all += order[i].ticks;
    }
    if (ok)
        qsort(order, n, sizeof *order, most_first);
    for (size_t i = 0; ok && i < n && i < REGION_ROWS_MAX && order[i].ticks > REGION_ROW_MIN * all; i++) {
        cJSON *row = cJSON_CreateObject();
        ok = html_put(rows, NULL, row) &&
             html_put(row, "label", html_text(source->arena, row_label(read, order[i].row))) &&
             html_put(row, "share", html_number(order[i].ticks / all));
    }
    return ok;
}

/* The rates of the application in a region; of the collector in its own. */
static bool put_region_rates(cJSON *json, const struct timeline_read *read, uint32_t number, const struct kept *kept)
{
    enum vm_part part = read->regions.regions[number].is_gc ? read->regions.gc : VM_PART_APPLICATION;
    uint64_t sums[CALLTREE_COUNTERS + TRACE_COLUMNS_MAX] = { 0 };
    size_t n = timeline_n_metrics(read->timeline);
    cJSON *rates = cJSON_AddArrayToObject(json, "rates");
    bool ok = rates != NULL;
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++) {
        struct timeline_cell cell = timeline_cell(read->timeline, part, i);
        for (size_t m = 0; read->regions.of_step[i] == number && cell.metrics != NULL && m < n; m++)
            sums[m] += cell.metrics[m];
    }
    for (size_t i = 0; ok && i < kept->n; i++) {
        double rate = timeline_rate_of(read, kept->rates[i], sums, n);
        ok = html_put(rates, NULL, isnan(rate) ? cJSON_CreateNull() : html_number(rate));
    }
    return ok;
}

static bool put_region(cJSON *regions, const struct report_source *source, const struct timeline_read *read,
                       uint32_t number, const struct kept *kept)
{
    const struct timeline_region *region = &read->regions.regions[number];
    cJSON *json = cJSON_CreateObject();
    return html_put(regions, NULL, json) && html_put(json, "number", cJSON_CreateNumber(number)) &&
           html_put(json, "is_gc", cJSON_CreateBool(region->is_gc)) &&
           html_put(json, "n_steps", cJSON_CreateNumber(region->n_steps)) &&
           html_put(json, "n_times", cJSON_CreateNumber(region->n_times)) &&
           html_put(json, "cpu_ns", html_number(report_ns(source, region->cpu_ticks))) &&
           put_region_rates(json, read, number, kept) && put_region_rows(json, source, read, region);
}

static bool put_regions(cJSON *json, const struct report_source *source, const struct timeline_read *read,
                        const struct kept *kept)
{
    cJSON *regions = cJSON_AddArrayToObject(json, "regions"), *of_step = cJSON_AddArrayToObject(json, "of_step");
    bool ok = regions != NULL && of_step != NULL;
    for (uint32_t i = 0; ok && i <= read->regions.n; i++)
        ok = put_region(regions, source, read, i, kept);
    for (uint32_t i = 0; ok && i < timeline_n_steps(read->timeline); i++)
        ok = html_put(of_step, NULL, cJSON_CreateNumber(read->regions.of_step[i]));
    return ok;
}

/* When mmprof stopped the program: pairs of ns since the start, and ns. */
static bool put_stops(cJSON *json, const struct report_source *source)
{
    const struct calltree_pauses *pauses = &source->tree->pauses;
    cJSON *stops = cJSON_AddArrayToObject(json, "stops");
    bool ok = stops != NULL;
    for (uint64_t i = 0; ok && i < pauses->n && i < CALLTREE_PAUSES_KEPT; i++) {
        uint64_t ticks = pauses->kept[i].ticks, start = source->tree->start_ticks;
        cJSON *pair = cJSON_CreateArray();
        ok = html_put(stops, NULL, pair) &&
             html_put(pair, NULL, html_number(report_ns(source, ticks > start ? ticks - start : 0))) &&
             html_put(pair, NULL, html_number((double)pauses->kept[i].ns));
    }
    return ok;
}

/* A page with more would not open: it shows only when the collector's threads ran. */
#define COLLECTIONS_MAX 2000

/* Each collection: ns since the start, ns, its kind and its cause, or "". */
static bool put_collections(cJSON *json, const struct report_source *source)
{
    size_t n = trace_n_collections(source->reader);
    cJSON *collections = cJSON_AddArrayToObject(json, "collections");
    bool ok = collections != NULL;
    for (size_t i = 0; ok && n <= COLLECTIONS_MAX && i < n; i++) {
        const struct trace_collection *one = trace_collection(source->reader, i);
        uint64_t ticks = one->start_ticks, start = source->tree->start_ticks;
        cJSON *item = cJSON_CreateArray();
        ok = html_put(collections, NULL, item) &&
             html_put(item, NULL, html_number(report_ns(source, ticks > start ? ticks - start : 0))) &&
             html_put(item, NULL, html_number((double)one->ns)) &&
             html_put(item, NULL, html_text(source->arena, one->name)) &&
             html_put(item, NULL, html_text(source->arena, one->cause));
    }
    return ok;
}

cJSON *html_timeline(const struct report_source *source, const struct timeline_read *read)
{
    cJSON *json = cJSON_CreateObject();
    const struct timeline *timeline = read->timeline;
    uint32_t n = timeline_n_steps(timeline);
    struct kept kept = { .n = 0 };
    if (json != NULL && html_put(json, "steps", cJSON_CreateNumber(n)) &&
        html_put(json, "step_ns", html_number(timeline_step_ns(timeline))) &&
        html_put(json, "end_ns", cJSON_CreateNumber(timeline_start_ns(timeline, n))) &&
        html_put(json, "is_wall", cJSON_CreateBool(is_wall(source))) && put_parts(json, source, read) &&
        put_rates(json, source, read, &kept) && put_loads(json, source, timeline) && put_stops(json, source) &&
        put_collections(json, source) && put_rows(json, source, read) && put_regions(json, source, read, &kept))
        return json;
    cJSON_Delete(json);
    return NULL;
}
