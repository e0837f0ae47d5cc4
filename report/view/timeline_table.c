#include "report/view/timeline_table.h"

#include "report/event_columns.h"
#include "report/sampled_tree.h"
#include "report/view/throttled.h"
#include "report/view/waits.h"
#include "core/trace/recording_info.h"

#define REGIONS_IN_TEXT 12
#define ROWS_OF_REGION  3    /* phases that a region is told by */
#define ROW_OF_REGION   0.05 /* of its time that such a phase has */

/* What text has a column for: the parts of the VM, some together. */
enum busy { BUSY_APPLICATION, BUSY_GC, BUSY_JIT, BUSY_VM, BUSY_MMPROF, BUSY };

static const struct {
    enum vm_part first, last;
} busy[BUSY] = { { VM_PART_APPLICATION, VM_PART_APPLICATION },
                 { VM_PART_GC, VM_PART_GC },
                 { VM_PART_C1, VM_PART_C2 },
                 { VM_PART_THREAD, VM_PART_OTHER },
                 { VM_PART_MMPROF, VM_PART_MMPROF } };

/* A row as it is printed, by column. */
struct timeline_line {
    struct table_cell start, end, region, label, cpu, busy[BUSY], gcs, runnable, faults, switches, most;
    struct table_cell rates[STATISTICS_METRICS_MAX], events[EVENT_COLUMNS_MAX];
    struct table_cell counted, share, steps, times, class_name, method, descriptor, pressure[TRACE_PRESSURES];
};

struct timeline_making {
    const struct report_source *source;
    const struct timeline_read *read;
    const struct timeline *timeline;
    struct table *table;
    bool is_text, has_faults;                      /* faults are only recorded when they are asked for */
    const uint64_t *pressure;                      /* by step, then kind; the arena's; NULL: nothing is known */
    struct event_column events[EVENT_COLUMNS_MAX]; /* of one group: others' counts are of a part of the time */
    size_t n_events;
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

#define LINE(member) FROM(struct timeline_line, member)

enum { IN_TEXT = 1, IN_DATA = 2, HAS_COLLECTIONS = 4, HAS_FAULTS = 8, HAS_PRESSURE = 16 };

#define PRESSURE_SHOWN(kind) (HAS_PRESSURE << (kind)) /* in text: it is a hundredth of a step, or more */

static const struct table_column before_rates[] = {
    { "start", "Time (s)", TABLE_TEXT, LINE(start), .when = IN_TEXT },
    { "start_ns", "start_ns", TABLE_NS, LINE(start), .when = IN_DATA },
    { "end_ns", "end_ns", TABLE_NS, LINE(end), .when = IN_DATA },
    { "region", "Region", TABLE_COUNT, LINE(region), .when = IN_TEXT },
    { "region", "region", TABLE_COUNT, LINE(region), .when = IN_DATA },
    { "label", "label", TABLE_TEXT, LINE(label), .when = IN_DATA },
    { "cpu_ns", "cpu_ns", TABLE_NS, LINE(cpu), .when = IN_DATA },
    { "application", "App (%)", TABLE_SHARE, LINE(busy[BUSY_APPLICATION]), .when = IN_TEXT },
    { "gc", "GC (%)", TABLE_SHARE, LINE(busy[BUSY_GC]), .when = IN_TEXT },
    { "jit", "JIT (%)", TABLE_SHARE, LINE(busy[BUSY_JIT]), .when = IN_TEXT },
    { "vm", "VM (%)", TABLE_SHARE, LINE(busy[BUSY_VM]), .when = IN_TEXT },
    { "mmprof", "mmprof (%)", TABLE_SHARE, LINE(busy[BUSY_MMPROF]), .when = IN_TEXT },
    { "collections", "GCs", TABLE_COUNT, LINE(gcs), .when = IN_TEXT, .text_when = HAS_COLLECTIONS },
    { "runnable", "Waits (%)", TABLE_SHARE, LINE(runnable), .when = IN_TEXT },
    { "runnable_ns", "runnable_ns", TABLE_NS, LINE(runnable), .when = IN_DATA },
    { "page_faults", "Faults", TABLE_COUNT, LINE(faults), .when = IN_TEXT, .text_when = HAS_FAULTS },
    { "page_faults", "page_faults", TABLE_COUNT, LINE(faults), .when = IN_DATA },
    { "context_switches", "Switches", TABLE_COUNT, LINE(switches), .when = IN_TEXT },
    { "context_switches", "context_switches", TABLE_COUNT, LINE(switches), .when = IN_DATA },
};

/* In text as shares of a step. */
#define PRESSURE(kind, key, heading, text_unit, data_unit)                                 \
    { key, heading, text_unit, LINE(pressure[kind]), .when = PRESSURE_SHOWN(kind) },       \
    {                                                                                      \
        key, key, data_unit, LINE(pressure[kind]), .when = HAS_PRESSURE << TRACE_PRESSURES \
    }

static const struct table_column pressure_columns[] = {
    PRESSURE(TRACE_PRESSURE_THROTTLED, "throttled", "Stops", TABLE_COUNT, TABLE_COUNT),
    PRESSURE(TRACE_PRESSURE_THROTTLED_NS, "throttled_ns", "Throttled (%)", TABLE_SHARE, TABLE_NS),
    PRESSURE(TRACE_PRESSURE_CPU_NS, "cpu_pressure_ns", "CPU pressure (%)", TABLE_SHARE, TABLE_NS),
    PRESSURE(TRACE_PRESSURE_MEMORY_NS, "memory_pressure_ns", "Memory pressure (%)", TABLE_SHARE, TABLE_NS),
    PRESSURE(TRACE_PRESSURE_IO_NS, "io_pressure_ns", "I/O pressure (%)", TABLE_SHARE, TABLE_NS),
    PRESSURE(TRACE_PRESSURE_LIMIT, "memory_limit_hits", "Limit hits", TABLE_COUNT, TABLE_COUNT),
    PRESSURE(TRACE_PRESSURE_KILLED, "oom_kills", "OOM kills", TABLE_COUNT, TABLE_COUNT),
};

static const struct table_column after_rates[] = {
    { "most", "Mostly in", TABLE_TEXT, LINE(most), .when = IN_TEXT },
    { "counted_share", "counted_share", TABLE_SHARE, LINE(counted), .when = IN_DATA },
    { "time_share", "time_share", TABLE_SHARE, LINE(share), .when = IN_DATA },
    { "steps", "steps", TABLE_COUNT, LINE(steps), .when = IN_DATA },
    { "times", "times", TABLE_COUNT, LINE(times), .when = IN_DATA },
    { "class", "class", TABLE_TEXT, LINE(class_name), .when = IN_DATA },
    { "method", "method", TABLE_TEXT, LINE(method), .when = IN_DATA },
    { "descriptor", "descriptor", TABLE_TEXT, LINE(descriptor), .when = IN_DATA },
};

static double length_ns(const struct timeline_making *m, uint32_t step)
{
    return timeline_start_ns(m->timeline, step + 1) - timeline_start_ns(m->timeline, step);
}

static double pressure_of(const struct timeline_making *m, uint32_t step, int kind)
{
    double value = (double)m->pressure[(size_t)step * TRACE_PRESSURES + (size_t)kind];
    return m->is_text && trace_pressure_is_time(kind) ? value / fmax(length_ns(m, step), 1) : value;
}

static void add_pressure(const struct timeline_making *m, uint32_t step, struct timeline_line *line)
{
    for (int i = 0; m->pressure != NULL && i < TRACE_PRESSURES; i++)
        line->pressure[i] = table_number(pressure_of(m, step, i));
}

/* In text, what was at least a hundredth of some step; not what others than the program waited for. */
static unsigned pressure_conditions(const struct timeline_making *m)
{
    const char *of = info_text(m->source->reader, INFO_PRESSURE_OF);
    bool is_group = of != NULL && strcmp(of, "group") == 0;
    unsigned conditions = m->is_text ? 0 : HAS_PRESSURE << TRACE_PRESSURES;
    for (uint32_t step = 0; m->is_text && step < timeline_n_steps(m->timeline); step++)
        for (int i = 0; i < TRACE_PRESSURES; i++)
            if (pressure_of(m, step, i) >= 0.01 && (is_group || i < TRACE_PRESSURE_CPU_NS || i > TRACE_PRESSURE_IO_NS))
                conditions |= (unsigned)PRESSURE_SHOWN(i);
    return conditions;
}

static void add_columns(const struct timeline_making *m)
{
    const struct call_metrics *rates = &m->read->rates;
    unsigned conditions = (m->is_text ? IN_TEXT : IN_DATA) |
                          (trace_n_collections(m->source->reader) > 0 ? HAS_COLLECTIONS : 0) |
                          (m->has_faults ? HAS_FAULTS : 0);
    TABLE_COLUMNS(m->table, before_rates, conditions);
    if (m->pressure != NULL)
        TABLE_COLUMNS(m->table, pressure_columns, pressure_conditions(m));
    for (size_t i = 0; i < rates->options.n_metrics; i++) {
        const struct table_column rate = { rates->of[i].key, rates->of[i].name, rates->of[i].format, LINE(rates[i]),
                                           .detail = strcmp(rates->of[i].key, "cpi") != 0 ? 1 : 0 };
        if (!rates->options.metrics[i].is_time)
            table_columns(m->table, &rate, 1, 0);
    }
    for (size_t i = 0; i < m->n_events; i++) {
        const struct table_column event = { m->events[i].name, m->events[i].name, TABLE_COUNT, LINE(events[i]),
                                            .when = IN_DATA };
        table_columns(m->table, &event, 1, conditions);
    }
    TABLE_COLUMNS(m->table, after_rates, conditions);
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

static void add_busy(const struct timeline_making *m, uint32_t step, struct timeline_line *line)
{
    for (size_t i = 0; i < BUSY; i++) {
        double ns = 0;
        for (enum vm_part p = busy[i].first; p <= busy[i].last; p++)
            ns += timeline_ns(m->timeline, timeline_cell(m->timeline, p, step).cpu_ticks);
        line->busy[i] = table_quotient(ns, length_ns(m, step));
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
static void add_kernel(const struct timeline_making *m, uint32_t step, struct timeline_line *line)
{
    double runnable = 0, faults = 0, switches = 0;
    for (enum vm_part p = 0; p < VM_PARTS; p++) {
        struct timeline_cell cell = timeline_cell(m->timeline, p, step);
        runnable += timeline_ns(m->timeline, cell.runnable_ticks);
        faults += (double)metric_of(m, &cell, CALLTREE_FAULTS);
        switches += (double)metric_of(m, &cell, CALLTREE_SWITCHES);
    }
    if (m->has_faults)
        line->faults = table_number(faults);
    if (m->source->tree->cpu_is_wall)
        return;
    line->runnable = table_quotient(runnable, length_ns(m, step));
    line->switches = table_number(switches);
}

static void add_text_row(struct timeline_making *m, uint32_t step)
{
    struct timeline_line line = { .start = table_words(start_words(m, step)),
                                  .region = table_number(m->read->regions.of_step[step]),
                                  .gcs = table_number(count_collections(m, step)),
                                  .most = table_words(most_of(m, step)) };
    add_busy(m, step, &line);
    add_pressure(m, step, &line);
    add_kernel(m, step, &line);
    for (size_t i = 0; i < m->read->rates.options.n_metrics; i++)
        if (!m->read->rates.options.metrics[i].is_time)
            line.rates[i] = table_number(timeline_rate(m->read, i, VM_PART_APPLICATION, step));
    table_add(m->table, "step", &line);
}

/* ---- the steps, as data ---- */

static void add_counts(struct timeline_making *m, const struct timeline_cell *cell, struct timeline_line *line)
{
    size_t n_metrics = timeline_n_metrics(m->timeline);
    double uncounted = (double)metric_of(m, cell, CALLTREE_UNCOUNTED);
    if (m->has_faults)
        line->faults = table_number((double)metric_of(m, cell, CALLTREE_FAULTS));
    if (!m->source->tree->cpu_is_wall) {
        line->runnable = ns_cell(m, cell->runnable_ticks);
        line->switches = table_number((double)metric_of(m, cell, CALLTREE_SWITCHES));
    }
    for (size_t i = 0; i < m->read->rates.options.n_metrics; i++)
        if (!m->read->rates.options.metrics[i].is_time)
            line->rates[i] = table_number(timeline_rate_of(m->read, i, cell->metrics, n_metrics));
    for (size_t i = 0; i < m->n_events; i++) {
        size_t metric = (size_t)CALLTREE_COUNTERS + m->events[i].recorded[0].column;
        if (metric < n_metrics)
            line->events[i] = table_number((double)cell->metrics[metric]);
    }
    if (n_metrics > CALLTREE_COUNTERS)
        line->counted = table_quotient((double)cell->cpu_ticks - uncounted, (double)cell->cpu_ticks);
}

static void add_data_row(struct timeline_making *m, enum vm_part part, uint32_t step)
{
    struct timeline_cell cell = timeline_cell(m->timeline, part, step);
    struct timeline_line line = { .start = table_number(timeline_start_ns(m->timeline, step)),
                                  .end = table_number(timeline_start_ns(m->timeline, step + 1)),
                                  .region = table_number(m->read->regions.of_step[step]),
                                  .label = table_words(vm_part_name(part)),
                                  .cpu = ns_cell(m, cell.cpu_ticks) };
    add_counts(m, &cell, &line);
    table_add(m->table, vm_part_key(part), &line);
}

/* What held the program's control groups back in a step. */
static void add_group_row(struct timeline_making *m, uint32_t step)
{
    struct timeline_line line = { .start = table_number(timeline_start_ns(m->timeline, step)),
                                  .end = table_number(timeline_start_ns(m->timeline, step + 1)),
                                  .label = table_words("control group") };
    add_pressure(m, step, &line);
    table_add(m->table, "group", &line);
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
    struct timeline_line line = { .region = table_number(number),
                                  .label = table_words(region_words(m, number)),
                                  .cpu = ns_cell(m, region->cpu_ticks),
                                  .share = table_quotient((double)region->cpu_ticks, all_ticks(m)),
                                  .steps = table_number(region->n_steps),
                                  .times = table_number(region->n_times) };
    add_counts(m, &sum, &line);
    table_add(m->table, "region", &line);
}

/* "CPI 1.234, " */
static const char *cpi_words(const struct timeline_making *m, uint32_t number)
{
    struct timeline_cell sum = sum_region(m, number);
    const struct call_metrics *rates = &m->read->rates;
    for (size_t i = 0; i < rates->options.n_metrics; i++) {
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
        const char *line = arena_printf(arena, "region %-2u %s of the time, %u %s%s: %s", r,
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
    struct method_name name = report_name(m->source, of->total->method);
    const struct timeline_line line = { .region = table_number(m->read->regions.of_row[row]),
                                        .label = table_words(row_label(m, row)),
                                        .cpu = table_number(of->self_ticks * m->source->tree->ns_per_tick),
                                        .class_name = table_words(name.class_name),
                                        .method = table_words(name.method),
                                        .descriptor = table_words(name.descriptor) };
    table_add(m->table, sampled_alone(m->source, of->total) ? "sampled" : "phase", &line);
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
        if (!m->is_text && m->pressure != NULL)
            add_group_row(m, step);
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
    m.pressure = read->pressure == NULL ? NULL : throttled_spread(read->pressure, read->timeline, source->arena);
    if (is_text)
        say_regions(&m);
    add_columns(&m);
    add_rows(&m);
    add_notes(&m);
    report_losses(source, table);
}
