#include "report/view/timeline_table.h"

#include "report/event_columns.h"
#include "report/sampled_tree.h"
#include "report/view/quota.h"

#include <math.h>
#include <string.h>

#define REGIONS_IN_TEXT 12
#define ROWS_OF_REGION  3    /* phases that a region is told by */
#define ROW_OF_REGION   0.05 /* of its time that such a phase has */

/* What text has a column for: the parts of the VM, some together. */
enum busy { BUSY_APPLICATION, BUSY_GC, BUSY_JIT, BUSY_VM, BUSY_MMPROF, BUSY };

static const struct {
    const char *heading, *key;
    enum vm_part first, last;
} busy[BUSY] = { { "App (%)", "application", VM_PART_APPLICATION, VM_PART_APPLICATION },
                 { "GC (%)", "gc", VM_PART_GC, VM_PART_GC },
                 { "JIT (%)", "jit", VM_PART_C1, VM_PART_C2 },
                 { "VM (%)", "vm", VM_PART_THREAD, VM_PART_OTHER },
                 { "mmprof (%)", "mmprof", VM_PART_MMPROF, VM_PART_MMPROF } };

struct timeline_layout {
    size_t start, end, region, busy[BUSY], gcs, runnable, faults, switches, most; /* text: busy; CSV: the next ones */
    size_t label, cpu, share, steps, times, counted, class_name, method, descriptor;
    size_t events[EVENT_COLUMNS_MAX], rates[STATISTICS_METRICS_MAX];
};

struct timeline_making {
    const struct report_source *source;
    const struct timeline_read *read;
    const struct timeline *timeline;
    struct table *table;
    bool is_text, has_faults;                      /* faults are only recorded when they are asked for */
    struct event_column events[EVENT_COLUMNS_MAX]; /* of one group: others' counts are of a part of the time */
    size_t n_events;
    struct timeline_layout at;
};

static struct table_cell ns_cell(const struct timeline_making *m, uint64_t ticks)
{
    return table_number(timeline_ns(m->timeline, ticks));
}

static uint64_t metric_of(const struct timeline_making *m, const struct timeline_cell *cell,
                          enum calltree_metric metric)
{
    return metric < timeline_n_metrics(m->timeline) ? cell->metrics[metric] : 0;
}

/* ---- columns ---- */

static void add_rates(struct timeline_making *m)
{
    const struct call_metrics *rates = &m->read->rates;
    for (size_t i = 0; i < rates->options.n_metrics; i++) {
        if (rates->options.metrics[i].is_time)
            continue;
        m->at.rates[i] = table_column(m->table, rates->of[i].name, rates->of[i].key, rates->of[i].format);
        m->table->columns[m->at.rates[i]].detail = strcmp(rates->of[i].key, "cpi") != 0 ? 1 : 0;
    }
}

static void add_text_columns(struct timeline_making *m)
{
    struct table *t = m->table;
    m->at.start = table_column(t, "Time (s)", "start", TABLE_TEXT);
    m->at.region = table_column(t, "Region", "region", TABLE_COUNT);
    for (size_t i = 0; i < BUSY; i++)
        m->at.busy[i] = table_column(t, busy[i].heading, busy[i].key, TABLE_SHARE);
    m->at.gcs = table_column(t, "GCs", "collections", TABLE_COUNT);
    t->columns[m->at.gcs].not_in_text = trace_n_collections(m->source->reader) == 0;
    m->at.runnable = table_column(t, "Waits (%)", "runnable", TABLE_SHARE);
    m->at.faults = table_column(t, "Faults", "page_faults", TABLE_COUNT);
    t->columns[m->at.faults].not_in_text = !m->has_faults;
    m->at.switches = table_column(t, "Switches", "context_switches", TABLE_COUNT);
    add_rates(m);
    m->at.most = table_column(t, "Mostly in", "most", TABLE_TEXT);
}

static void add_data_columns(struct timeline_making *m)
{
    struct table *t = m->table;
    struct timeline_layout *at = &m->at;
    at->start = table_column(t, "start_ns", "start_ns", TABLE_NS);
    at->end = table_column(t, "end_ns", "end_ns", TABLE_NS);
    at->region = table_column(t, "region", "region", TABLE_COUNT);
    at->label = table_column(t, "label", "label", TABLE_TEXT);
    at->cpu = table_column(t, "cpu_ns", "cpu_ns", TABLE_NS);
    at->runnable = table_column(t, "runnable_ns", "runnable_ns", TABLE_NS);
    at->faults = table_column(t, "page_faults", "page_faults", TABLE_COUNT);
    at->switches = table_column(t, "context_switches", "context_switches", TABLE_COUNT);
    add_rates(m);
    for (size_t i = 0; i < m->n_events; i++)
        at->events[i] = table_column(t, m->events[i].name, m->events[i].name, TABLE_COUNT);
    at->counted = table_column(t, "counted_share", "counted_share", TABLE_SHARE);
    at->share = table_column(t, "time_share", "time_share", TABLE_SHARE);
    at->steps = table_column(t, "steps", "steps", TABLE_COUNT);
    at->times = table_column(t, "times", "times", TABLE_COUNT);
    at->class_name = table_column(t, "class", "class", TABLE_TEXT);
    at->method = table_column(t, "method", "method", TABLE_TEXT);
    at->descriptor = table_column(t, "descriptor", "descriptor", TABLE_TEXT);
}

/* ---- the steps, as text ---- */

static const char *row_label(const struct timeline_making *m, uint32_t row)
{
    return row < m->read->n_rows ? m->read->rows[row].label : "other code";
}

/* The part of the VM that had most CPU time. */
static const char *busiest_part(const struct timeline_making *m, uint32_t step)
{
    uint64_t most = 0;
    const char *label = "";
    for (enum vm_part p = VM_PART_GC; p < VM_PARTS; p++)
        if (timeline_cell(m->timeline, p, step).cpu_ticks > most) {
            most = timeline_cell(m->timeline, p, step).cpu_ticks;
            label = vm_part_name(p);
        }
    return label;
}

/* The phase that had most of the application's time; the VM's part where it stood still, or collected. */
static const char *most_of(const struct timeline_making *m, uint32_t step)
{
    uint64_t most = 0;
    const char *label = NULL;
    if (m->read->regions.regions[m->read->regions.of_step[step]].is_gc)
        return vm_part_name(VM_PART_GC);
    for (uint32_t i = 0; i <= m->read->n_rows; i++)
        if (timeline_row_ticks(m->timeline, i, step) > most) {
            most = timeline_row_ticks(m->timeline, i, step);
            label = row_label(m, i);
        }
    return label == NULL ? busiest_part(m, step) : label;
}

/* "1.20": as many digits as the steps need. */
static const char *start_words(const struct timeline_making *m, uint32_t step)
{
    int digits = (int)ceil(-log10(timeline_step_ns(m->timeline) / 1e9) - 1e-9);
    return arena_printf(m->source->arena, "%.*f",
                        digits < 0   ? 0
                        : digits > 9 ? 9
                                     : digits,
                        timeline_start_ns(m->timeline, step) / 1e9);
}

static double length_ns(const struct timeline_making *m, uint32_t step)
{
    return timeline_start_ns(m->timeline, step + 1) - timeline_start_ns(m->timeline, step);
}

static void add_busy(const struct timeline_making *m, uint32_t step, struct table_cell *cells)
{
    for (size_t i = 0; i < BUSY; i++) {
        double ns = 0;
        for (enum vm_part p = busy[i].first; p <= busy[i].last; p++)
            ns += timeline_ns(m->timeline, timeline_cell(m->timeline, p, step).cpu_ticks);
        cells[m->at.busy[i]] = table_quotient(ns, length_ns(m, step));
    }
}

/* Collections that began in the step; they are in the order of time, but for some microseconds. */
static double count_collections(const struct timeline_making *m, uint32_t step)
{
    const struct trace_reader *reader = m->source->reader;
    uint64_t start = m->source->tree->start_ticks;
    double n = 0, from = timeline_start_ns(m->timeline, step), to = timeline_start_ns(m->timeline, step + 1);
    for (size_t i = 0; i < trace_n_collections(reader); i++) {
        uint64_t ticks = trace_collection(reader, i)->start_ticks;
        double at = ticks > start ? report_ns(m->source, ticks - start) : 0;
        n += at >= from && at < to;
    }
    return n;
}

/* Waits, faults and switches are the process'. */
static void add_kernel(const struct timeline_making *m, uint32_t step, struct table_cell *cells)
{
    double runnable = 0, faults = 0, switches = 0;
    for (enum vm_part p = 0; p < VM_PARTS; p++) {
        struct timeline_cell cell = timeline_cell(m->timeline, p, step);
        runnable += timeline_ns(m->timeline, cell.runnable_ticks);
        faults += (double)metric_of(m, &cell, CALLTREE_FAULTS);
        switches += (double)metric_of(m, &cell, CALLTREE_SWITCHES);
    }
    if (m->has_faults)
        cells[m->at.faults] = table_number(faults);
    if (m->source->tree->cpu_is_wall)
        return;
    cells[m->at.runnable] = table_quotient(runnable, length_ns(m, step));
    cells[m->at.switches] = table_number(switches);
}

static void add_text_row(struct timeline_making *m, uint32_t step)
{
    struct table_cell *cells = table_row(m->table, "step");
    if (cells == NULL)
        return;
    cells[m->at.start] = table_words(start_words(m, step));
    cells[m->at.region] = table_number(m->read->regions.of_step[step]);
    add_busy(m, step, cells);
    cells[m->at.gcs] = table_number(count_collections(m, step));
    add_kernel(m, step, cells);
    for (size_t i = 0; i < m->read->rates.options.n_metrics; i++)
        if (!m->read->rates.options.metrics[i].is_time)
            cells[m->at.rates[i]] = table_number(timeline_rate(m->read, i, VM_PART_APPLICATION, step));
    cells[m->at.most] = table_words(most_of(m, step));
}

/* ---- the steps, as data ---- */

static void add_counts(struct timeline_making *m, const struct timeline_cell *cell, struct table_cell *cells)
{
    size_t n_metrics = timeline_n_metrics(m->timeline);
    double uncounted = (double)metric_of(m, cell, CALLTREE_UNCOUNTED);
    if (m->has_faults)
        cells[m->at.faults] = table_number((double)metric_of(m, cell, CALLTREE_FAULTS));
    if (!m->source->tree->cpu_is_wall) {
        cells[m->at.runnable] = ns_cell(m, cell->runnable_ticks);
        cells[m->at.switches] = table_number((double)metric_of(m, cell, CALLTREE_SWITCHES));
    }
    for (size_t i = 0; i < m->read->rates.options.n_metrics; i++)
        if (!m->read->rates.options.metrics[i].is_time)
            cells[m->at.rates[i]] = table_number(timeline_rate_of(m->read, i, cell->metrics, n_metrics));
    for (size_t i = 0; i < m->n_events; i++) {
        size_t metric = (size_t)CALLTREE_COUNTERS + m->events[i].recorded[0].column;
        if (metric < n_metrics)
            cells[m->at.events[i]] = table_number((double)cell->metrics[metric]);
    }
    if (n_metrics > CALLTREE_COUNTERS)
        cells[m->at.counted] = table_quotient((double)cell->cpu_ticks - uncounted, (double)cell->cpu_ticks);
}

static void add_data_row(struct timeline_making *m, enum vm_part part, uint32_t step)
{
    struct timeline_cell cell = timeline_cell(m->timeline, part, step);
    struct table_cell *cells = table_row(m->table, vm_part_key(part));
    if (cells == NULL)
        return;
    cells[m->at.start] = table_number(timeline_start_ns(m->timeline, step));
    cells[m->at.end] = table_number(timeline_start_ns(m->timeline, step + 1));
    cells[m->at.region] = table_number(m->read->regions.of_step[step]);
    cells[m->at.label] = table_words(vm_part_name(part));
    cells[m->at.cpu] = ns_cell(m, cell.cpu_ticks);
    add_counts(m, &cell, cells);
}

/* ---- regions ---- */

/* The row of a region that has most of its ticks, but less than 'below'; n_rows + 1: there is none. */
static uint32_t next_row(const struct timeline_making *m, const struct timeline_region *region, uint64_t below)
{
    uint32_t n = (uint32_t)m->read->n_rows + 1, best = n;
    for (uint32_t i = 0; i < n; i++)
        if (region->row_ticks[i] < below && (best == n || region->row_ticks[i] > region->row_ticks[best]))
            best = i;
    return best;
}

/* "Sort.sort 80.2 %, Sort.read 12.1 %" */
static const char *region_words(const struct timeline_making *m, uint32_t number)
{
    struct arena *arena = m->source->arena;
    const struct timeline_region *region = &m->read->regions.regions[number];
    const char *words = region->is_gc ? "garbage collector" : NULL;
    uint64_t below = UINT64_MAX;
    for (int i = 0; !region->is_gc && number != TIMELINE_IDLE && i < ROWS_OF_REGION; i++) {
        uint32_t row = next_row(m, region, below);
        double share = row > m->read->n_rows ? 0 : (double)region->row_ticks[row] / ((double)region->cpu_ticks + 1e-9);
        if (share < ROW_OF_REGION)
            break;
        below = region->row_ticks[row];
        words = arena_printf(arena, "%s%s%s %s", words == NULL ? "" : words, words == NULL ? "" : ", ",
                             row_label(m, row), report_percent(arena, share));
    }
    return words == NULL ? number == TIMELINE_IDLE ? "idle" : "many methods" : words;
}

/* Sums over the steps of a region: the application's. */
static struct timeline_cell sum_region(const struct timeline_making *m, uint32_t number)
{
    size_t n_metrics = timeline_n_metrics(m->timeline);
    uint64_t *metrics = arena_alloc(m->source->arena, (n_metrics + 1) * sizeof *metrics);
    struct timeline_cell sum = { 0, 0, metrics };
    for (uint32_t step = 0; step < timeline_n_steps(m->timeline); step++) {
        if (m->read->regions.of_step[step] != number)
            continue;
        struct timeline_cell cell = timeline_cell(m->timeline, VM_PART_APPLICATION, step);
        sum.cpu_ticks += cell.cpu_ticks;
        sum.runnable_ticks += cell.runnable_ticks;
        for (size_t i = 0; i < n_metrics; i++)
            metrics[i] += cell.metrics[i];
    }
    return sum;
}

static double all_ticks(const struct timeline_making *m)
{
    double all = 0;
    for (uint32_t r = 0; r <= m->read->regions.n; r++)
        all += (double)m->read->regions.regions[r].cpu_ticks;
    return all;
}

static void add_region(struct timeline_making *m, uint32_t number)
{
    const struct timeline_region *region = &m->read->regions.regions[number];
    struct timeline_cell sum = sum_region(m, number);
    struct table_cell *cells = sum.metrics == NULL ? NULL : table_row(m->table, "region");
    if (cells == NULL)
        return;
    cells[m->at.region] = table_number(number);
    cells[m->at.label] = table_words(region_words(m, number));
    add_counts(m, &sum, cells);
    cells[m->at.cpu] = ns_cell(m, region->cpu_ticks);
    cells[m->at.share] = table_quotient((double)region->cpu_ticks, all_ticks(m));
    cells[m->at.steps] = table_number(region->n_steps);
    cells[m->at.times] = table_number(region->n_times);
}

/* "CPI 1.234, " */
static const char *cpi_words(const struct timeline_making *m, uint32_t number)
{
    struct timeline_cell sum = sum_region(m, number);
    const struct call_metrics *rates = &m->read->rates;
    for (size_t i = 0; sum.metrics != NULL && i < rates->options.n_metrics; i++) {
        double cpi = strcmp(rates->of[i].key, "cpi") != 0
                         ? NAN
                         : timeline_rate_of(m->read, i, sum.metrics, timeline_n_metrics(m->timeline));
        if (!isnan(cpi))
            return arena_printf(m->source->arena, ", CPI %.3f", cpi);
    }
    return "";
}

static void say_regions(struct timeline_making *m)
{
    struct arena *arena = m->source->arena;
    const struct timeline_regions *regions = &m->read->regions;
    for (uint32_t r = 1; r <= regions->n && r <= REGIONS_IN_TEXT; r++) {
        const struct timeline_region *region = &regions->regions[r];
        const char *cpi = cpi_words(m, r), *words = region_words(m, r);
        const char *line = words == NULL || cpi == NULL
                               ? NULL
                               : arena_printf(arena, "region %-2u %s of the time, %u %s%s: %s", r,
                                              report_percent(arena, (double)region->cpu_ticks / (all_ticks(m) + 1e-9)),
                                              region->n_times, region->n_times == 1 ? "time" : "times", cpi, words);
        table_metadata_words(m->table, NULL, NULL, line);
    }
    if (regions->n > REGIONS_IN_TEXT)
        table_note(m->table, arena_printf(arena, "%u more regions: --csv has all", regions->n - REGIONS_IN_TEXT));
}

/* A phase's own time, as the report has it, and where most of it is. */
static void add_phase(struct timeline_making *m, uint32_t row)
{
    const struct report_row *of = &m->read->rows[row];
    struct table_cell *cells = table_row(m->table, sampled_alone(m->source, of->total) ? "sampled" : "phase");
    struct method_name name = report_name(m->source, of->total->method);
    if (cells == NULL)
        return;
    cells[m->at.region] = table_number(m->read->regions.of_row[row]);
    cells[m->at.label] = table_words(row_label(m, row));
    cells[m->at.cpu] = table_number(of->self_ticks * m->source->tree->ns_per_tick);
    cells[m->at.class_name] = table_words(name.class_name);
    cells[m->at.method] = table_words(name.method);
    cells[m->at.descriptor] = table_words(name.descriptor);
}

/* ---- the whole ---- */

static void find_events(struct timeline_making *m)
{
    struct event_column all[EVENT_COLUMNS_MAX];
    size_t n = event_columns(m->source->reader, m->source->tree, all);
    bool take_turns = m->source->tree->groups.n > 1;
    for (size_t i = 0; i < n; i++) {
        bool is_measured = all[i].why[0] == '\0';
        m->has_faults = m->has_faults || (is_measured && all[i].role == EVENT_FAULTS);
        if (is_measured && all[i].n_recorded > 0 && !take_turns)
            m->events[m->n_events++] = all[i];
    }
}

static void add_notes(struct timeline_making *m)
{
    const struct calltree *tree = m->source->tree;
    if (tree->cpu_is_wall)
        table_note(m->table,
                   "the trace has no context switches: wall time of threads that ran probes replaces CPU time");
    else
        table_note(m->table, "Waits counts preempted threads; threads that were woken and wait for a CPU are unknown");
    quota_note(m->source, m->table);
    table_note(m->table,
               "percentages are of one CPU; steps exclude the kernel's CPU time for context switches and for the exit");
    if (m->read->rates.options.n_metrics > 1)
        table_note(m->table, "CPI and misses are the application's");
    else
        table_note(m->table, "CPI and misses need recorded cycles and instructions");
    if (m->has_faults)
        report_note_faults(m->source, m->table);
    for (size_t i = 0; i < m->read->rates.options.n_metrics; i++)
        if (m->read->rates.of[i].why != NULL)
            table_note(m->table,
                       arena_printf(m->source->arena, "%s: %s", m->read->rates.of[i].name, m->read->rates.of[i].why));
}

static void add_rows(struct timeline_making *m)
{
    for (uint32_t step = 0; step < timeline_n_steps(m->timeline); step++) {
        if (m->is_text)
            add_text_row(m, step);
        for (size_t p = 0; !m->is_text && p < VM_PARTS; p++)
            if (timeline_has_part(m->timeline, (enum vm_part)p))
                add_data_row(m, (enum vm_part)p, step);
    }
    for (uint32_t r = 0; !m->is_text && r <= m->read->regions.n; r++)
        add_region(m, r);
    for (uint32_t row = 0; !m->is_text && row < m->read->n_rows; row++)
        add_phase(m, row);
}

void timeline_table(const struct report_source *source, const struct timeline_read *read, bool is_text,
                    struct table *table)
{
    struct timeline_making m = {
        .source = source, .read = read, .timeline = read->timeline, .table = table, .is_text = is_text
    };
    table_begin(table, source->arena);
    report_metadata(source, table);
    table_metadata_number(table, "step_ns", timeline_step_ns(m.timeline), NULL);
    table_metadata_number(table, "steps", timeline_n_steps(m.timeline), NULL);
    table_metadata_number(table, "regions", read->regions.n, NULL);
    find_events(&m);
    if (is_text) {
        say_regions(&m);
        add_text_columns(&m);
    } else {
        add_data_columns(&m);
    }
    add_rows(&m);
    add_notes(&m);
    report_losses(source, table);
}
