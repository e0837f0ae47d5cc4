#include "report/html/html.h"

#include "report/html/html_parts.h"
#include "report/html/html_stacks.h"
#include "report/view/tables.h"
#include "report/view/view_pass.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static struct arena arena;
static struct err err;

/* What a test looks at. */
struct made {
    struct trace_reader *reader;
    struct calltree tree;
    struct report_source source;
    struct report_trace trace;
    struct table table;
    bool wants_line;
    const struct table *ip_samples; /* as where, hot and pauses */
    struct view_pass pass;          /* of the time line */
    char *page;
    cJSON *json; /* the page's own */
};

static void make_page(struct made *made)
{
    size_t n = 0;
    FILE *out = open_memstream(&made->page, &n);
    const struct html_page page = { .traces = &made->trace,
                                    .whole = made->trace.source,
                                    .n_traces = 1,
                                    .phases = &made->table,
                                    .line = made->wants_line ? &made->pass.line : NULL,
                                    .no_line = "for <reasons>",
                                    .where = made->ip_samples,
                                    .hot = made->ip_samples,
                                    .pauses = made->ip_samples,
                                    .values = made->ip_samples,
                                    .live_objects = made->ip_samples,
                                    .fields = made->ip_samples,
                                    .no_where = "nobody looked",
                                    .no_pauses = "nobody asked" };
    int rc = html_write(&page, out, &err);
    fclose(out);
    if (rc < 0)
        printf("# %s\n", err.text);
}

/* Between the tags, as a browser finds them. */
static cJSON *data_of(const char *page)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    const char *start = strstr(page, begin), *end = start == NULL ? NULL : strstr(start, "</script>");
    return end == NULL ? NULL : cJSON_ParseWithLength(start + strlen(begin), (size_t)(end - start) - strlen(begin));
}

static void read_back(struct maker *m, struct made *made, uint64_t end_ticks)
{
    struct calltree_total *totals;
    const struct report_row_options options = { .sort = "time", .min_share = 0.01 };
    maker_close(m, end_ticks);
    made->reader = maker_read(m);
    maker_must(m, calltree_build(made->reader, &(struct calltree_options){ 0 }, &made->tree, &m->err));
    made->source = (struct report_source){ .path = m->path,
                                           .reader = made->reader,
                                           .tree = &made->tree,
                                           .clock = report_clock(&made->tree, PHASES_CPU),
                                           .arena = &arena };
    calltree_totals(&made->tree, VM_PART_APPLICATION, &arena, &totals, &made->trace.n_totals);
    made->trace.source = &made->source;
    made->trace.totals = totals;
    maker_must(m, report_make(&made->source, totals, made->trace.n_totals, &options, &made->table, &m->err));
    if (made->wants_line) {
        const struct view_pass_options of_line = { .path = m->path,
                                                   .parts = VIEW_PASS_TIMELINE,
                                                   .steps_max = HTML_STEPS_MAX };
        maker_must(m, view_pass_read(&of_line, &arena, &made->pass, &m->err));
        maker_must(m, timeline_end(&made->source, totals, made->trace.n_totals, &options, &made->pass.line, &m->err));
    }
    make_page(made);
    made->json = data_of(made->page);
}

static void done(struct made *made)
{
    cJSON_Delete(made->json);
    free(made->page);
    if (made->wants_line)
        view_pass_close(&made->pass);
    calltree_free(&made->tree);
    trace_close(made->reader);
    arena_free(&arena);
}

/* Follow a path of keys and indexes, "tree.names.2". */
static const cJSON *at(const struct made *made, const char *path)
{
    const cJSON *json = made->json;
    char text[128], *rest = NULL;
    snprintf(text, sizeof text, "%s", path);
    for (char *key = strtok_r(text, ".", &rest); key != NULL && json != NULL; key = strtok_r(NULL, ".", &rest))
        json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(key)) : cJSON_GetObjectItem(json, key);
    return json;
}

static double number_at(const struct made *made, const char *path)
{
    const cJSON *json = at(made, path);
    return cJSON_IsNumber(json) ? json->valuedouble : -1;
}

static double sum_at(const struct made *made, const char *path)
{
    const cJSON *json;
    double sum = 0;
    cJSON_ArrayForEach(json, at(made, path)) sum += json->valuedouble;
    return sum;
}

static const char *text_at(const struct made *made, const char *path)
{
    return cJSON_GetStringValue(at(made, path));
}

/* Of a table in the data: the cell in a row and column, by the row's first text and the column's key. */
static const cJSON *cell_at(const struct made *made, const char *table, const char *row, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "%s.columns", table);
    const cJSON *columns = at(made, path);
    snprintf(path, sizeof path, "%s.rows", table);
    const cJSON *rows = at(made, path), *json;
    int column = -1;
    for (int c = 0; c < cJSON_GetArraySize(columns); c++)
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(columns, c), "key")), key) == 0)
            column = c;
    cJSON_ArrayForEach(json, rows)
    {
        const cJSON *cells = cJSON_GetObjectItem(json, "cells");
        if (strcmp(cJSON_GetStringValue(cJSON_GetArrayItem(cells, 0)), row) == 0)
            return cJSON_GetArrayItem(cells, column);
    }
    return NULL;
}

/* ---- the worked example of the thesis ---- */

static void test_figure(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    maker_figure_3_3(&m);
    read_back(&m, &made, 1830);
    CHECK("the page is whole",
          strstr(made.page, "<!DOCTYPE html>") == made.page && strstr(made.page, "</html>") != NULL);
    CHECK("nothing of the template is left", strstr(made.page, "@DATA@") == NULL &&
                                                 strstr(made.page, "@STYLE@") == NULL &&
                                                 strstr(made.page, "@SCRIPT@") == NULL);
    CHECK("it may not load anything", strstr(made.page, "default-src 'none'") != NULL);
    CHECK("it names no address", strstr(made.page, "src=") == NULL && strstr(made.page, "href=\"http") == NULL);
    CHECK("the data are JSON", made.json != NULL);
    CHECK_TEXT("a cell is what the text table prints, and the number",
               cJSON_GetStringValue(cJSON_GetArrayItem(cell_at(&made, "phases", "Sort.sortData", "ns_per_call"), 0)),
               "1.30 us");
    CHECK_NUMBER("the number is the whole one",
                 cJSON_GetArrayItem(cell_at(&made, "phases", "Sort.sortData", "ns_per_call"), 1)->valuedouble, 1300);
    CHECK_TEXT("what makes no sense is n/a",
               cJSON_GetStringValue(cell_at(&made, "phases", "whole process", "time_share")), "n/a");
    done(&made);
}

static void test_tree(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    maker_figure_3_3(&m);
    read_back(&m, &made, 1830);
    CHECK_NUMBER("a context for each method and the root", cJSON_GetArraySize(at(&made, "tree.parent")), 11);
    CHECK("the root is nobody's callee", cJSON_GetArrayItem(at(&made, "tree.parent"), 0)->valuedouble < 0);
    CHECK_TEXT("names are whole", text_at(&made, "tree.names.1"), "thesis.Sort.main");
    CHECK_TEXT("keys are the class file's", text_at(&made, "tree.keys.1"), "thesis/Sort.main()V");
    CHECK_TEXT("the third value is the CPU's time", text_at(&made, "tree.values.2.name"), "cpu");
    CHECK_NUMBER("main has all the time", number_at(&made, "tree.values.2.all.1"), 1830);
    CHECK_NUMBER("and none of its own", number_at(&made, "tree.values.2.own.1"), 0);
    CHECK_NUMBER("calls are a context's own", number_at(&made, "tree.values.0.own.4"), 50);
    CHECK_NUMBER("the page knows how many there are", number_at(&made, "tree.contexts"), 11);
    CHECK_TEXT("a root's kind is its part of the JVM", text_at(&made, "tree.kinds.0"), "application");
    CHECK_TEXT("widths of the flame graph are wall time, where nothing else is known", text_at(&made, "graphs.0.key"),
               "wall");
    CHECK_TEXT("by the tree's value of that name", text_at(&made, "graphs.0.value"), "wall");
    done(&made);
}

/* Their tree. */
static cJSON *stacks_json(const struct html_stacks *stacks, const char *const *values)
{
    char *text = NULL;
    size_t n = 0;
    struct html_json json = { .out = open_memstream(&text, &n), .arena = &arena };
    html_object(&json, NULL);
    html_stacks_put(&json, stacks, values, 1);
    html_close(&json, '}');
    fclose(json.out);
    cJSON *all = cJSON_Parse(text), *tree = cJSON_DetachItemFromObject(all, "tree");
    cJSON_Delete(all);
    free(text);
    return tree;
}

/* Stacks of a lock's waiters: what is little is left out, but stays in its caller. */
static void test_stacks(void)
{
    const struct method_name run = { "a/B", "run", "()V" }, add = { "a/B", "add", "(I)V" },
                             more = { "a/B", "add", "(J)V" };
    struct html_stacks *stacks = html_stacks_new(&arena);
    const char *const values[] = { "wait" };
    uint32_t known[4] = { 0 };
    uint32_t lock = html_stacks_group(stacks, "lock a.B"),
             of_run = html_stacks_method(stacks, &run, HTML_FRAME_JAVA, &known[0]),
             of_add = html_stacks_method(stacks, &add, HTML_FRAME_JAVA, &known[1]),
             of_more = html_stacks_method(stacks, &more, HTML_FRAME_NATIVE, &known[2]);
    CHECK_NUMBER("a method is one frame", html_stacks_method(stacks, &run, HTML_FRAME_JAVA, &known[3]), of_run);
    const uint32_t first[] = { lock, of_run, of_add }, second[] = { lock, of_run }, third[] = { lock, of_more };
    html_stacks_add(stacks, first, 3, 0, 70000);
    html_stacks_add(stacks, second, 2, 0, 29999);
    html_stacks_add(stacks, third, 2, 0, 1);
    struct made made = { .json = stacks_json(stacks, values) };
    CHECK("stacks are added", made.json != NULL);
    CHECK_NUMBER("each path is a context", number_at(&made, "contexts"), 4);
    CHECK_NUMBER("small ones are left out", cJSON_GetArraySize(at(&made, "parent")), 3);
    CHECK_NUMBER("but counted in their callers", number_at(&made, "values.0.all.0"), 100000);
    CHECK_NUMBER("own values are without callees", number_at(&made, "values.0.own.1"), 29999);
    CHECK_TEXT("groups have titles", text_at(&made, "names.0"), "lock a.B");
    CHECK_TEXT("overloads keep their signatures", text_at(&made, "names.2"), "a.B.add(int)");
    CHECK_TEXT("frames have kinds", text_at(&made, "kinds.3"), "native");
    cJSON_Delete(made.json);
    html_stacks_free(stacks);
    arena_free(&arena);
}

/* Two stacks in a time line of ten steps, of which the second is too little to be drawn. */
static void test_stacks_over_time(void)
{
    const struct timeline_options options = { .start_ticks = 100, .end_ticks = 1100, .ns_per_tick = 1, .step_ns = 100 };
    struct html_stacks *stacks = html_stacks_new(&arena);
    struct timeline *line;
    const char *const values[] = { "wait" };
    const uint32_t lock = html_stacks_group(stacks, "lock a.B"), other = html_stacks_group(stacks, "other"),
                   both[] = { lock, other };
    int rc = timeline_open(&line, &options, &err);
    html_stacks_add_between(stacks, both, 1, 99999, line, 150, 250);
    html_stacks_add_between(stacks, both, 2, 1, line, 500, 500);
    struct made made = { .json = stacks_json(stacks, values) };
    CHECK("stacks are added to a time line", rc == 0 && made.json != NULL);
    CHECK_NUMBER("what lasts longer than a step is in several", cJSON_GetArraySize(at(&made, "steps.step")), 3);
    CHECK_NUMBER("by the time in each", number_at(&made, "steps.amount.0"), 49999);
    CHECK_NUMBER("and adds up", sum_at(&made, "steps.amount"), 100000);
    CHECK_NUMBER("what is not drawn is its caller's", number_at(&made, "steps.node.2"), 0);
    CHECK_NUMBER("in its step", number_at(&made, "steps.step.2"), 4);
    cJSON_Delete(made.json);
    timeline_close(line);
    html_stacks_free(stacks);
    arena_free(&arena);
}

static void test_sweep(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    maker_figure_3_3(&m);
    read_back(&m, &made, 1830);
    int w = cJSON_GetArraySize(at(&made, "sweep.weights")), g = cJSON_GetArraySize(at(&made, "sweep.grains"));
    CHECK("the grid has a row for each weight, a column for each grain",
          w == 41 && g == 41 && cJSON_GetArraySize(at(&made, "sweep.methods")) == w &&
              cJSON_GetArraySize(at(&made, "sweep.methods.0")) == g);
    CHECK_NUMBER("the lowest thresholds take all methods", number_at(&made, "sweep.methods.0.0"), 10);
    CHECK_NUMBER("and all calls", number_at(&made, "sweep.of_calls.0.0"), 1);
    CHECK("what a call costs was not measured", cJSON_IsNull(at(&made, "sweep.of_time.0.0")));
    CHECK_NUMBER("the thesis' thresholds take three", number_at(&made, "sweep.methods.35.33"), 3);
    done(&made);
}

/* ---- texts from anybody ---- */

static void test_escapes(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    maker_info(&m, "jvm.command", "java </script><script>alert(1)</script> <!-- & \"quoted\" \xff");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/B", "<init>", "()V");
    STEPS(&m, 0, ENTER(0, 0), EXIT(0, 100));
    read_back(&m, &made, 100);
    CHECK("the data end where they should", made.json != NULL);
    CHECK("no tag of the trace is in the page",
          strstr(made.page, "<script>alert") == NULL && strstr(made.page, "<!-- ") == NULL);
    CHECK_TEXT("the text comes back, as UTF-8",
               text_at(&made, "about.info.jvm\x01"
                              "command") == NULL
                   ? cJSON_GetStringValue(cJSON_GetObjectItem(at(&made, "about.info"), "jvm.command"))
                   : "",
               "java </script><script>alert(1)</script> <!-- & \"quoted\" \xef\xbf\xbd");
    CHECK_TEXT("constructors keep their names", text_at(&made, "tree.names.1"), "a.B.<init>");
    done(&made);
}

/* ---- what was not measured ---- */

/* The end-to-end test makes pages of these two. */
static void write_counted(struct maker *m, bool with_gc)
{
    maker_open(m, with_gc ? "counted.dat" : "partly.dat");
    maker_info(m, "offcpu", "perf");
    GROUPS(m, "cycles:u instructions:u");
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_method(m, 0, "a/B", "run", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0));
    READING(m, 0, 1, 1, 0, 0);
    if (with_gc)
        READING(m, 1, 0, 1, 0, 0);
    READING(m, 0, 1, 100000, 1000000, 500000);
    if (with_gc)
        READING(m, 1, 0, 100000, 3000000, 1000000);
    KERNEL(m, AT(TRACE_CPU_OUT, 1, 100000));
    STEPS(m, 0, ENTER(0, 100000, 1000000, 500000), EXIT(0, 200000, 3000000, 1000000));
}

static void test_counted(void)
{
    struct maker m;
    struct made made = { 0 };
    write_counted(&m, true);
    read_back(&m, &made, 200000);
    const cJSON *share = cell_at(&made, "parts", "cycles", "gc");
    CHECK("a part has its share of the events",
          cJSON_IsArray(share) && (int)(cJSON_GetArrayItem(share, 1)->valuedouble * 1000) == 500);
    CHECK_TEXT("a context has its cycles", text_at(&made, "tree.values.3.name"), "cycles:u");
    CHECK_NUMBER("those of its calls", number_at(&made, "tree.values.3.all.1"), 2000000);
    done(&made);
}

static void test_not_counted(void)
{
    struct maker m;
    struct made made = { 0 };
    write_counted(&m, false);
    read_back(&m, &made, 200000);
    CHECK("no shares of events where a part was not counted", cell_at(&made, "parts", "cycles", "gc") == NULL);
    CHECK_TEXT("a note says of whom", text_at(&made, "parts.notes.0"),
               "hardware events were not counted, or for too short a time, in: garbage collector");
    const cJSON *names = at(&made, "tree.names"), *all = at(&made, "tree.values.3.all");
    int gc = -1;
    for (int i = 0; i < cJSON_GetArraySize(names); i++)
        if (strcmp(cJSON_GetStringValue(cJSON_GetArrayItem(names, i)), "garbage collector") == 0)
            gc = i;
    CHECK("the collector's cycles are null, not 0", gc >= 0 && cJSON_IsNull(cJSON_GetArrayItem(all, gc)));
    done(&made);
}

/* ---- the time line ---- */

static void test_timeline(void)
{
    struct maker m;
    struct made made = { .wants_line = true };
    maker_open_scaled(&m, "html.dat", 1000);
    GROUPS(&m, "cycles:u instructions:u");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/B", "run", "()V");
    maker_method(&m, 1, "a/B", "rest", "()V");
    /* 400 ms of the one at CPI 2, then 400 ms of the other at CPI 4. */
    for (uint64_t t = 0; t < 400000; t += 1000)
        STEPS(&m, 0, ENTER(0, t, t * 2, t), EXIT(0, t + 1000, (t + 1000) * 2, t + 1000));
    for (uint64_t t = 0; t < 400000; t += 1000)
        STEPS(&m, 0, ENTER(1, 400000 + t, 800000 + t * 4, 400000 + t), EXIT(1, 401000 + t, 804000 + t * 4, 401000 + t));
    read_back(&m, &made, 800000);
    double n = number_at(&made, "timeline.steps");
    CHECK("there are not more steps than are wished for", n > 100 && n <= HTML_STEPS_MAX);
    CHECK_TEXT("the first part is the application", text_at(&made, "timeline.parts.0.key"), "application");
    CHECK("it had a CPU all the time", sum_at(&made, "timeline.parts.0.cpus") == n);
    CHECK_TEXT("CPI was measured", text_at(&made, "timeline.rates.0.name"), "CPI");
    CHECK_NUMBER("it is 2 at first", number_at(&made, "timeline.rates.0.parts.0.values.0") * 1000, 2000);
    double sum = sum_at(&made, "timeline.rates.0.parts.0.values");
    CHECK("and 4 in the second half", sum > 2.99 * n && sum < 3.01 * n);
    CHECK_NUMBER("each step is in a region", cJSON_GetArraySize(at(&made, "timeline.of_step")), n);
    CHECK_NUMBER("regions have CPI, too", number_at(&made, "timeline.regions.1.rates.0") * 1000, 2000);
    CHECK_TEXT("and phases", text_at(&made, "timeline.regions.1.rows.0.label"), "B.run");
    CHECK_NUMBER("contexts have their time by step", cJSON_GetArraySize(at(&made, "tree.steps.amount")), n);
    CHECK_NUMBER("all of it, in us", sum_at(&made, "tree.steps.amount"), 800000);
    CHECK_NUMBER("of the method that ran then", number_at(&made, "tree.steps.node.0"), 1);
    done(&made);
}

/* Without counters: off a CPU twice, once for another thread; two faults. */
static void test_loads(void)
{
    struct maker m;
    struct made made = { .wants_line = true };
    maker_open_scaled(&m, "html.dat", 1000);
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/B", "run", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_PAGE_FAULT, 0, 10), AT(TRACE_PAGE_FAULT, 0, 20),
           AT(TRACE_CPU_OUT, 0, 200000), AT(TRACE_CPU_IN, 0, 300000), AT(TRACE_CPU_PREEMPTED, 0, 500000),
           AT(TRACE_CPU_IN, 0, 600000), AT(TRACE_CPU_OUT, 0, 800000));
    STEPS(&m, 0, ENTER(0, 0, 0, 0), EXIT(0, 800000, 0, 0));
    const struct trace_event pause = { .kind = TRACE_PAUSE, .ticks = 250000, .count = 15000000 };
    maker_must(&m, trace_write_control(m.writer, &pause, 1, &m.err));
    const struct trace_collection collection = { 300000, 7000000, 0, "young pauses", "System.gc()" };
    maker_must(&m, trace_write_collection(m.writer, &collection, &m.err));
    read_back(&m, &made, 800000);
    CHECK_NUMBER("each collection is there, with its start", number_at(&made, "timeline.collections.0.0"), 300000000);
    CHECK_NUMBER("its time", number_at(&made, "timeline.collections.0.1"), 7000000);
    CHECK_TEXT("and its cause", text_at(&made, "timeline.collections.0.3"), "System.gc()");
    CHECK_NUMBER("when mmprof stopped the program is there", number_at(&made, "timeline.stops.0.0"), 250000000);
    CHECK_NUMBER("and for how long", number_at(&made, "timeline.stops.0.1"), 15000000);
    double step_s = number_at(&made, "timeline.step_ns") / 1e9;
    CHECK_NUMBER("no rate was measured", cJSON_GetArraySize(at(&made, "timeline.rates")), 0);
    CHECK_TEXT("a preempted thread waits for a CPU", text_at(&made, "timeline.loads.0.name"), "waiting for a CPU");
    double waits_s = sum_at(&made, "timeline.loads.0.parts.0.values") * step_s;
    CHECK("as long as it was off it", waits_s > 0.0999 && waits_s < 0.1001);
    CHECK_TEXT("switches are rates", text_at(&made, "timeline.loads.1.unit"), "a second");
    CHECK_NUMBER("of all of them", sum_at(&made, "timeline.loads.1.parts.0.values") * step_s + 0.5, 3);
    CHECK_NUMBER("so are faults", sum_at(&made, "timeline.loads.2.parts.0.values") * step_s + 0.5, 2);
    CHECK_TEXT("of the application", text_at(&made, "timeline.loads.2.parts.0.key"), "application");
    done(&made);
}

static void test_no_timeline(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    read_back(&m, &made, 1000);
    CHECK_TEXT("without a time line the page says why", text_at(&made, "timeline.why"), "for <reasons>");
    done(&made);
}

/* ---- IP samples ---- */

static void test_ip_samples(void)
{
    struct maker m;
    struct made made = { 0 };
    struct table table;
    table_begin(&table, &arena);
    table_column(&table, "Where", "where", TABLE_TEXT);
    table_column(&table, "All (%)", "share", TABLE_SHARE);
    table_metadata_number(&table, "hits", 74, "of 74 IP samples");
    struct table_cell *cells = table_row(&table, "kernel");
    cells[0] = table_words("kernel");
    cells[1] = table_number(0.25);
    made.ip_samples = &table;
    maker_open(&m, "html.dat");
    read_back(&m, &made, 1000);
    CHECK_NUMBER("the page has where threads were", number_at(&made, "ip_samples.where.rows.0.cells.1.1"), 0.25);
    CHECK_NUMBER("of how many IP samples", number_at(&made, "ip_samples.where.hits"), 74);
    CHECK_TEXT("the hottest code", text_at(&made, "ip_samples.hot.rows.0.cells.0"), "kernel");
    CHECK_TEXT("and pauses", text_at(&made, "ip_samples.pauses.rows.0.kind"), "kernel");
    CHECK_TEXT("calls by value", text_at(&made, "values.rows.0.kind"), "kernel");
    CHECK("live objects, with what stands above them", at(&made, "live_objects.rows.0.kind") != NULL &&
                                                           at(&made, "fields.rows.0.kind") != NULL &&
                                                           cJSON_IsArray(at(&made, "live_objects.lines")));
    done(&made);
}

static void test_no_ip_samples(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    read_back(&m, &made, 1000);
    CHECK_TEXT("without IP samples the page says why", text_at(&made, "ip_samples.where.why"), "nobody looked");
    CHECK("and has no code", at(&made, "ip_samples.where.rows") == NULL && at(&made, "ip_samples.hot") == NULL);
    CHECK_TEXT("without pauses, too", text_at(&made, "ip_samples.pauses.why"), "nobody asked");
    done(&made);
}

/* ---- bounds ---- */

/* Every context has as little as the others. */
static void test_bounds(void)
{
    enum { METHODS = 9000 };
    struct maker m;
    struct made made = { 0 };
    char name[32];
    maker_open(&m, "html.dat");
    maker_thread(&m, 0, "main", true);
    for (uint32_t i = 0; i < METHODS; i++) {
        snprintf(name, sizeof name, "m%u", i);
        maker_method(&m, i, "a/B", name, "()V");
    }
    for (uint32_t i = 0; i < METHODS; i++)
        STEPS(&m, 0, ENTER(i, i * 10), EXIT(i, i * 10 + 10));
    read_back(&m, &made, METHODS * 10);
    int n = cJSON_GetArraySize(at(&made, "tree.parent"));
    CHECK("not more contexts are drawn than there is room for", n > 0 && n <= HTML_NODES_MAX);
    CHECK_NUMBER("the page knows of the others", number_at(&made, "tree.contexts"), METHODS + 1);
    CHECK("and below which share they are", number_at(&made, "tree.least_share") > 1.0 / METHODS);
    CHECK("a page of many methods is small", strlen(made.page) < 1000000);
    done(&made);
}

static void test_empty(void)
{
    struct maker m;
    struct made made = { 0 };
    maker_open(&m, "html.dat");
    read_back(&m, &made, 1000);
    CHECK("a trace of nothing has a page, too", made.json != NULL);
    CHECK_TEXT("it says why there is no grid", text_at(&made, "sweep.why"),
               "the application's threads spent no time on this clock");
    done(&made);
}

int main(void)
{
    test_figure();
    test_tree();
    test_stacks();
    test_stacks_over_time();
    test_sweep();
    test_escapes();
    test_counted();
    test_not_counted();
    test_timeline();
    test_loads();
    test_no_timeline();
    test_ip_samples();
    test_no_ip_samples();
    test_bounds();
    test_empty();
    return tap_done();
}
