/* The page's time line. */
#include "report/html/html_parts.h"
#include "report/sampled_tree.h"
#include "report/view/timeline_table.h"

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
static double rounded(double number)
{
    return floor(number * 1000 + 0.5) / 1000;
}

static bool is_wall(const struct report_source *source)
{
    return source->sampled != NULL && source->sampled->kept_ticks != NULL;
}

/* What the page calls a part; in an object. */
static void put_name(struct html_json *json, enum vm_part part)
{
    html_text(json, "key", vm_part_key(part));
    html_text(json, "name", vm_part_name(part));
}

/* Spans of time add the numbers up.  Of all rows together, or on a CPU. */
static void put_steps_of(struct html_json *json, const char *key, const struct report_source *source,
                         const struct timeline_read *read, enum vm_part part, bool of_rows)
{
    html_array(json, key);
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++) {
        double ticks = of_rows ? 0 : (double)timeline_cell(read->timeline, part, i).cpu_ticks;
        for (uint32_t row = 0; of_rows && row <= read->n_rows; row++)
            ticks += (double)timeline_row_ticks(read->timeline, row, i);
        html_number(json, NULL, cpus(source, read->timeline, ticks, i));
    }
    html_close(json, ']');
}

static void put_parts(struct html_json *json, const struct report_source *source, const struct timeline_read *read)
{
    html_array(json, "parts");
    for (enum vm_part part = VM_PART_APPLICATION; part < VM_PARTS; part++) {
        bool has_waits = is_wall(source) && part == VM_PART_APPLICATION;
        if (!timeline_has_part(read->timeline, part))
            continue;
        html_object(json, NULL);
        put_name(json, part);
        put_steps_of(json, "cpus", source, read, part, has_waits);
        if (has_waits)
            put_steps_of(json, "running", source, read, part, false);
        html_close(json, '}');
    }
    html_close(json, ']');
}

/* ---- CPI and misses ---- */

static bool has_rate(const struct timeline_read *read, size_t rate, enum vm_part part)
{
    bool has = false;
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++)
        has = has || !isnan(timeline_rate(read, rate, part, i));
    return has;
}

static void put_rate_part(struct html_json *json, const struct timeline_read *read, size_t rate, enum vm_part part)
{
    if (!has_rate(read, rate, part))
        return;
    html_object(json, NULL);
    html_array(json, "values");
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++)
        html_exact(json, NULL, rounded(timeline_rate(read, rate, part, i)));
    html_close(json, ']');
    put_name(json, part);
    html_close(json, '}');
}

/* A rate that was measured in no step is not there. */
static void put_rates(struct html_json *json, const struct timeline_read *read, struct kept *kept)
{
    html_array(json, "rates");
    for (size_t i = 0; i < read->rates.options.n_metrics; i++) {
        const struct call_metric *metric = &read->rates.of[i];
        if (read->rates.options.metrics[i].is_time ||
            (!has_rate(read, i, VM_PART_APPLICATION) && !has_rate(read, i, read->regions.gc)))
            continue;
        kept->rates[kept->n++] = i;
        html_object(json, NULL);
        html_array(json, "parts");
        put_rate_part(json, read, i, VM_PART_APPLICATION);
        put_rate_part(json, read, i, read->regions.gc);
        html_close(json, ']');
        html_text(json, "name", metric->name);
        html_text(json, "unit", metric->format == TABLE_RATE ? "per 1,000 instructions" : "");
        html_close(json, '}');
    }
    html_close(json, ']');
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
static bool has_load(const struct report_source *source, const struct timeline *timeline, enum load load,
                     enum vm_part part)
{
    double sum = 0;
    for (uint32_t i = 0; i < timeline_n_steps(timeline); i++)
        sum += load_of(source, timeline, load, part, i);
    return sum > 0;
}

static void put_load_part(struct html_json *json, const struct report_source *source, const struct timeline *timeline,
                          enum load load, enum vm_part part)
{
    html_object(json, NULL);
    put_name(json, part);
    html_array(json, "values");
    for (uint32_t i = 0; i < timeline_n_steps(timeline); i++)
        html_exact(json, NULL, rounded(load_of(source, timeline, load, part, i)));
    html_close(json, ']');
    html_close(json, '}');
}

static void put_load(struct html_json *json, const struct report_source *source, const struct timeline *timeline,
                     enum load load)
{
    bool has[VM_PARTS] = { false }, has_any = false;
    for (enum vm_part part = VM_PART_APPLICATION; part < VM_PARTS; part++) {
        has[part] = has_load(source, timeline, load, part);
        has_any = has_any || has[part];
    }
    if (!has_any)
        return;
    html_object(json, NULL);
    html_text(json, "name", loads[load].name);
    html_text(json, "unit", loads[load].unit);
    html_array(json, "parts");
    for (enum vm_part part = VM_PART_APPLICATION; part < VM_PARTS; part++)
        if (has[part])
            put_load_part(json, source, timeline, load, part);
    html_close(json, ']');
    html_close(json, '}');
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

/* All rows and the rest, most ticks first; ticks: by row. */
static struct row_time *order_rows(struct arena *arena, const struct timeline_read *read, const uint64_t *ticks)
{
    struct row_time *order = arena_alloc(arena, (read->n_rows + 1) * sizeof *order);
    for (size_t i = 0; i <= read->n_rows; i++)
        order[i] = (struct row_time){ i, ticks == NULL ? row_ticks(read, i) : (double)ticks[i] };
    qsort(order, read->n_rows + 1, sizeof *order, most_first);
    return order;
}

static void put_row(struct html_json *json, const struct report_source *source, const struct timeline_read *read,
                    size_t row)
{
    html_object(json, NULL);
    html_text(json, "label", row_label(read, row));
    html_bool(json, "is_sampled", row < read->n_rows && sampled_alone(source, read->rows[row].total));
    html_array(json, "cpus");
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++) {
        double ticks = (double)timeline_row_ticks(read->timeline, (uint32_t)row, i);
        html_exact(json, NULL, rounded(cpus(source, read->timeline, ticks, i)));
    }
    html_close(json, ']');
    html_close(json, '}');
}

/* Those with most time of their own. */
static void put_rows(struct html_json *json, const struct report_source *source, const struct timeline_read *read)
{
    const struct row_time *order = order_rows(source->arena, read, NULL);
    html_array(json, "rows");
    for (size_t i = 0; i <= read->n_rows && i < ROWS_MAX && order[i].ticks >= 1; i++)
        put_row(json, source, read, order[i].row);
    html_close(json, ']');
}

/* ---- regions ---- */

static void put_region_rows(struct html_json *json, const struct timeline_read *read,
                            const struct timeline_region *region)
{
    html_array(json, "rows");
    if (region->row_ticks != NULL) {
        const struct row_time *order = order_rows(json->arena, read, region->row_ticks);
        double all = 0;
        for (size_t i = 0; i <= read->n_rows; i++)
            all += (double)region->row_ticks[i];
        for (size_t i = 0; i <= read->n_rows && i < REGION_ROWS_MAX && order[i].ticks > REGION_ROW_MIN * all; i++) {
            html_object(json, NULL);
            html_text(json, "label", row_label(read, order[i].row));
            html_number(json, "share", order[i].ticks / all);
            html_close(json, '}');
        }
    }
    html_close(json, ']');
}

/* The rates of the application in a region; of the collector in its own. */
static void put_region_rates(struct html_json *json, const struct timeline_read *read, uint32_t number,
                             const struct kept *kept)
{
    enum vm_part part = read->regions.regions[number].is_gc ? read->regions.gc : VM_PART_APPLICATION;
    uint64_t sums[CALLTREE_COUNTERS + TRACE_COLUMNS_MAX] = { 0 };
    size_t n = timeline_n_metrics(read->timeline);
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++) {
        struct timeline_cell cell = timeline_cell(read->timeline, part, i);
        for (size_t m = 0; read->regions.of_step[i] == number && cell.metrics != NULL && m < n; m++)
            sums[m] += cell.metrics[m];
    }
    html_array(json, "rates");
    for (size_t i = 0; i < kept->n; i++)
        html_number(json, NULL, timeline_rate_of(read, kept->rates[i], sums, n));
    html_close(json, ']');
}

static void put_regions(struct html_json *json, const struct report_source *source, const struct timeline_read *read,
                        const struct kept *kept)
{
    html_array(json, "regions");
    for (uint32_t i = 0; i <= read->regions.n; i++) {
        const struct timeline_region *region = &read->regions.regions[i];
        html_object(json, NULL);
        html_exact(json, "number", i);
        html_bool(json, "is_gc", region->is_gc);
        html_exact(json, "n_steps", region->n_steps);
        html_exact(json, "n_times", region->n_times);
        html_number(json, "cpu_ns", report_ns(source, region->cpu_ticks));
        put_region_rates(json, read, i, kept);
        put_region_rows(json, read, region);
        html_close(json, '}');
    }
    html_close(json, ']');
    html_array(json, "of_step");
    for (uint32_t i = 0; i < timeline_n_steps(read->timeline); i++)
        html_exact(json, NULL, read->regions.of_step[i]);
    html_close(json, ']');
}

/* ---- when the program stood still ---- */

static double since_start_ns(const struct report_source *source, uint64_t ticks)
{
    uint64_t start = source->tree->start_ticks;
    return report_ns(source, ticks > start ? ticks - start : 0);
}

/* When mmprof stopped the program: pairs of ns since the start, and ns. */
static void put_stops(struct html_json *json, const struct report_source *source)
{
    const struct calltree_pauses *pauses = &source->tree->pauses;
    html_array(json, "stops");
    for (uint64_t i = 0; i < pauses->n && i < CALLTREE_PAUSES_KEPT; i++) {
        html_array(json, NULL);
        html_number(json, NULL, since_start_ns(source, pauses->kept[i].ticks));
        html_number(json, NULL, (double)pauses->kept[i].ns);
        html_close(json, ']');
    }
    html_close(json, ']');
}

/* A page with more would not open: it shows only when the collector's threads ran. */
#define COLLECTIONS_MAX 2000

/* Each collection: ns since the start, ns, its kind and its cause, or "". */
static void put_collections(struct html_json *json, const struct report_source *source)
{
    size_t n = trace_n_collections(source->reader);
    html_array(json, "collections");
    for (size_t i = 0; n <= COLLECTIONS_MAX && i < n; i++) {
        const struct trace_collection *one = trace_collection(source->reader, i);
        html_array(json, NULL);
        html_number(json, NULL, since_start_ns(source, one->start_ticks));
        html_number(json, NULL, (double)one->ns);
        html_text(json, NULL, one->name);
        html_text(json, NULL, one->cause);
        html_close(json, ']');
    }
    html_close(json, ']');
}

void html_timeline(struct html_json *json, const struct report_source *source, const struct timeline_read *read)
{
    const struct timeline *timeline = read->timeline;
    uint32_t n = timeline_n_steps(timeline);
    struct kept kept = { .n = 0 };
    html_object(json, "timeline");
    html_exact(json, "steps", n);
    html_number(json, "step_ns", timeline_step_ns(timeline));
    html_exact(json, "end_ns", timeline_start_ns(timeline, n));
    html_bool(json, "is_wall", is_wall(source));
    put_parts(json, source, read);
    put_rates(json, read, &kept);
    html_array(json, "loads");
    for (enum load load = 0; load < LOADS; load++)
        put_load(json, source, timeline, load);
    html_close(json, ']');
    put_stops(json, source);
    put_collections(json, source);
    put_rows(json, source, read);
    put_regions(json, source, read, &kept);
    html_close(json, '}');
}
