#include "report/view/view_pass.h"

#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/some_threads.h"
#include "report/waiting_samples.h"
#include "report/view/allocation_rows.h"

/* ---- who listens ---- */

static void tell_step(void *context, const struct calltree_step *step)
{
    const struct observers *to = context;
    for (size_t i = 0; i < to->n; i++)
        if (to->all[i].step != NULL)
            to->all[i].step(to->all[i].context, step);
}

static void tell_run(void *context, const struct calltree_run *run)
{
    const struct observers *to = context;
    for (size_t i = 0; i < to->n; i++)
        if (to->all[i].run != NULL)
            to->all[i].run(to->all[i].context, run);
}

static void tell_flow(void *context, const struct calltree_flow *flow)
{
    const struct observers *to = context;
    for (size_t i = 0; i < to->n; i++)
        if (to->all[i].flow != NULL)
            to->all[i].flow(to->all[i].context, flow);
}

/* The observer that tells all of them; it lives as long as they do.  Only what somebody wants is told: each call costs.
 */
static struct calltree_observer join_observers(struct observers *observers)
{
    struct calltree_observer observer = { .context = observers, .run = tell_run };
    for (size_t i = 0; i < observers->n; i++) {
        if (observers->all[i].step != NULL && observers->all[i].run == NULL)
            observer.run = NULL;
        observer.step = observers->all[i].step != NULL ? tell_step : observer.step;
        observer.flow = observers->all[i].flow != NULL ? tell_flow : observer.flow;
    }
    return observers->n == 1 ? observers->all[0] : observer;
}

static bool wants(const struct view_pass *pass, unsigned part)
{
    return (pass->options.parts & part) != 0;
}

/* A trace that is salvaged may have lost the name of a method that it has events of. */
static void hear_jit(void *context, const struct jit_event *event)
{
    struct view_pass *pass = context;
    struct err ignored;
    if (pass->shapes == NULL)
        pass->shapes = jit_shapes_open();
    if (pass->heard_err.text[0] == '\0')
        jit_shapes_add(pass->shapes, event, pass->options.salvage ? &ignored : &pass->heard_err);
}

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct view_pass *pass = context;
    if (wants(pass, VIEW_PASS_SAMPLES))
        trace_samples_add(&pass->samples, sample);
    if (pass->waiting != NULL)
        waits_hear_sample(pass->waiting, sample);
}

static void hear_heap(void *context, const struct miss_entry *entry)
{
    struct view_pass *pass = context;
    struct heap_use use = { .ticks = entry->ticks, .young_bytes = entry->used[MISS_SURVIVOR] };
    if (entry->kind != MISS_USED)
        return;
    for (int i = MISS_NO_SPACE + 1; i < MISS_SPACES; i++)
        use.bytes += entry->used[i];
    xgrow(pass->heap_uses, pass->heap_uses_room, pass->n_heap_uses + 1);
    pass->heap_uses[pass->n_heap_uses++] = use;
}

static void hear_allocation(void *context, const struct trace_allocation *allocation)
{
    struct view_pass *pass = context;
    xgrow(pass->allocations, pass->allocations_room, pass->n_allocations + 1);
    pass->allocations[pass->n_allocations++] = *allocation;
}

static void hear_heap_event(void *context, const struct trace_heap_event *event)
{
    struct view_pass *pass = context;
    xgrow(pass->heap_events, pass->heap_events_room, pass->n_heap_events + 1);
    pass->heap_events[pass->n_heap_events++] = *event;
}

static void hear_location(void *context, const struct location_entry *entry)
{
    struct view_pass *pass = context;
    where_hear_location(pass->finding, entry);
}

static void hear_ip_sample(void *context, const struct trace_event *event)
{
    struct view_pass *pass = context;
    where_hear_ip_sample(pass->finding, event);
}

static void hear_event_sample(void *context, const struct trace_event_sample *sample)
{
    struct view_pass *pass = context;
    where_hear_event_sample(pass->finding, sample);
}

static void hear_wait(void *context, const struct trace_wait *wait)
{
    struct view_pass *pass = context;
    if (pass->waiting != NULL)
        waits_hear(pass->waiting, wait);
    if (!wants(pass, VIEW_PASS_WAIT_STACKS))
        return;
    xgrow(pass->kept_waits, pass->kept_waits_room, pass->n_kept_waits + 1);
    pass->kept_waits[pass->n_kept_waits++] = *wait;
}

static void hear_virtual_wait(void *context, const struct trace_virtual_wait *wait)
{
    struct view_pass *pass = context;
    waits_hear_virtual(pass->waiting, wait);
}

static void hear_pressure(void *context, const struct trace_pressure *pressure)
{
    struct view_pass *pass = context;
    throttled_hear(&pass->throttled, pressure);
}

/* They are few. */
static void hear_code(void *context, const struct trace_code_change *change)
{
    struct view_pass *pass = context;
    *xpush(pass->code_changes, pass->code_changes_room, pass->n_code_changes) = *change;
}

static struct trace_listener listener_of(struct view_pass *pass)
{
    return (struct trace_listener){ .context = pass,
                                    .jit = wants(pass, VIEW_PASS_JIT) ? hear_jit : NULL,
                                    .sample = wants(pass, VIEW_PASS_SAMPLES | VIEW_PASS_WAITS) ? hear_sample : NULL,
                                    .miss = wants(pass, VIEW_PASS_HEAP) ? hear_heap : NULL,
                                    .allocation = wants(pass, VIEW_PASS_ALLOCATIONS) ? hear_allocation : NULL,
                                    .heap_event = wants(pass, VIEW_PASS_HEAP_EVENTS) ? hear_heap_event : NULL,
                                    .pressure = wants(pass, VIEW_PASS_PRESSURE) ? hear_pressure : NULL,
                                    .code = wants(pass, VIEW_PASS_SAMPLES) ? hear_code : NULL,
                                    .location = wants(pass, VIEW_PASS_WHERE) ? hear_location : NULL,
                                    .wait = wants(pass, VIEW_PASS_WAITS | VIEW_PASS_WAIT_STACKS) ? hear_wait : NULL,
                                    .virtual_wait = wants(pass, VIEW_PASS_WAITS) ? hear_virtual_wait : NULL,
                                    .event_sample = wants(pass, VIEW_PASS_WHERE) ? hear_event_sample : NULL,
                                    .ip_sample = wants(pass, VIEW_PASS_WHERE) ? hear_ip_sample : NULL };
}

/* ---- before the pass ---- */

static void begin_statistics(struct view_pass *pass)
{
    struct statistics_options options = pass->metrics.options;
    if (!wants(pass, VIEW_PASS_STATISTICS)) {
        options.n_metrics = 1; /* the first one is the time */
        options.has_quantiles_only = true;
    }
    pass->statistics = statistics_open(&options);
    pass->observers.all[pass->observers.n++] = statistics_observer(pass->statistics);
}

static void begin_values(struct view_pass *pass)
{
    if (trace_n_values(pass->outline) == 0)
        return;
    value_calls_open(&pass->value_calls, pass->outline, &pass->metrics.options);
    pass->observers.all[pass->observers.n++] = value_calls_observer(pass->value_calls);
}

static int begin(struct view_pass *pass, struct err *err)
{
    const struct view_pass_options *options = &pass->options;
    bool of_calls = wants(pass, VIEW_PASS_STATISTICS | VIEW_PASS_QUANTILES | VIEW_PASS_VALUES);
    bool needs_outline = of_calls || wants(pass, VIEW_PASS_RECOVERY | VIEW_PASS_TIMELINE | VIEW_PASS_PRESSURE);
    if (needs_outline && trace_outline(&pass->outline, options->path, options->salvage, err) < 0)
        return -1;
    if (of_calls)
        call_metrics_find(pass->outline, options->clock, pass->arena, &pass->metrics);
    if (wants(pass, VIEW_PASS_RECOVERY))
        recompilation_begin(pass->outline, pass->arena, &pass->recompiling, &pass->observers);
    if (wants(pass, VIEW_PASS_WHERE))
        where_begin(pass->arena, options->only_threads, &pass->where, &pass->finding);
    if (wants(pass, VIEW_PASS_VALUES))
        begin_values(pass);
    if (wants(pass, VIEW_PASS_STATISTICS | VIEW_PASS_QUANTILES))
        begin_statistics(pass);
    if (wants(pass, VIEW_PASS_SLOW)) {
        pass->slow_calls = slow_calls_open();
        pass->observers.all[pass->observers.n++] = slow_calls_observer(pass->slow_calls);
    }
    if (wants(pass, VIEW_PASS_PRESSURE) && info_number(pass->outline, INFO_QUOTA_THROTTLED_NS) > 0)
        pass->observers.all[pass->observers.n++] = throttled_observer(&pass->throttled);
    if (options->observer != NULL)
        pass->observers.all[pass->observers.n++] = *options->observer;
    if (wants(pass, VIEW_PASS_TIMELINE))
        timeline_begin(pass->outline, pass->arena, options->step_ns, options->steps_max, &pass->line, &pass->observers,
                       &pass->no_line);
    return 0;
}

/* ---- the pass ---- */

static int build(struct view_pass *pass, struct err *err)
{
    const struct view_pass_options *options = &pass->options;
    struct calltree_observer observer = join_observers(&pass->observers);
    const struct calltree_options tree_options = { .max_nodes = options->max_nodes,
                                                   .per_thread = options->per_thread,
                                                   .observer = pass->observers.n > 0 ? &observer : NULL };
    const struct trace_listener listener = listener_of(pass);
    if (trace_open(&pass->reader, options->path, options->salvage, err) < 0)
        return -1;
    if (wants(pass, VIEW_PASS_SAMPLES))
        trace_samples_open(&pass->samples, pass->reader);
    pass->sites = wait_sites_open(pass->reader, options->libraries);
    if (wants(pass, VIEW_PASS_WAITS))
        waits_begin(&pass->waiting, pass->reader, pass->sites, options->only_threads);
    pass->samples.only_threads = options->only_threads;
    trace_listen(pass->reader, &listener);
    if (options->progress != NULL)
        trace_show_progress(pass->reader, options->progress);
    if (calltree_build(pass->reader, &tree_options, &pass->tree, err) < 0)
        return -1;
    trace_samples_end(&pass->samples);
    if (options->only_threads != NULL && threads_keep(pass->reader, options->only_threads, &pass->tree, err) < 0)
        return -1;
    calltree_totals(&pass->tree, VM_PART_APPLICATION, pass->arena, &pass->totals, &pass->n_totals);
    return pass->heard_err.text[0] == '\0' ? 0 : err_set(err, "%s", pass->heard_err.text);
}

/* Without calls and switches the samples' time is all that there is. */
static void add_samples_to_line(struct view_pass *pass)
{
    const char *period = info_text(pass->reader, INFO_SAMPLE_PERIOD_NS);
    double ns_per_tick = trace_ns_per_tick(pass->reader);
    if (!trace_samples_are_all(pass->reader) || period == NULL || strtod(period, NULL) <= 0 ||
        pass->samples.has_waiting || ns_per_tick <= 0)
        return;
    for (size_t i = 0; i < pass->samples.n_kept; i++) {
        const struct trace_kept_sample *sample = &pass->samples.kept[i];
        const struct trace_thread *thread = trace_thread(pass->reader, sample->thread);
        if (sample->ticks != TRACE_UNKNOWN && thread != NULL)
            timeline_sample(pass->line.timeline, vm_part_of(thread->comm), sample->ticks,
                            (uint64_t)((double)sample->weight_ns / ns_per_tick));
    }
}

/* A trace of nothing but samples has its waits among them already. */
static void find_wall_samples(struct view_pass *pass)
{
    bool are_kept = wants(pass, VIEW_PASS_SAMPLES) && wants(pass, VIEW_PASS_WAIT_STACKS) && pass->n_kept_waits > 0;
    if (are_kept && !pass->tree.cpu_is_wall && !trace_samples_are_all(pass->reader))
        pass->wall_samples =
            waiting_samples(&pass->samples, pass->kept_waits, pass->n_kept_waits, pass->sites, pass->arena);
}

const struct trace_samples *view_pass_samples(const struct view_pass *pass, const struct report_source *source)
{
    return source->clock == PHASES_WALL && pass->wall_samples != NULL ? pass->wall_samples : &pass->samples;
}

/* A recording of some threads has samples of all: what there is to see is of those. */
static int find_recorded_threads(struct view_pass *pass, struct err *err)
{
    struct view_pass_options *options = &pass->options;
    struct trace_reader *start;
    struct trace_event event;
    if (options->only_threads != NULL)
        return 0;
    if (trace_open(&start, options->path, options->salvage, err) < 0)
        return -1;
    const char *names = trace_next(start, &event, err) < 0 ? NULL : info_text(start, INFO_THREADS_ONLY);
    if (names != NULL) {
        options->only_threads = arena_text(pass->arena, names, strlen(names));
        options->per_thread = true;
    }
    trace_close(start);
    return 0;
}

int view_pass_read(const struct view_pass_options *options, struct arena *arena, struct view_pass *pass,
                   struct err *err)
{
    memset(pass, 0, sizeof *pass);
    pass->options = *options;
    pass->arena = arena;
    if (find_recorded_threads(pass, err) < 0)
        return -1;
    pass->options.parts |= options->clock == PHASES_WALL && wants(pass, VIEW_PASS_SAMPLES) ? VIEW_PASS_WAIT_STACKS : 0;
    if (begin(pass, err) < 0 || build(pass, err) < 0)
        return -1;
    pass->source = (struct report_source){ .path = options->path,
                                           .reader = pass->reader,
                                           .tree = &pass->tree,
                                           .clock = report_clock(&pass->tree, options->clock),
                                           .arena = arena,
                                           .only_threads = pass->options.only_threads != NULL,
                                           .shapes = pass->shapes };
    find_wall_samples(pass);
    if (wants(pass, VIEW_PASS_ALLOCATIONS))
        pass->source.allocated = allocated_find(pass);
    if (wants(pass, VIEW_PASS_STATISTICS | VIEW_PASS_VALUES))
        call_metrics_judge(&pass->metrics, pass->reader, &pass->tree);
    throttled_join(&pass->throttled, pass->tree.ns_per_tick);
    pass->line.pressure = pass->throttled.n_steps > 0 ? &pass->throttled : NULL;
    if (pass->line.timeline != NULL)
        add_samples_to_line(pass);
    recompilation_end(pass->recompiling, &pass->source, &pass->recompilation);
    if (wants(pass, VIEW_PASS_WHERE))
        where_end(pass->finding, &pass->source, &pass->no_where);
    if (wants(pass, VIEW_PASS_WAITS))
        waits_end(pass->waiting, &pass->source, &pass->waits);
    return 0;
}

void view_pass_close(struct view_pass *pass)
{
    statistics_close(pass->statistics);
    value_calls_close(pass->value_calls);
    slow_calls_close(pass->slow_calls);
    throttled_close(&pass->throttled);
    recompilation_close(pass->recompiling);
    where_close(pass->finding);
    waits_close(pass->waiting);
    wait_sites_close(pass->sites);
    where_free(&pass->where);
    timeline_close(pass->line.timeline);
    jit_shapes_close(pass->shapes);
    trace_samples_close(&pass->samples);
    free(pass->allocations);
    free(pass->heap_uses);
    free(pass->heap_events);
    free(pass->kept_waits);
    free(pass->code_changes);
    calltree_free(&pass->tree);
    trace_close(pass->reader);
    trace_close(pass->outline);
}
