/*
 * What the widths of the page's flame graph can mean: a list of {key, label, unit, about, value}, each of the call tree
 * or, where other contexts matter, with a tree of its own.
 */
#include "core/trace/recording_info.h"
#include "report/some_threads.h"
#include "report/export/export_tree.h"
#include "report/html/html_parts.h"
#include "report/html/html_stacks.h"
#include "report/sampled_tree.h"
#include "report/wait_sites.h"
#include "symbolize/java_names.h"

#define FRAMES_MAX 4096

/* of: the graph whose tree it has; NULL: the page's call tree.  minus: a value that is taken away; or NULL. */
struct graph {
    const char *key, *label, *unit, *about, *value, *minus, *of;
};

/* What follows up to end_graph is its tree. */
static void begin_graph(struct html_json *json, const struct graph *graph)
{
    html_object(json, NULL);
    html_text(json, "key", graph->key);
    html_text(json, "label", graph->label);
    html_text(json, "unit", graph->unit);
    html_text(json, "about", graph->about);
    html_text(json, "value", graph->value);
    if (graph->minus != NULL)
        html_text(json, "minus", graph->minus);
    if (graph->of != NULL)
        html_text(json, "of", graph->of);
}

static void end_graph(struct html_json *json)
{
    html_close(json, '}');
}

/* One of another's tree. */
static void put_graph(struct html_json *json, const struct graph *graph)
{
    begin_graph(json, graph);
    end_graph(json);
}

/* ---- the call tree's own clock ---- */

static const struct graph cpu_time = { "cpu", "CPU time", "ns", "time on a CPU", "cpu", NULL, NULL },
                          wall_time = { "wall", "Wall time",
                                        "ns",   "all time between a call and its return, waiting included",
                                        "wall", NULL,
                                        NULL },
                          wall_samples = { "wall", "Wall time", "ns", "time of all threads, waiting included",
                                           "cpu",  NULL,        NULL };

/* What a trace of nothing but samples was taken by. */
static struct graph graph_of_samples(const struct report_source *source)
{
    const char *period = info_text(source->reader, INFO_SAMPLE_PERIOD_NS),
               *events = info_text(source->reader, INFO_SAMPLE_EVENTS);
    if (source->sampled->samples->has_waiting)
        return wall_samples;
    if (period != NULL && strtod(period, NULL) > 0)
        return cpu_time;
    const char *name =
        arena_text(source->arena, events == NULL ? "events" : events, events == NULL ? 6 : strcspn(events, " "));
    return (struct graph){ "event", name, "count", "samples by this event", "cpu", NULL, NULL };
}

static void put_main(struct html_json *json, const struct report_source *whole)
{
    struct graph graph = whole->clock == PHASES_CPU ? cpu_time : wall_time;
    if (trace_samples_are_all(whole->reader) && whole->sampled != NULL)
        graph = graph_of_samples(whole);
    put_graph(json, &graph);
}

/* ---- the other clock beside it ---- */

static bool has_wall_time(const struct report_source *wall)
{
    const struct calltree *tree = wall->tree;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        sum += tree->roots[i].part == VM_PART_APPLICATION ? calltree_total_wall_ticks(tree, tree->roots[i].node) : 0;
    return sum > 0 && !tree->cpu_is_wall && !trace_samples_are_all(wall->reader);
}

/* Its contexts are others than those with most CPU time. */
static void put_other(struct html_json *json, const struct report_source *other, const struct timeline_read *line)
{
    static const struct graph off_cpu = { "off-cpu", "Off the CPU",
                                          "ns",      "wall time minus CPU time: waiting for a lock, I/O, a CPU",
                                          "wall",    "cpu",
                                          "wall" };
    bool is_cpu = other != NULL && other->clock == PHASES_CPU;
    if (other == NULL || (!is_cpu && !has_wall_time(other)))
        return;
    begin_graph(json, is_cpu ? &cpu_time : &wall_time);
    html_tree(json, other, true, line);
    end_graph(json);
    if (!is_cpu)
        put_graph(json, &off_cpu);
}

/* ---- events ---- */

static void put_events(struct html_json *json, const struct report_source *whole)
{
    struct export_value values[EXPORT_VALUES_MAX];
    size_t n = trace_samples_are_all(whole->reader) ? 0 : export_values(whole, false, values);
    for (size_t i = 3; i < n && i < HTML_VALUES_MAX; i++)
        put_graph(json, &(struct graph){ values[i].name, values[i].name, "count", "events in code recorded by probes",
                                         values[i].name, NULL, NULL });
}

/* ---- samples of threads that wait ---- */

/* Stacks of one trace. */
struct graph_stacks {
    const struct trace_reader *reader;
    struct html_stacks *stacks;
    struct timeline *line; /* or NULL */
    uint32_t *known;       /* by sampled method: for html_stacks_method */
    uint32_t *frames;      /* of the stack that is added */
};

static struct graph_stacks begin_stacks(const struct report_source *source, const struct timeline_read *line)
{
    struct graph_stacks g = { .reader = source->reader,
                              .stacks = html_stacks_new(source->arena),
                              .line = line == NULL ? NULL : line->timeline };
    g.known = arena_alloc(source->arena, ((size_t)trace_n_sampled_methods(source->reader) + 1) * sizeof *g.known);
    g.frames = arena_alloc(source->arena, (FRAMES_MAX + 1) * sizeof *g.frames);
    return g;
}

/* The graph of these stacks, which are freed. */
static void put_stacks(struct html_json *json, const struct graph *graph, struct graph_stacks *g)
{
    begin_graph(json, graph);
    html_stacks_put(json, g->stacks, &graph->value, 1);
    end_graph(json);
    html_stacks_free(g->stacks);
}

/* The methods of a context below a first frame, outermost first.  Returns how many. */
static size_t frames_of(struct graph_stacks *g, uint32_t context)
{
    uint32_t *frames = g->frames;
    size_t n = 1;
    for (uint32_t node = context; node != 0 && n < FRAMES_MAX; n++) {
        const struct trace_context *at = trace_context(g->reader, node);
        frames[n] = html_stacks_method(g->stacks, &trace_sampled_method(g->reader, at->method)->names, HTML_FRAME_JAVA,
                                       &g->known[at->method]);
        node = at->parent;
    }
    for (size_t i = 1, j = n - 1; i < j; i++, j--) {
        uint32_t frame = frames[i];
        frames[i] = frames[j];
        frames[j] = frame;
    }
    return n;
}

static uint32_t part_of(struct graph_stacks *g, uint32_t number)
{
    return html_stacks_group(g->stacks, vm_part_name(threads_part(g->reader, number)));
}

/* The application's samples, of threads that waited or that ran. */
static void put_samples(struct html_json *json, const struct graph *graph, const struct report_source *whole,
                        bool waiting)
{
    const struct trace_samples *samples = whole->sampled->samples;
    struct graph_stacks g = begin_stacks(whole, NULL);
    for (size_t i = 0; i < samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &samples->kept[i];
        if (sample->is_waiting != waiting || (waiting && sample->context == 0))
            continue;
        g.frames[0] = part_of(&g, sample->thread);
        html_stacks_add(g.stacks, g.frames, frames_of(&g, sample->context), 0, (double)sample->weight_ns);
    }
    put_stacks(json, graph, &g);
}

static void put_waiting(struct html_json *json, const struct report_source *whole)
{
    static const struct graph
        running = { "cpu", "CPU time", "ns", "samples of threads on a CPU", "samples", NULL, NULL },
        waiting = { "waiting", "Waiting", "ns", "samples of threads that had no CPU", "samples", NULL, NULL };
    if (whole->sampled == NULL || !trace_samples_are_all(whole->reader) || !whole->sampled->samples->has_waiting)
        return;
    put_samples(json, &running, whole, false);
    put_samples(json, &waiting, whole, true);
}

/* ---- allocations ---- */

/* The class stands below who allocates; what a sample stands for is that of report/view/allocations.h. */
static void put_allocations(struct html_json *json, const struct html_page *page)
{
    static const struct graph allocated = {
        "allocation", "Allocated bytes", "bytes", "by the objects that the JVM sampled", "bytes", NULL, NULL
    };
    const struct report_source *source = page->traces[0].source;
    if (page->n_allocations == 0)
        return;
    struct graph_stacks g = begin_stacks(source, page->line);
    for (size_t i = 0; i < page->n_allocations; i++) {
        const struct trace_allocation *one = &page->allocations[i];
        g.frames[0] = part_of(&g, one->thread);
        size_t n = frames_of(&g, one->context);
        g.frames[n] = html_stacks_group(g.stacks, java_names_class(source->arena, one->class_name));
        html_stacks_add_between(g.stacks, g.frames, n + 1, trace_allocation_objects(one) * (double)one->size_bytes,
                                g.line, one->ticks, one->ticks);
    }
    put_stacks(json, &allocated, &g);
}

/* ---- waits ---- */

/* "monitor: java.util.HashMap", "socket". */
static const char *cause_text(const struct trace_wait *wait, struct arena *arena)
{
    const char *name = trace_cause_name(wait->cause);
    if (wait->lock_class == NULL || wait->lock_class[0] == '\0')
        return name;
    return arena_printf(arena, "%s: %s", name, java_names_class(arena, wait->lock_class));
}

/* As the views 'waits' and 'locks': of the application, without who waits for work. */
static bool is_counted(const struct html_page *page, const struct trace_wait *wait, bool locks_only)
{
    const struct trace_reader *reader = page->traces[0].source->reader;
    bool is_lock = wait->cause == TRACE_CAUSE_MONITOR || wait->cause == TRACE_CAUSE_LOCK;
    return wait->weight_ns > 0 && wait->cause != TRACE_CAUSE_ON_CPU && (is_lock || !locks_only) &&
           threads_count_wait(reader, wait) &&
           !(trace_cause_may_be_idle(wait->cause) && wait_sites_find(page->sites, wait->context)->is_idle);
}

/* When a wait began, in ticks. */
static uint64_t since(const struct report_source *source, const struct trace_wait *wait)
{
    double ns_per_tick = source->tree->ns_per_tick, ticks = ns_per_tick > 0 ? (double)wait->weight_ns / ns_per_tick : 0;
    return (double)wait->ticks > ticks ? wait->ticks - (uint64_t)ticks : 0;
}

/* What is waited for stands below the stack; of locks, above all stacks. */
static void put_waits_of(struct html_json *json, const struct graph *graph, const struct html_page *page,
                         bool locks_only)
{
    const struct report_source *source = page->traces[0].source;
    struct graph_stacks g = begin_stacks(source, page->line);
    for (size_t i = 0; i < page->n_waits; i++) {
        const struct trace_wait *wait = &page->waits[i];
        if (!is_counted(page, wait, locks_only))
            continue;
        uint32_t cause = html_stacks_group(g.stacks, cause_text(wait, source->arena));
        g.frames[0] = locks_only ? cause : part_of(&g, wait->thread);
        size_t n = frames_of(&g, wait->context);
        g.frames[n] = cause;
        html_stacks_add_between(g.stacks, g.frames, locks_only ? n : n + 1, (double)wait->weight_ns, g.line,
                                since(source, wait), wait->ticks);
    }
    put_stacks(json, graph, &g);
}

static void put_waits(struct html_json *json, const struct html_page *page)
{
    static const struct graph waiting = { "waiting",
                                          "Waiting",
                                          "ns",
                                          "time off the CPU by stack and cause, without threads that wait for work",
                                          "wait",
                                          NULL,
                                          NULL },
                              locks = { "locks", "Waiting for locks",
                                        "ns",    "time that threads waited for monitors and locks, by their class",
                                        "wait",  NULL,
                                        NULL };
    if (page->n_waits == 0)
        return;
    put_waits_of(json, &waiting, page, false);
    put_waits_of(json, &locks, page, true);
}

void html_graphs(struct html_json *json, const struct html_page *page)
{
    html_array(json, "graphs");
    put_main(json, page->whole);
    put_waiting(json, page->whole);
    put_other(json, page->other, page->line);
    put_waits(json, page);
    put_allocations(json, page);
    put_events(json, page->whole);
    html_close(json, ']');
    if (page->startup != NULL)
        html_table(json, "startup", page->startup);
    if (page->virtuals != NULL)
        html_table(json, "virtual_threads", page->virtuals);
}
