/*
 * The report's columns, and what stands in them: the only place that divides.
 */
#include "phases/tree/timeline.h"
#include "report/sampled_shapes.h"
#include "report/view/report_internal.h"

#include "report/view/allocated.h"

bool report_is_tiny(const struct making *making, const struct values *v)
{
    double ticks = v->time_ticks < 0 ? v->self_ticks : v->time_ticks;
    return ticks < REPORT_TINY_SHARE * (double)making->shares.all_ticks;
}

bool report_is_hardware(const struct event_column *event)
{
    return event->role == EVENT_CYCLES || event->role == EVENT_INSTRUCTIONS || event->role == EVENT_MISSES ||
           event->role == EVENT_COUNT;
}

static bool was_asked(const struct making *making, enum event_role role)
{
    for (size_t i = 0; i < making->n_events; i++)
        if (making->events[i].role == role)
            return true;
    return false;
}

/* Unlike switches, faults are only recorded when they are asked for. */
static bool faults_are_measured(const struct making *making)
{
    for (size_t i = 0; i < making->n_events; i++)
        if (making->events[i].role == EVENT_FAULTS && making->events[i].why[0] == '\0')
            return true;
    return false;
}

static size_t hidden(struct table *table, bool is_hidden, size_t column)
{
    table->columns[column].not_in_text = is_hidden;
    return column;
}

/* In text that gets too wide, in this order. */
enum { DETAIL_PROBES = 1, DETAIL_WAITS = REPORT_DETAILS_WIDE, DETAIL_RATES };

static size_t detail(struct table *t, uint32_t number, size_t column)
{
    t->columns[column].detail = number;
    return column;
}

static void add_event_columns(struct making *making)
{
    struct table *t = making->table;
    struct arena *arena = making->source->arena;
    for (size_t i = 0; i < making->n_events; i++) {
        const struct event_column *event = &making->events[i];
        if (event->role != EVENT_MISSES)
            continue;
        const char *key = arena_printf(arena, "%s_per_1000_instructions", event->name);
        /* Without any hardware event, empty columns would only push the rest off the screen: a note names them. */
        bool is_estimate = report_is_of_sets(making->source, event->name);
        const char *heading = is_estimate ? arena_printf(arena, "~%s", event->heading) : event->heading;
        making->at.rates[i] = hidden(t, !making->has_hardware, table_column(t, heading, key, TABLE_RATE));
        t->columns[making->at.rates[i]].detail = DETAIL_RATES;
        t->columns[making->at.rates[i]].is_told = event->why[0] != '\0';
    }
}

/* Two columns: the ends of an interval.  Returns the first one. */
static size_t add_interval(struct making *making, const char *key, enum table_unit unit)
{
    struct table *t = making->table;
    struct arena *arena = making->source->arena;
    size_t low = hidden(t, true, table_column(t, "low", arena_printf(arena, "%s_low", key), unit));
    hidden(t, true, table_column(t, "high", arena_printf(arena, "%s_high", key), unit));
    return low;
}

/* Groups that take turns: the intervals of what else are numbers. */
static void add_interval_columns(struct making *making)
{
    struct table *t = making->table;
    struct arena *arena = making->source->arena;
    making->at.cpi_low = add_interval(making, "cpi", TABLE_RATIO);
    for (size_t i = 0; i < making->n_events; i++) {
        const struct event_column *event = &making->events[i];
        if (!report_is_hardware(event) || event->n_recorded == 0)
            continue;
        if (event->role == EVENT_MISSES)
            making->at.rates_low[i] =
                add_interval(making, arena_printf(arena, "%s_per_1000_instructions", event->name), TABLE_RATE);
        making->at.raw_low[i] = add_interval(making, event->name, TABLE_COUNT);
        making->at.scaling[i] =
            hidden(t, true, table_column(t, "scaling", arena_printf(arena, "%s_scaling", event->name), TABLE_SHARE));
    }
}

static void add_raw_columns(struct making *making)
{
    struct table *t = making->table;
    for (size_t i = 0; i < making->n_events; i++)
        if (report_is_hardware(&making->events[i])) {
            bool is_total = making->events[i].role == EVENT_COUNT;
            const char *name = making->events[i].name, *heading = is_total ? making->events[i].heading : name;
            making->at.raw[i] = hidden(t, !is_total, table_column(t, heading, name, TABLE_COUNT));
        }
    if (making->take_turns)
        add_interval_columns(making);
    if (making->has_hardware)
        making->at.counted = hidden(t, true, table_column(t, "Counted", "counted_share", TABLE_SHARE));
    making->at.time_ns = hidden(t, true, table_column(t, "Total", "total_ns", TABLE_NS));
    making->at.self_ns = hidden(t, true, table_column(t, "Self", "self_ns", TABLE_NS));
    making->at.recorded_share = hidden(t, true, table_column(t, "Recorded", "recorded_share", TABLE_SHARE));
    making->at.unwinds = hidden(t, true, table_column(t, "Thrown", "unwinds", TABLE_COUNT));
    making->at.open_calls = hidden(t, true, table_column(t, "Open", "open_calls", TABLE_COUNT));
    if (making->options->calls != NULL) {
        making->at.p50 = hidden(t, true, table_column(t, "p50", "p50_ns", TABLE_NS));
        making->at.p99 = hidden(t, true, table_column(t, "p99", "p99_ns", TABLE_NS));
        making->at.longest = table_column(t, "Longest", "max_ns", TABLE_NS);
        t->columns[making->at.longest].width = COLUMN_WIDE;
    }
    if (making->folds != NULL)
        making->at.folded = hidden(t, true, table_column(t, "Folded", "folded", TABLE_TEXT));
    making->at.class_name = hidden(t, true, table_column(t, "Class", "class", TABLE_TEXT));
    making->at.method = hidden(t, true, table_column(t, "Name", "method", TABLE_TEXT));
    making->at.descriptor = hidden(t, true, table_column(t, "Descriptor", "descriptor", TABLE_TEXT));
    if (making->source->shapes != NULL || making->shapes != NULL)
        making->at.shape = hidden(t, true, table_column(t, "Shape", "jit_shape", TABLE_TEXT));
}

void report_columns(struct making *making)
{
    struct table *t = making->table;
    t->details[DETAIL_PROBES - 1] = "How long each was recorded, and why others have no probes";
    t->details[DETAIL_WAITS - 1] = "Time off the CPU, page faults, context switches and bytes allocated";
    t->details[DETAIL_RATES - 1] = "Per 1,000 instructions";
    struct layout *at = &making->at;
    bool no_cpi = !was_asked(making, EVENT_CYCLES) && !was_asked(making, EVENT_INSTRUCTIONS);
    at->label = table_column(t, "Phase", "label", TABLE_TEXT);
    at->time = table_column(t, "Time (%)", "time_share", TABLE_SHARE);
    at->self = table_column(t, "Self (%)", "self_share", TABLE_SHARE);
    if (making->options->region_of != NULL)
        at->region = table_column(t, "Region", "region", TABLE_COUNT);
    at->recorded = detail(t, DETAIL_PROBES, table_column(t, "Recorded", "recorded_ns", TABLE_NS));
    hidden(t, !making->is_partly, at->recorded);
    if (making->source->sampled != NULL)
        at->known_by = table_column(t, "Known by", "known_by", TABLE_TEXT);
    at->calls = table_column(t, "Calls", "calls", TABLE_COUNT);
    at->per_call = table_column(t, "Time/call", "ns_per_call", TABLE_NS);
    at->cpi =
        hidden(t, no_cpi, table_column(t, report_samples_sets(making->source) ? "~CPI" : "CPI", "cpi", TABLE_RATIO));
    t->columns[at->cpi].is_told = !making->has_hardware;
    add_event_columns(making);
    bool no_off = making->source->tree->cpu_is_wall;
    at->off_cpu = detail(t, DETAIL_WAITS, table_column(t, "Off-CPU/call", "off_cpu_ns_per_call", TABLE_NS));
    hidden(t, no_off, at->off_cpu);
    bool no_faults = no_off || !faults_are_measured(making);
    bool no_switches = no_off || (making->has_hardware && !was_asked(making, EVENT_SWITCHES));
    at->faults = detail(t, DETAIL_WAITS, table_column(t, "Faults/s", "page_faults_per_cpu_s", TABLE_RATE));
    hidden(t, no_faults, at->faults);
    at->switches = detail(t, DETAIL_WAITS, table_column(t, "Switches/s", "switches_per_cpu_s", TABLE_RATE));
    hidden(t, no_switches, at->switches);
    if (making->source->allocated != NULL)
        at->allocated = detail(t, DETAIL_WAITS, table_column(t, "Alloc/s", "allocated_bytes_per_s", TABLE_BYTES));
    if (making->source->sampled != NULL) {
        at->reason = detail(t, DETAIL_PROBES, table_column(t, "No probes because", "reason", TABLE_TEXT));
        at->time_error = hidden(t, true, table_column(t, "Error", "time_share_error", TABLE_SHARE));
        at->self_error = hidden(t, true, table_column(t, "Error", "self_share_error", TABLE_SHARE));
    }
    add_raw_columns(making);
}

/* ---- cells ---- */

static struct table_cell not_applicable(void)
{
    return (struct table_cell){ .value = TABLE_NOT_APPLICABLE };
}

/* Negative numerators are not known. */
static struct table_cell ratio(double numerator, double denominator)
{
    return numerator < 0 || denominator <= 0 ? table_unmeasured() : table_number(numerator / denominator);
}

/* A row's ticks, of all that ran while it was recorded; where samples tell of the rest, of all. */
static struct table_cell share(const struct making *making, const struct values *v, double ticks)
{
    bool is_of_window = v->id.kind == ROW_PHASE && making->source->sampled == NULL;
    double all = (double)making->shares.all_ticks * (is_of_window ? v->recorded.share : 1);
    return ticks == REPORT_NO_TICKS ? not_applicable() : table_quotient(ticks, all);
}

static void fill_recorded(const struct making *making, const struct values *v, struct table_cell *cells)
{
    const struct report_source *source = making->source;
    bool is_phase = v->id.kind == ROW_PHASE;
    uint64_t ticks = is_phase ? v->recorded.ticks : source->tree->end_ticks - source->tree->start_ticks;
    struct table_cell *cell = &cells[making->at.recorded];
    if (v->id.kind == ROW_OF_TIME)
        *cell = not_applicable();
    else if (v->id.kind != ROW_SAMPLED)
        *cell = table_number(report_ns(source, ticks));
    if (is_phase)
        cell->words = report_recorded_text(source, &v->recorded);
    cells[making->at.recorded_share] = table_number(is_phase ? v->recorded.share : v->id.kind == ROW_SAMPLED ? 0 : 1);
}

/* A rate, and in text how far it may be off. */
static struct table_cell rate_cell(const struct making *making, double rate, double half, enum table_unit unit)
{
    struct table_cell cell = rate < 0 || half < 0 ? table_unmeasured() : table_number(rate);
    char text[64];
    if (!making->take_turns || cell.value != TABLE_NUMBER || (half == 0 && unit == TABLE_RATIO))
        return cell;
    table_format(&cell, unit, text, sizeof text);
    int n_decimals = unit == TABLE_RATIO ? 3 : half < 9.995 ? 2 : half < 99.95 ? 1 : 0;
    cell.words = arena_printf(making->source->arena, "%s \xc2\xb1%.*f", text, n_decimals, half);
    return cell;
}

static void interval_cells(double middle, double half, struct table_cell *cells)
{
    if (middle < 0 || half < 0)
        return;
    cells[0] = table_number(middle > half ? middle - half : 0);
    cells[1] = table_number(middle + half);
}

/* What a row says of an event, and of how much of its time. */
struct known_value {
    struct event_estimate estimates[EVENT_COLUMNS_MAX]; /* by the report's events */
    double counted;                                     /* of the row's time, in the first trace */
};

static void fill_event(const struct making *making, const struct known_value *known, size_t i, struct table_cell *cells)
{
    const struct layout *at = &making->at;
    const struct event_column *event = &making->events[i];
    const struct event_estimate *e = &known->estimates[i];
    bool is_cycles = making->origins[i].trace == 0 && &making->own[making->origins[i].event] == making->cycles;
    bool is_whole = known->counted >= 1 - REPORT_UNCOUNTED_MAX;
    double count = e->count < 0 || known->counted < 1 - REPORT_SCALED_MAX ? -1
                   : is_whole                                             ? e->count
                                                                          : e->count / known->counted;
    double per_1000 = e->rate < 0 ? -1 : e->count * 1000 / e->instructions;
    cells[at->raw[i]] = count < 0 ? table_unmeasured() : table_number(count);
    if (event->role == EVENT_MISSES)
        cells[at->rates[i]] = rate_cell(making, per_1000, e->half * 1000, TABLE_RATE);
    if (is_cycles)
        cells[at->cpi] = rate_cell(making, e->rate, e->half, TABLE_RATIO);
    if (!making->take_turns || event->n_recorded == 0)
        return;
    if (e->share > 0)
        cells[at->scaling[i]] = table_number(e->share);
    if (is_cycles)
        interval_cells(e->rate, e->half, &cells[at->cpi_low]);
    if (event->role == EVENT_MISSES)
        interval_cells(per_1000, e->half * 1000, &cells[at->rates_low[i]]);
    interval_cells(count, e->rate > 0 ? e->half / e->rate * count : e->half, &cells[at->raw_low[i]]);
}

/* Events of a joined trace: their rates; and of counts what the rates make of the first one's instructions. */
static void join_estimates(const struct making *making, size_t trace, struct row_id id, double instructions,
                           struct known_value *known)
{
    const struct making *other = &making->others[trace - 1];
    struct event_estimate theirs[EVENT_COLUMNS_MAX];
    bool has = report_estimates(other, id, theirs);
    for (size_t i = 0; i < making->n_events; i++) {
        if (making->origins[i].trace != trace)
            continue;
        struct event_estimate *e = &known->estimates[i];
        *e = has ? theirs[making->origins[i].event] : (struct event_estimate){ .rate = -1, .half = -1, .count = -1 };
        e->count = e->rate < 0 ? -1 : instructions > 0 ? e->rate * instructions : e->count;
        e->instructions = instructions > 0 ? instructions : e->instructions;
    }
}

static void know(const struct making *making, struct row_id id, struct known_value *known)
{
    struct event_estimate own[EVENT_COLUMNS_MAX];
    bool has = report_estimates(making, id, own);
    const struct event_estimate none = { .rate = -1, .half = -1, .count = -1 };
    double instructions = has && making->instructions != NULL ? own[making->instructions - making->own].count : 0;
    for (size_t i = 0; i < making->n_events; i++)
        known->estimates[i] = has && making->origins[i].trace == 0 ? own[making->origins[i].event] : none;
    for (size_t t = 1; t <= making->n_others; t++)
        join_estimates(making, t, id, instructions, known);
    known->counted = report_counted(making, id);
}

static void fill_events(struct making *making, const struct values *v, struct table_cell *cells)
{
    struct known_value known;
    bool are_too_few = false;
    if (!making->has_counts || v->id.kind == ROW_OF_TIME || v->id.kind == ROW_SAMPLED)
        return;
    know(making, v->id, &known);
    if (known.counted < 0 || (v->id.kind == ROW_PHASE && v->metrics == NULL))
        return;
    if (making->has_hardware)
        cells[making->at.counted] = table_number(known.counted);
    for (size_t i = 0; i < making->n_events; i++)
        if (report_is_hardware(&making->events[i])) {
            const struct event_estimate *e = &known.estimates[i];
            fill_event(making, &known, i, cells);
            are_too_few = are_too_few || (e->rate >= 0 && e->half < 0) ||
                          ((making->take_turns || making->origins[i].trace > 0) && making->events[i].n_recorded > 0 &&
                           e->share == 0);
        }
    struct arena *arena = making->source->arena;
    if (are_too_few && !report_is_tiny(making, v))
        making->too_few = making->too_few == NULL ? v->label : arena_printf(arena, "%s, %s", making->too_few, v->label);
}

static void fill_kernel(const struct making *making, const struct values *v, struct table_cell *cells)
{
    double cpu_s = v->cpu_ticks * making->source->tree->ns_per_tick / 1e9;
    bool is_known = v->metrics != NULL;
    bool has_faults = is_known && faults_are_measured(making);
    cells[making->at.faults] = ratio(has_faults ? (double)v->metrics[CALLTREE_FAULTS] : -1, cpu_s);
    cells[making->at.switches] = ratio(is_known ? (double)v->metrics[CALLTREE_SWITCHES] : -1, cpu_s);
}

static void fill_allocated(const struct making *making, const struct values *v, struct table_cell *cells)
{
    const struct allocated *allocated = making->source->allocated;
    if (allocated != NULL && v->id.kind == ROW_TOTAL)
        cells[making->at.allocated] = table_number(allocated_all_per_s(allocated));
    else if (allocated != NULL && v->name.method != NULL)
        cells[making->at.allocated] = table_number(allocated_per_s(allocated, &v->name));
}

/*
 * By what the JVM told, or else by samples, of a method (CALLTREE_NONE: not one of a phase).  Returns false: it is not
 * known.
 */
static bool find_shape(const struct making *making, const struct method_name *name, uint32_t method,
                       struct jit_shape *shape)
{
    if (making->source->shapes != NULL)
        return jit_shapes_find(making->source->shapes, name->class_name, name->method, name->descriptor, shape);
    return method != CALLTREE_NONE && sampled_shapes_of(making->shapes, method, shape);
}

static void add_shaped(struct making *making, const char *label, const char *words)
{
    struct arena *arena = making->source->arena;
    const char *more = making->shaped == NULL ? arena_printf(arena, "%s (%s)", label, words)
                                              : arena_printf(arena, "%s; %s (%s)", making->shaped, label, words);
    making->shaped = more == NULL ? making->shaped : more;
}

/* What the probes did to its compiled code, where the trace tells. */
static void fill_shape(struct making *making, const struct values *v, struct table_cell *cells)
{
    struct arena *arena = making->source->arena;
    struct jit_shape shape;
    char text[JIT_SHAPE_TEXT_BYTES];
    uint32_t method = v->id.kind == ROW_PHASE ? making->rows[v->id.index]->method : CALLTREE_NONE;
    if (!find_shape(making, &v->name, method, &shape))
        return;
    jit_shape_text(&shape, text, sizeof text);
    const char *words = arena_printf(arena, "%s", text);
    cells[making->at.shape] = table_words(words == NULL ? "" : words);
    if (shape.marks != 0)
        add_shaped(making, v->label, words);
}

void report_folded_shapes(struct making *making)
{
    const struct report_source *source = making->source;
    const char **labels = report_labels(source, making->folded, making->n_all_folded);
    char text[JIT_SHAPE_TEXT_BYTES];
    struct jit_shape shape;
    for (size_t i = 0; i < making->n_all_folded; i++) {
        const struct method_name name = report_name(source, making->folded[i]);
        if (!find_shape(making, &name, making->folded[i], &shape) || shape.marks == 0)
            continue;
        jit_shape_text(&shape, text, sizeof text);
        add_shaped(making, labels[i], text);
    }
}

/* Where most of its own time is (thesis Figure 1.2). */
static void fill_region(const struct making *making, const struct values *v, struct table_cell *cells)
{
    const struct report_row_options *o = making->options;
    bool is_method = v->name.method != NULL, is_collector = v->id.kind == ROW_PART && v->id.index == VM_PART_GC;
    uint32_t region = is_method      ? o->region_of[making->rows[v->id.index]->method]
                      : is_collector ? o->collector_region
                                     : TIMELINE_IDLE;
    cells[making->at.region] = region != TIMELINE_IDLE ? table_number(region)
                               : is_method             ? table_unmeasured()
                                                       : not_applicable();
}

static void fill_calls(const struct making *making, const struct values *v, struct table_cell *cells)
{
    const struct layout *at = &making->at;
    double ns = making->source->tree->ns_per_tick;
    bool is_called = v->calls >= 0 && v->time_ticks >= 0;
    double ticks = making->source->clock == PHASES_CPU ? v->whole.cpu_ticks : v->whole.wall_ticks;
    double off_ticks = v->off_cpu_ticks < 0 ? -1 : v->whole.wall_ticks - v->whole.cpu_ticks;
    cells[at->calls] = v->calls < 0 ? not_applicable() : table_number(v->calls);
    cells[at->per_call] = is_called ? ratio(ticks * ns, v->whole.calls) : not_applicable();
    cells[at->off_cpu] = is_called ? ratio(off_ticks * ns, v->whole.calls) : not_applicable();
}

/* Of the phase's calls, on the report's clock. */
static void fill_quantiles(const struct making *making, size_t row, struct table_cell *cells)
{
    const struct statistics *calls = making->options->calls;
    double ns = making->source->tree->ns_per_tick;
    uint32_t method = making->rows[row]->method;
    if (calls == NULL)
        return;
    cells[making->at.p50] = table_number(statistics_quantile(calls, method, 0.5) * ns);
    cells[making->at.p99] = table_number(statistics_quantile(calls, method, 0.99) * ns);
    cells[making->at.longest] = table_number(statistics_longest(calls, method) * ns);
}

static void fill_row(struct making *making, const struct values *v, struct table_cell *cells)
{
    const struct layout *at = &making->at;
    double ns = making->source->tree->ns_per_tick;
    cells[at->label] = table_words(v->label);
    cells[at->time] = share(making, v, v->time_ticks);
    cells[at->self] = table_quotient(v->self_ticks, (double)making->shares.all_ticks); /* so that they add up */
    fill_recorded(making, v, cells);
    if (v->id.kind != ROW_SAMPLED)
        fill_calls(making, v, cells);
    fill_events(making, v, cells);
    fill_kernel(making, v, cells);
    fill_allocated(making, v, cells);
    cells[at->time_ns] = v->time_ticks == REPORT_NO_TICKS ? not_applicable() : table_number(v->time_ticks * ns);
    cells[at->self_ns] = v->self_ticks == REPORT_NO_TICKS ? not_applicable() : table_number(v->self_ticks * ns);
    if (making->source->sampled != NULL) {
        cells[at->known_by] = table_words(v->id.kind == ROW_TOTAL ? "" : "kernel");
        cells[at->reason] = table_words("");
        cells[at->time_error] = cells[at->self_error] = not_applicable();
    }
    if (making->options->region_of != NULL)
        fill_region(making, v, cells);
    if (v->name.method == NULL)
        return;
    if (v->id.kind == ROW_PHASE) {
        cells[at->unwinds] = table_number(v->unwinds);
        cells[at->open_calls] = table_number(v->n_open);
        fill_quantiles(making, v->id.index, cells);
    }
    if (making->folds != NULL) {
        const char *names = making->folds[making->rows[v->id.index]->method].names;
        cells[at->folded] = table_words(names == NULL ? "" : names);
    }
    cells[at->class_name] = table_words(v->name.class_name);
    cells[at->method] = table_words(v->name.method);
    cells[at->descriptor] = table_words(v->name.descriptor);
    fill_shape(making, v, cells);
}

void report_row(struct making *making, const struct values *v, bool after_rule)
{
    struct table_cell *cells = table_row(making->table, v->kind);
    if (cells == NULL)
        return;
    fill_row(making, v, cells);
    making->table->rows[making->table->n_rows - 1].after_rule = after_rule;
}
