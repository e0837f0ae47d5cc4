/* The report's columns, and what stands in them: the only place that divides. */
#include "phases/tree/timeline.h"
#include "report/sampled_parts.h"
#include "report/view/report_internal.h"

#include "report/view/allocation_rows.h"
#include "report/view/throttled.h"
#include "report/view/waits.h"

bool report_is_tiny(const struct making *making, const struct values *v)
{
    double ticks = v->time_ticks < 0 ? v->self_ticks : v->time_ticks;
    return ticks < REPORT_TINY_SHARE * (double)making->shares.all_ticks;
}

bool report_is_hardware(const struct event_column *event)
{
    return event->role == EVENT_CYCLES || event->role == EVENT_INSTRUCTIONS || event->role == EVENT_MISSES ||
           event->role == EVENT_SLOTS || event->role == EVENT_COUNT;
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

/* In text that gets too wide, in this order. */
enum { DETAIL_PROBES = 1, DETAIL_WAITS = REPORT_DETAILS_WIDE, DETAIL_RATES, DETAIL_SLOTS };

/* What a column depends on. */
enum {
    WITH_REGIONS = 1,
    WITH_SAMPLES = 2,
    WITH_ALLOCATED = 4,
    WITH_HARDWARE = 8,
    WITH_CALLS = 16,
    WITH_FOLDS = 32,
    WITH_SHAPES = 64,
    IS_PARTLY = 128,
    SHOWS_OFF = 256,
    SHOWS_FAULTS = 512,
    SHOWS_SWITCHES = 1024,
    SHOWS_REASONS = 2048,
    WITH_THROTTLED = 4096,
};

#define LINE(member) FROM(struct report_line, member)

static const struct table_column before_events[] = {
    { "label", "Phase", TABLE_TEXT, LINE(label) },
    { "time_share", "Time (%)", TABLE_SHARE, LINE(time) },
    { "self_share", "Self (%)", TABLE_SHARE, LINE(self) },
    { "region", "Region", TABLE_COUNT, LINE(region), .when = WITH_REGIONS },
    { "recorded_ns", "Recorded", TABLE_NS, LINE(recorded), .text_when = IS_PARTLY, .detail = DETAIL_PROBES },
    { "known_by", "Known by", TABLE_TEXT, LINE(known_by), .when = WITH_SAMPLES },
    { "calls", "Calls", TABLE_COUNT, LINE(calls) },
    { "ns_per_call", "Time/call", TABLE_NS, LINE(per_call) },
};

static const struct table_column after_rates[] = {
    { "off_cpu_ns_per_call", "Off-CPU/call", TABLE_NS, LINE(off_cpu), .text_when = SHOWS_OFF, .detail = DETAIL_WAITS },
    { "throttled_share", "Throttled (%)", TABLE_SHARE, LINE(throttled), .when = WITH_THROTTLED },
    { "page_faults_per_cpu_s", "Faults/s", TABLE_RATE, LINE(faults), .text_when = SHOWS_FAULTS,
      .detail = DETAIL_WAITS },
    { "switches_per_cpu_s", "Switches/s", TABLE_RATE, LINE(switches), .text_when = SHOWS_SWITCHES,
      .detail = DETAIL_WAITS },
    { "allocated_bytes_per_s", "Alloc/s", TABLE_BYTES, LINE(allocated), .when = WITH_ALLOCATED,
      .detail = DETAIL_WAITS },
    { "reason", "No probes because", TABLE_TEXT, LINE(reason), .when = WITH_SAMPLES, .text_when = SHOWS_REASONS,
      .detail = DETAIL_PROBES },
    { "time_share_error", "Error", TABLE_SHARE, LINE(time_error), .when = WITH_SAMPLES, .width = COLUMN_DATA },
    { "self_share_error", "Error", TABLE_SHARE, LINE(self_error), .when = WITH_SAMPLES, .width = COLUMN_DATA },
};

static const struct table_column after_events[] = {
    { "counted_share", "Counted", TABLE_SHARE, LINE(counted), .when = WITH_HARDWARE, .width = COLUMN_DATA },
    { "total_ns", "Total", TABLE_NS, LINE(time_ns), .width = COLUMN_DATA },
    { "self_ns", "Self", TABLE_NS, LINE(self_ns), .width = COLUMN_DATA },
    { "throttled_ns", "Throttled", TABLE_NS, LINE(throttled_ns), .when = WITH_THROTTLED, .width = COLUMN_DATA },
    { "recorded_share", "Recorded", TABLE_SHARE, LINE(recorded_share), .width = COLUMN_DATA },
    { "unwinds", "Thrown", TABLE_COUNT, LINE(unwinds), .width = COLUMN_DATA },
    { "open_calls", "Open", TABLE_COUNT, LINE(open_calls), .width = COLUMN_DATA },
    { "p50_ns", "p50", TABLE_NS, LINE(p50), .when = WITH_CALLS, .width = COLUMN_DATA },
    { "p99_ns", "p99", TABLE_NS, LINE(p99), .when = WITH_CALLS, .width = COLUMN_DATA },
    { "max_ns", "Longest", TABLE_NS, LINE(longest), .when = WITH_CALLS, .width = COLUMN_WIDE },
    { "folded", "Folded", TABLE_TEXT, LINE(folded), .when = WITH_FOLDS, .width = COLUMN_DATA },
    { "class", "Class", TABLE_TEXT, LINE(class_name), .width = COLUMN_DATA },
    { "method", "Name", TABLE_TEXT, LINE(method), .width = COLUMN_DATA },
    { "descriptor", "Descriptor", TABLE_TEXT, LINE(descriptor), .width = COLUMN_DATA },
    { "jit_shape", "Shape", TABLE_TEXT, LINE(shape), .when = WITH_SHAPES, .width = COLUMN_DATA },
};

static const char *rate_key(const struct making *making, const struct event_column *event)
{
    return arena_printf(making->source->arena, "%s_per_1000_instructions", event->name);
}

/* Without any hardware event, empty columns would only push the rest off the screen: a note names them. */
static void add_rate_columns(const struct making *making)
{
    struct arena *arena = making->source->arena;
    bool no_cpi = !was_asked(making, EVENT_CYCLES) && !was_asked(making, EVENT_INSTRUCTIONS);
    const char *heading = report_samples_sets(making->source) ? "~CPI" : "CPI";
    const struct table_column cpi = {
        "cpi", heading, TABLE_RATIO, LINE(cpi), .not_in_text = no_cpi, .is_told = !making->has_hardware
    };
    table_columns(making->table, &cpi, 1, 0);
    for (size_t i = 0; i < making->n_events; i++) {
        const struct event_column *event = &making->events[i];
        bool is_estimate = report_is_of_sets(making->source, event->name);
        const struct table_column rate = { rate_key(making, event),
                                           is_estimate ? arena_printf(arena, "~%s", event->heading) : event->heading,
                                           TABLE_RATE,
                                           LINE(rates[i]),
                                           .not_in_text = !making->has_hardware,
                                           .detail = DETAIL_RATES,
                                           .is_told = event->why[0] != '\0' };
        if (event->role == EVENT_MISSES)
            table_columns(making->table, &rate, 1, 0);
    }
}

static const char *const part_headings[TOPDOWN_PARTS] = { "Retiring (%)",    "Bad spec. (%)", "Front end (%)",
                                                          "Back end (%)",    "Memory (%)",    "Core (%)",
                                                          "Other thread (%)" };

static const char *part_key(const struct making *making, enum topdown_part part)
{
    return arena_printf(making->source->arena, "%s_share", topdown_part_names[part]);
}

static bool has_part(const struct making *making, enum topdown_part part)
{
    return making->topdown != NULL &&
           (part != TOPDOWN_OTHER_THREAD || making->topdown->formulas[TOPDOWN_OTHER_THREAD] != NULL);
}

static void add_part_columns(const struct making *making)
{
    bool is_estimate = report_samples_sets(making->source);
    for (enum topdown_part part = 0; part < TOPDOWN_PARTS; part++) {
        const struct table_column column = { part_key(making, part),
                                             arena_printf(making->source->arena, "%s%s", is_estimate ? "~" : "",
                                                          part_headings[part]),
                                             TABLE_SHARE,
                                             LINE(parts[part]),
                                             .not_in_text = !making->has_hardware,
                                             .detail = DETAIL_SLOTS,
                                             .is_told = true };
        if (has_part(making, part))
            table_columns(making->table, &column, 1, 0);
    }
}

/* Two columns: the ends of an interval. */
static void add_ends(const struct making *making, const char *key, enum table_unit unit, struct column_field low,
                     struct column_field high)
{
    struct arena *arena = making->source->arena;
    const struct table_column ends[] = {
        { arena_printf(arena, "%s_low", key), "low", unit, .field = low, .width = COLUMN_DATA },
        { arena_printf(arena, "%s_high", key), "high", unit, .field = high, .width = COLUMN_DATA },
    };
    TABLE_COLUMNS(making->table, ends, 0);
}

#define ENDS(member)                                                 \
    (struct column_field) FIELD_FROM(struct report_line, member[0]), \
        (struct column_field)FIELD_FROM(struct report_line, member[1])

static void add_part_ends(const struct making *making)
{
    for (size_t i = 0; i < TOPDOWN_PARTS; i++)
        if (has_part(making, (enum topdown_part)i))
            add_ends(making, part_key(making, (enum topdown_part)i), TABLE_SHARE, ENDS(parts_ends[i]));
}

/* Groups that take turns: the intervals of what else are numbers. */
static void add_interval_columns(const struct making *making)
{
    add_ends(making, "cpi", TABLE_RATIO, ENDS(cpi_ends));
    add_part_ends(making);
    for (size_t i = 0; i < making->n_events; i++) {
        const struct event_column *event = &making->events[i];
        const struct table_column scaling = { arena_printf(making->source->arena, "%s_scaling", event->name), "scaling",
                                              TABLE_SHARE, LINE(scaling[i]), .width = COLUMN_DATA };
        if (!report_is_hardware(event) || event->n_recorded == 0)
            continue;
        if (event->role == EVENT_MISSES)
            add_ends(making, rate_key(making, event), TABLE_RATE, ENDS(rates_ends[i]));
        add_ends(making, event->name, TABLE_COUNT, ENDS(raw_ends[i]));
        table_columns(making->table, &scaling, 1, 0);
    }
}

static void add_raw_columns(const struct making *making)
{
    for (size_t i = 0; i < making->n_events; i++) {
        const struct event_column *event = &making->events[i];
        bool is_total = event->role == EVENT_COUNT;
        const struct table_column raw = { event->name, is_total ? event->heading : event->name, TABLE_COUNT,
                                          LINE(raw[i]), .not_in_text = !is_total };
        if (report_is_hardware(event))
            table_columns(making->table, &raw, 1, 0);
    }
    if (making->take_turns)
        add_interval_columns(making);
}

void report_columns(struct making *making)
{
    struct table *t = making->table;
    const struct report_source *source = making->source;
    bool shows_off = !source->tree->cpu_is_wall;
    making->shows_faults = shows_off && faults_are_measured(making);
    bool shows_switches = shows_off && (!making->has_hardware || was_asked(making, EVENT_SWITCHES));
    bool has_reasons = source->sampled != NULL && report_find_reasons(making);
    unsigned conditions =
        (making->options->region_of != NULL ? WITH_REGIONS : 0) | (source->sampled != NULL ? WITH_SAMPLES : 0) |
        (source->allocated != NULL ? WITH_ALLOCATED : 0) | (making->has_hardware ? WITH_HARDWARE : 0) |
        (making->options->calls != NULL ? WITH_CALLS : 0) | (making->folds != NULL ? WITH_FOLDS : 0) |
        (source->shapes != NULL || making->shapes != NULL ? WITH_SHAPES : 0) | (making->is_partly ? IS_PARTLY : 0) |
        (shows_off ? SHOWS_OFF : 0) | (making->shows_faults ? SHOWS_FAULTS : 0) |
        (shows_switches ? SHOWS_SWITCHES : 0) | (quota_is_noted(source) ? WITH_THROTTLED : 0) |
        (has_reasons ? SHOWS_REASONS : 0);
    t->details[DETAIL_PROBES - 1] = "How long each was recorded, and why others have no probes";
    t->details[DETAIL_WAITS - 1] = "Time off the CPU, page faults, context switches and bytes allocated";
    t->details[DETAIL_RATES - 1] = "Per 1,000 instructions";
    t->details[DETAIL_SLOTS - 1] = "Top-down: what the processor's slots were used for or lost to";
    TABLE_COLUMNS(t, before_events, conditions);
    add_rate_columns(making);
    add_part_columns(making);
    TABLE_COLUMNS(t, after_rates, conditions);
    add_raw_columns(making);
    TABLE_COLUMNS(t, after_events, conditions);
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

static void fill_recorded(const struct making *making, const struct values *v, struct report_line *line)
{
    const struct report_source *source = making->source;
    bool is_phase = v->id.kind == ROW_PHASE;
    uint64_t ticks = is_phase ? v->recorded.ticks : source->tree->end_ticks - source->tree->start_ticks;
    struct table_cell *cell = &line->recorded;
    if (v->id.kind == ROW_OF_TIME)
        *cell = not_applicable();
    else if (v->id.kind != ROW_SAMPLED)
        *cell = table_number(report_ns(source, ticks));
    if (is_phase)
        cell->words = report_recorded_text(source, &v->recorded);
    line->recorded_share = table_number(is_phase ? v->recorded.share : v->id.kind == ROW_SAMPLED ? 0 : 1);
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

static void interval_cells(double middle, double half, struct table_cell ends[2])
{
    if (middle < 0 || half < 0)
        return;
    ends[0] = table_number(middle > half ? middle - half : 0);
    ends[1] = table_number(middle + half);
}

/* What a row says of an event, and of how much of its time. */
struct known_value {
    struct event_estimate estimates[EVENT_COLUMNS_MAX]; /* by the report's events */
    double counted;                                     /* of the row's time, in the first trace */
};

static void fill_event(const struct making *making, const struct known_value *known, size_t i, struct report_line *line)
{
    const struct event_column *event = &making->events[i];
    const struct event_estimate *e = &known->estimates[i];
    bool is_cycles = making->origins[i].trace == 0 && &making->own[making->origins[i].event] == making->cycles;
    bool is_whole = known->counted >= 1 - REPORT_UNCOUNTED_MAX;
    double count = e->count < 0 || known->counted < 1 - REPORT_SCALED_MAX ? -1
                   : is_whole                                             ? e->count
                                                                          : e->count / known->counted;
    double per_1000 = e->rate < 0 ? -1 : e->count * 1000 / e->instructions;
    line->raw[i] = count < 0 ? table_unmeasured() : table_number(count);
    if (event->role == EVENT_MISSES)
        line->rates[i] = rate_cell(making, per_1000, e->half * 1000, TABLE_RATE);
    if (is_cycles)
        line->cpi = rate_cell(making, e->rate, e->half, TABLE_RATIO);
    if (!making->take_turns || event->n_recorded == 0)
        return;
    if (e->share > 0)
        line->scaling[i] = table_number(e->share);
    if (is_cycles)
        interval_cells(e->rate, e->half, line->cpi_ends);
    if (event->role == EVENT_MISSES)
        interval_cells(per_1000, e->half * 1000, line->rates_ends[i]);
    interval_cells(count, e->rate > 0 ? e->half / e->rate * count : e->half, line->raw_ends[i]);
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

static void fill_parts(const struct making *making, const struct known_value *known, struct report_line *line)
{
    for (enum topdown_part part = 0; making->topdown != NULL && part < TOPDOWN_PARTS; part++) {
        double half, value = report_topdown(making, part, known->estimates, &half);
        line->parts[part] = rate_cell(making, value, half, TABLE_SHARE);
        if (making->take_turns)
            interval_cells(value, half, line->parts_ends[part]);
    }
}

static void fill_events(struct making *making, const struct values *v, struct report_line *line)
{
    struct known_value known;
    bool are_too_few = false;
    if (!making->has_counts || v->id.kind == ROW_OF_TIME || v->id.kind == ROW_SAMPLED)
        return;
    know(making, v->id, &known);
    if (known.counted < 0 || (v->id.kind == ROW_PHASE && v->metrics == NULL))
        return;
    if (making->has_hardware)
        line->counted = table_number(known.counted);
    for (size_t i = 0; i < making->n_events; i++)
        if (report_is_hardware(&making->events[i])) {
            const struct event_estimate *e = &known.estimates[i];
            fill_event(making, &known, i, line);
            are_too_few = are_too_few || (e->rate >= 0 && e->half < 0) ||
                          ((making->take_turns || making->origins[i].trace > 0) && making->events[i].n_recorded > 0 &&
                           e->share == 0);
        }
    fill_parts(making, &known, line);
    struct arena *arena = making->source->arena;
    if (are_too_few && !report_is_tiny(making, v))
        making->too_few = making->too_few == NULL ? v->label : arena_printf(arena, "%s, %s", making->too_few, v->label);
}

static void fill_kernel(const struct making *making, const struct values *v, struct report_line *line)
{
    double cpu_s = v->cpu_ticks * making->source->tree->ns_per_tick / 1e9;
    bool is_known = v->metrics != NULL;
    bool has_faults = is_known && faults_are_measured(making);
    line->faults = ratio(has_faults ? (double)v->metrics[CALLTREE_FAULTS] : -1, cpu_s);
    line->switches = ratio(is_known ? (double)v->metrics[CALLTREE_SWITCHES] : -1, cpu_s);
}

static void fill_allocated(const struct making *making, const struct values *v, struct report_line *line)
{
    const struct allocated *allocated = making->source->allocated;
    if (allocated != NULL && v->id.kind == ROW_TOTAL)
        line->allocated = table_number(allocated_all_per_s(allocated));
    else if (allocated != NULL && v->name.method != NULL)
        line->allocated = table_number(allocated_per_s(allocated, &v->name));
}

static void fill_throttled(const struct making *making, const struct values *v, struct report_line *line)
{
    const struct throttled *of = making->source->throttled;
    bool is_method = v->id.kind == ROW_PHASE || v->id.kind == ROW_SAMPLED;
    if (of == NULL || v->time_ticks < 0 || (!is_method && v->id.kind != ROW_PART))
        return;
    double ticks = is_method ? of->method_ticks[making->rows[v->id.index]->method] : of->part_ticks[v->id.index];
    line->throttled = throttled_cell(making->source, ticks, v->time_ticks);
    line->throttled_ns = table_number(ticks * making->source->tree->ns_per_tick);
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
    making->shaped = more;
}

/* What the probes did to its compiled code, where the trace tells. */
static void fill_shape(struct making *making, const struct values *v, struct report_line *line)
{
    struct arena *arena = making->source->arena;
    struct jit_shape shape;
    char text[JIT_SHAPE_TEXT_BYTES];
    uint32_t method = v->id.kind == ROW_PHASE ? making->rows[v->id.index]->method : CALLTREE_NONE;
    if (!find_shape(making, &v->name, method, &shape))
        return;
    jit_shape_text(&shape, text, sizeof text);
    const char *words = arena_printf(arena, "%s", text);
    line->shape = table_words(words);
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
static void fill_region(const struct making *making, const struct values *v, struct report_line *line)
{
    const struct report_row_options *o = making->options;
    bool is_method = v->name.method != NULL, is_collector = v->id.kind == ROW_PART && v->id.index == VM_PART_GC;
    uint32_t region = is_method      ? o->region_of[making->rows[v->id.index]->method]
                      : is_collector ? o->collector_region
                                     : TIMELINE_IDLE;
    line->region = region != TIMELINE_IDLE ? table_number(region) : is_method ? table_unmeasured() : not_applicable();
}

static void fill_calls(const struct making *making, const struct values *v, struct report_line *line)
{
    double ns = making->source->tree->ns_per_tick;
    bool is_called = v->calls >= 0 && v->time_ticks >= 0;
    double ticks = making->source->clock == PHASES_CPU ? v->whole.cpu_ticks : v->whole.wall_ticks;
    double off_ticks = v->off_cpu_ticks < 0 ? -1 : v->whole.wall_ticks - v->whole.cpu_ticks;
    line->calls = v->calls < 0 ? not_applicable() : table_number(v->calls);
    line->per_call = is_called ? ratio(ticks * ns, v->whole.calls) : not_applicable();
    line->off_cpu = is_called ? ratio(off_ticks * ns, v->whole.calls) : not_applicable();
}

/* Of the phase's calls, on the report's clock. */
static void fill_quantiles(const struct making *making, size_t row, struct report_line *line)
{
    const struct statistics *calls = making->options->calls;
    double ns = making->source->tree->ns_per_tick;
    uint32_t method = making->rows[row]->method;
    if (calls == NULL)
        return;
    line->p50 = table_number(statistics_quantile(calls, method, 0.5) * ns);
    line->p99 = table_number(statistics_quantile(calls, method, 0.99) * ns);
    line->longest = table_number(statistics_longest(calls, method) * ns);
}

static void fill_row(struct making *making, const struct values *v, struct report_line *line)
{
    double ns = making->source->tree->ns_per_tick;
    line->label = table_words(v->label);
    line->time = share(making, v, v->time_ticks);
    line->self = table_quotient(v->self_ticks, (double)making->shares.all_ticks); /* so that they add up */
    fill_recorded(making, v, line);
    if (v->id.kind != ROW_SAMPLED)
        fill_calls(making, v, line);
    fill_events(making, v, line);
    fill_kernel(making, v, line);
    fill_allocated(making, v, line);
    fill_throttled(making, v, line);
    line->time_ns = v->time_ticks == REPORT_NO_TICKS ? not_applicable() : table_number(v->time_ticks * ns);
    line->self_ns = v->self_ticks == REPORT_NO_TICKS ? not_applicable() : table_number(v->self_ticks * ns);
    if (making->source->sampled != NULL) {
        line->known_by = table_words(v->id.kind == ROW_TOTAL ? "" : "kernel");
        line->reason = table_words("");
        line->time_error = line->self_error = not_applicable();
    }
    if (making->source->sampled != NULL && v->name.method != NULL)
        report_fill_known(making, v->id.index, line);
    if (making->options->region_of != NULL)
        fill_region(making, v, line);
    if (v->name.method == NULL)
        return;
    if (v->id.kind == ROW_PHASE) {
        line->unwinds = table_number(v->unwinds);
        line->open_calls = table_number(v->n_open);
        fill_quantiles(making, v->id.index, line);
    }
    if (making->folds != NULL) {
        const char *names = making->folds[making->rows[v->id.index]->method].names;
        line->folded = table_words(names == NULL ? "" : names);
    }
    line->class_name = table_words(v->name.class_name);
    line->method = table_words(v->name.method);
    line->descriptor = table_words(v->name.descriptor);
    fill_shape(making, v, line);
}

void report_row(struct making *making, const struct values *v, bool after_rule)
{
    struct report_line line = { .recorded_share = table_unmeasured() };
    fill_row(making, v, &line);
    table_add(making->table, v->kind, &line)->after_rule = after_rule;
}
