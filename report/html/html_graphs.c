/*
 * What the widths of the page's flame graph can mean: a list of {key, label, unit, about, value}, each of the call tree
 * or, where other contexts matter, with a tree of its own.
 */
#include "core/trace/recording_info.h"
#include "report/export/export_tree.h"
#include "report/html/html_stacks.h"
#include "report/sampled_tree.h"
#include "report/wait_sites.h"
#include "symbolize/java_names.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096

/* of: the graph whose tree it has; NULL: the page's call tree.  minus: a value that is taken away; or NULL. */
struct graph {
    const char *key, *label, *unit, *about, *value, *minus, *of;
};

/* tree: its own, or NULL. */
static bool put_graph(cJSON *graphs, const struct graph *graph, cJSON *tree, struct arena *arena)
{
    cJSON *json = cJSON_CreateObject();
    return html_put(graphs, NULL, json) && html_put(json, "key", html_text(arena, graph->key)) &&
           html_put(json, "label", html_text(arena, graph->label)) &&
           html_put(json, "unit", cJSON_CreateString(graph->unit)) &&
           html_put(json, "about", html_text(arena, graph->about)) &&
           html_put(json, "value", html_text(arena, graph->value)) &&
           (graph->minus == NULL || html_put(json, "minus", cJSON_CreateString(graph->minus))) &&
           (graph->of == NULL || html_put(json, "of", cJSON_CreateString(graph->of))) &&
           (tree == NULL || html_put(json, "tree", tree));
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

static bool put_main(cJSON *graphs, const struct report_source *whole)
{
    struct graph graph = whole->clock == PHASES_CPU ? cpu_time : wall_time;
    if (trace_samples_are_all(whole->reader) && whole->sampled != NULL)
        graph = graph_of_samples(whole);
    return put_graph(graphs, &graph, NULL, whole->arena);
}

/* ---- the other clock beside it ---- */

static bool has_wall_time(const struct report_source *wall)
{
    const struct calltree *tree = wall->tree;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        sum += tree->roots[i].part == VM_PART_APPLICATION ? tree->total_wall_ticks[tree->roots[i].node] : 0;
    return sum > 0 && !tree->cpu_is_wall && !trace_samples_are_all(wall->reader);
}

/* Its contexts are others than those with most CPU time. */
static bool put_other(cJSON *graphs, const struct report_source *other, const struct timeline_read *line)
{
    static const struct graph off_cpu = { "off-cpu", "Off the CPU",
                                          "ns",      "wall time minus CPU time: waiting for a lock, I/O, a CPU",
                                          "wall",    "cpu",
                                          "wall" };
    if (other != NULL && other->clock == PHASES_CPU)
        return put_graph(graphs, &cpu_time, html_tree(other, true, line), other->arena);
    if (other == NULL || !has_wall_time(other))
        return true;
    return put_graph(graphs, &wall_time, html_tree(other, true, line), other->arena) &&
           put_graph(graphs, &off_cpu, NULL, other->arena);
}

/* ---- events ---- */

static bool put_events(cJSON *graphs, const struct report_source *whole)
{
    struct export_value values[EXPORT_VALUES_MAX];
    size_t n = trace_samples_are_all(whole->reader) ? 0 : export_values(whole, false, values);
    bool ok = true;
    for (size_t i = 3; ok && i < n && i < HTML_VALUES_MAX; i++) {
        const struct graph graph = { values[i].name, values[i].name, "count", "events in code recorded by probes",
                                     values[i].name, NULL,           NULL };
        ok = put_graph(graphs, &graph, NULL, whole->arena);
    }
    return ok;
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

static bool begin_stacks(struct graph_stacks *g, const struct report_source *source, const struct timeline_read *line)
{
    *g = (struct graph_stacks){ .reader = source->reader,
                                .stacks = html_stacks_new(source->arena),
                                .line = line == NULL ? NULL : line->timeline };
    g->known = arena_alloc(source->arena, ((size_t)trace_n_sampled_methods(source->reader) + 1) * sizeof *g->known);
    g->frames = arena_alloc(source->arena, (FRAMES_MAX + 1) * sizeof *g->frames);
    return g->stacks != NULL && g->known != NULL && g->frames != NULL;
}

static cJSON *end_stacks(struct graph_stacks *g, bool ok, const char *value)
{
    cJSON *json = ok ? html_stacks_json(g->stacks, &value, 1) : NULL;
    html_stacks_free(g->stacks);
    return json;
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
    const struct trace_thread *thread = trace_thread(g->reader, number);
    return html_stacks_group(g->stacks, vm_part_name(thread == NULL ? VM_PART_APPLICATION : vm_part_of(thread->comm)));
}

/* The application's samples, of threads that waited or that ran. */
static cJSON *tree_of_samples(const struct report_source *whole, bool waiting)
{
    const struct trace_samples *samples = whole->sampled->samples;
    struct graph_stacks g;
    bool ok = begin_stacks(&g, whole, NULL);
    for (size_t i = 0; ok && i < samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &samples->kept[i];
        if (sample->is_waiting != waiting || (waiting && sample->context == 0))
            continue;
        g.frames[0] = part_of(&g, sample->thread);
        ok = html_stacks_add(g.stacks, g.frames, frames_of(&g, sample->context), 0, (double)sample->weight_ns) == 0;
    }
    return end_stacks(&g, ok, "samples");
}

static bool put_waiting(cJSON *graphs, const struct report_source *whole)
{
    static const struct graph
        running = { "cpu", "CPU time", "ns", "samples of threads on a CPU", "samples", NULL, NULL },
        waiting = { "waiting", "Waiting", "ns", "samples of threads that had no CPU", "samples", NULL, NULL };
    if (whole->sampled == NULL || !trace_samples_are_all(whole->reader) || !whole->sampled->samples->has_waiting)
        return true;
    return put_graph(graphs, &running, tree_of_samples(whole, false), whole->arena) &&
           put_graph(graphs, &waiting, tree_of_samples(whole, true), whole->arena);
}

/* ---- allocations ---- */

/* The class stands below who allocates; what a sample stands for is that of report/view/allocations.h. */
static cJSON *tree_of_allocations(const struct html_page *page)
{
    const struct report_source *source = page->traces[0].source;
    struct graph_stacks g;
    bool ok = begin_stacks(&g, source, page->line);
    for (size_t i = 0; ok && i < page->n_allocations; i++) {
        const struct trace_allocation *one = &page->allocations[i];
        const char *class_name = java_names_class(source->arena, one->class_name);
        g.frames[0] = part_of(&g, one->thread);
        size_t n = frames_of(&g, one->context);
        g.frames[n] = class_name == NULL ? UINT32_MAX : html_stacks_group(g.stacks, class_name);
        ok = html_stacks_add_between(g.stacks, g.frames, n + 1, trace_allocation_objects(one) * (double)one->size_bytes,
                                     g.line, one->ticks, one->ticks) == 0;
    }
    return end_stacks(&g, ok, "bytes");
}

static bool put_allocations(cJSON *graphs, const struct html_page *page)
{
    static const struct graph allocated = {
        "allocation", "Allocated bytes", "bytes", "by the objects that the JVM sampled", "bytes", NULL, NULL
    };
    return page->n_allocations == 0 ||
           put_graph(graphs, &allocated, tree_of_allocations(page), page->traces[0].source->arena);
}

/* ---- waits ---- */

/* "monitor: java.util.HashMap", "socket"; NULL: no memory. */
static const char *cause_text(const struct trace_wait *wait, struct arena *arena)
{
    const char *name = trace_cause_name(wait->cause);
    if (wait->lock_class == NULL || wait->lock_class[0] == '\0')
        return name;
    const char *class_name = java_names_class(arena, wait->lock_class);
    return class_name == NULL ? NULL : arena_printf(arena, "%s: %s", name, class_name);
}

/* As the views 'waits' and 'locks': of the application, without who waits for work. */
static bool is_counted(const struct html_page *page, const struct trace_wait *wait, bool locks_only)
{
    const struct trace_reader *reader = page->traces[0].source->reader;
    const struct trace_thread *thread = trace_thread(reader, wait->thread);
    bool is_lock = wait->cause == TRACE_CAUSE_MONITOR || wait->cause == TRACE_CAUSE_LOCK;
    return wait->weight_ns > 0 && wait->cause != TRACE_CAUSE_ON_CPU && (is_lock || !locks_only) &&
           (thread == NULL || vm_part_of(thread->comm) == VM_PART_APPLICATION) &&
           !(trace_cause_may_be_idle(wait->cause) && wait_site_of(reader, page->libraries, wait->context).is_idle);
}

/* When a wait began, in ticks. */
static uint64_t since(const struct report_source *source, const struct trace_wait *wait)
{
    double ns_per_tick = source->tree->ns_per_tick, ticks = ns_per_tick > 0 ? (double)wait->weight_ns / ns_per_tick : 0;
    return (double)wait->ticks > ticks ? wait->ticks - (uint64_t)ticks : 0;
}

/* What is waited for stands below the stack; of locks, above all stacks. */
static cJSON *tree_of_waits(const struct html_page *page, bool locks_only)
{
    const struct report_source *source = page->traces[0].source;
    struct graph_stacks g;
    bool ok = begin_stacks(&g, source, page->line);
    for (size_t i = 0; ok && i < page->n_waits; i++) {
        const struct trace_wait *wait = &page->waits[i];
        if (!is_counted(page, wait, locks_only))
            continue;
        const char *text = cause_text(wait, source->arena);
        uint32_t cause = text == NULL ? UINT32_MAX : html_stacks_group(g.stacks, text);
        g.frames[0] = locks_only ? cause : part_of(&g, wait->thread);
        size_t n = frames_of(&g, wait->context);
        g.frames[n] = cause;
        ok = html_stacks_add_between(g.stacks, g.frames, locks_only ? n : n + 1, (double)wait->weight_ns, g.line,
                                     since(source, wait), wait->ticks) == 0;
    }
    return end_stacks(&g, ok, "wait");
}

static bool put_waits(cJSON *graphs, const struct html_page *page)
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
    struct arena *arena = page->traces[0].source->arena;
    return page->n_waits == 0 || (put_graph(graphs, &waiting, tree_of_waits(page, false), arena) &&
                                  put_graph(graphs, &locks, tree_of_waits(page, true), arena));
}

cJSON *html_graphs(const struct html_page *page)
{
    cJSON *graphs = cJSON_CreateArray();
    if (graphs != NULL && put_main(graphs, page->whole) && put_waiting(graphs, page->whole) &&
        put_other(graphs, page->other, page->line) && put_waits(graphs, page) && put_allocations(graphs, page) &&
        put_events(graphs, page->whole))
        return graphs;
    cJSON_Delete(graphs);
    return NULL;
}
