/*
 * mmprof report: per phase, how much time and why.
 *
 *     $ mmprof report phases.dat
 *     program  java -jar sort.jar
 *     trace    phases.dat: 1.00 ms, 1.66 ms of CPU time, 8 records of 4 calls
 *     check    97.6 % of the process' CPU time is accounted for: 1.66 ms of 1.70 ms
 *
 *     Phase                    Time (%)  Self (%)  Calls  Time/call    CPI   L1-D  Off-CPU/call
 *     -----------------------------------------------------------------------------------------
 *     Sort.run                    14.12      5.53      1     240 us  1.357   3.64       50.0 us
 *     Sort.sort                    8.59      8.59      2    73.0 us  4.400  16.00       25.0 us
 *     -----------------------------------------------------------------------------------------
 *     application, other code     35.12     35.12    n/a        n/a  2.000   9.80           n/a
 *     garbage collector           41.18     41.18    n/a        n/a      -      -           n/a
 *     ...
 */
#include "cmd/report_run.h"
#include "report/some_threads.h"

#include <string.h>

#define TOP_UNSET     UINT64_MAX
#define TOP_ON_SCREEN 30
#define TOP_IN_HTML   200

/* What the command line says of views: --view, and the views' names as options, as they were until version 0.1. */
struct view_words {
    const char *view, *named[REPORT_VIEWS_MAX]; /* named: the argument, "" without one; NULL: not given */
    struct options_row rows[REPORT_VIEWS_MAX];
    bool lists;
};

static void make_rows(struct view_words *words)
{
    for (size_t i = 0; report_views[i].name != NULL; i++)
        words->rows[i] =
            (struct options_row){ 0,
                                  report_views[i].name,
                                  report_views[i].argument == NULL ? "ARG" : report_views[i].argument,
                                  (report_views[i].can & REPORT_VIEW_METHOD) ? OPTION_TEXT : OPTION_MAYBE_TEXT,
                                  &words->named[i],
                                  NULL };
}

/* Set the view to the one that is asked for. */
static int choose_view(const struct view_words *words, struct report_options *o, struct err *err)
{
    const struct report_view *view = NULL;
    if (words->view != NULL && (view = report_view_find(words->view, &o->argument, err)) == NULL)
        return -1;
    for (size_t i = 0; report_views[i].name != NULL; i++) {
        if (words->named[i] == NULL)
            continue;
        if (view != NULL) {
            err_set(err, "'%s' and '%s' are two views", view->name, report_views[i].name);
            return err_next(err, "choose one of them");
        }
        view = &report_views[i];
        o->argument = words->named[i];
    }
    o->view = view == NULL ? &report_views[0] : view;
    return 0;
}

static int parse(int argc, char **argv, struct report_options *o, bool *done, struct err *err)
{
    struct view_words words = { .lists = false };
    struct options_row rows[] = {
        OPTIONS_GROUP("Views"),
        { 0, "view", "NAME[=ARG]", OPTION_TEXT, &words.view, "print this view of the trace (phases)" },
        { 0, "views", NULL, OPTION_FLAG, &words.lists, "list the views" },
        { 0, "java", NULL, OPTION_FLAG, &o->java, "misses: only of Java code, not of the JVM or libraries" },
        { 0, "source", "DIR", OPTION_TEXT, &o->sources, "misses=line: print the lines, of sources in DIR" },
        OPTIONS_GROUP("Rows"),
        { 0, "sort", "KEY", OPTION_TEXT, &o->wish.sort,
          "time, self, calls, percall, cpi, off-cpu, or an event (time)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->wish.min_share, "leave out phases with less of the time (1%)" },
        { 0, "top", "N", OPTION_NUMBER, &o->wish.top,
          "print the N methods with most time (30; 0: all; CSV, JSON: all; --html: 200)" },
        { 0, "all", NULL, OPTION_FLAG, &o->wish.all, "print all methods, however small" },
        { 0, "thread", "NAME", OPTION_TEXT, &o->threads, "only threads of that name; '*' stands for any characters" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall: waiting counts too (cpu)" },
        OPTIONS_GROUP("Input, output"),
        { 0, "html", "FILE", OPTION_TEXT, &o->html, "write a page for a browser: the tables, plots, the call tree" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the trace" },
        OPTIONS_ROWS(words.rows),
        { 0 },
    };
    make_rows(&words);
    if (command_parse_traces(
            "report [OPTIONS] [TRACE...]",
            "Prints the phases of a trace (trace.dat): their share of the process' time, calls, cycles\n"
            "per instruction and misses, next to the JVM's own threads.  Several traces are those of one\n"
            "program, recorded with --groups separate.",
            rows, argc, argv, o->paths, REPORT_TRACES_MAX, &o->n_paths, done, err) < 0)
        return -1;
    if (words.lists && !*done) {
        report_views_print(stdout);
        *done = true;
    }
    return choose_view(&words, o, err);
}

/* A trace that is salvaged may have lost the name of a method that it has events of. */
static void hear_jit(void *context, const struct jit_event *event)
{
    struct report_run *run = context;
    struct err ignored;
    if (run->jit_err.text[0] != '\0' || (run->shapes == NULL && jit_shapes_open(&run->shapes, &run->jit_err) < 0))
        return;
    jit_shapes_add(run->shapes, event, run->options->salvage ? &ignored : &run->jit_err);
}

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct report_run *run = context;
    trace_samples_add(&run->samples, sample);
}

static int open_statistics(struct report_run *run, enum phases_clock clock, struct err *err)
{
    const struct report_options *o = run->options;
    if (call_metrics_read(o->paths[0], o->salvage, clock, &run->arena, &run->metrics, err) < 0)
        return -1;
    run->statistics = statistics_open(&run->metrics.wish);
    return run->statistics == NULL ? err_set(err, "out of memory for statistics") : 0;
}

static int read_trace(struct report_run *run, size_t i, enum phases_clock clock, const struct calltree_options *options,
                      struct err *err)
{
    const struct report_options *o = run->options;
    struct trace_reader **reader = &run->inputs[i].reader;
    struct calltree *tree = &run->inputs[i].tree;
    struct calltree_total *totals;
    const struct trace_listener listener = { .context = run,
                                             .jit = i == 0 ? hear_jit : NULL,
                                             .sample = i == 0 ? hear_sample : NULL };
    if (trace_open(reader, o->paths[i], o->salvage, err) < 0 ||
        (i == 0 && trace_samples_open(&run->samples, *reader, err) < 0))
        return -1;
    run->samples.only_threads = o->threads;
    trace_listen(*reader, &listener);
    if (calltree_build(*reader, options, tree, err) < 0 ||
        (o->threads != NULL && threads_keep(*reader, o->threads, tree, err) < 0) ||
        calltree_totals(tree, VM_PART_APPLICATION, &run->arena, &totals, &run->traces[i].n_totals, err) < 0)
        return -1;
    if (run->jit_err.text[0] != '\0')
        return err_set(err, "%s", run->jit_err.text);
    run->inputs[i].source = (struct report_source){ .path = o->paths[i],
                                                    .reader = *reader,
                                                    .tree = tree,
                                                    .clock = report_clock(tree, clock),
                                                    .arena = &run->arena,
                                                    .only_threads = o->threads != NULL,
                                                    .shapes = i == 0 ? run->shapes : NULL };
    run->traces[i].source = &run->inputs[i].source;
    run->traces[i].totals = totals;
    return 0;
}

/* A page has all of one trace, and a time line of any step; a view is of one trace, but for the phases'. */
static int check_page(const struct report_options *o, struct err *err)
{
    if (o->csv || o->json) {
        err_set(err, "--html writes a page, and --%s a table", o->csv ? "csv" : "json");
        return err_next(err, "run 'mmprof report' once for each");
    }
    if (o->view != &report_views[0] && !report_view_is(o->view, "timeline")) {
        err_set(err, "--html and the view '%s' are two reports", o->view->name);
        return err_next(err, "choose one of them");
    }
    return 0;
}

static int check_options(const struct report_options *o, enum phases_clock clock, struct err *err)
{
    if (o->java && !report_view_is(o->view, "misses")) {
        err_set(err, "--java requires the view 'misses'");
        return err_next(err, "add --view misses, or remove --java");
    }
    if (o->threads != NULL && (o->html != NULL || !(o->view->can & REPORT_VIEW_THREADS))) {
        err_set(err, "%s of all threads", o->html != NULL ? "a page is" : "this view is");
        return err_next(err, "remove --thread, or choose --view phases, tree, callers or callees");
    }
    if (o->html != NULL)
        return check_page(o, err);
    if (clock != PHASES_CPU && !(o->view->can & REPORT_VIEW_WAITING)) {
        err_set(err, "the view '%s' has no wall-clock time", o->view->name);
        return err_next(err, "remove '--clock %s'", o->clock);
    }
    if (o->n_paths == 1 || o->view == &report_views[0])
        return 0;
    err_set(err, "the view '%s' reads one trace, not both '%s' and '%s'", o->view->name, o->paths[0], o->paths[1]);
    return err_next(err, "run it once for each of them");
}

static int run_report(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    enum phases_clock clock;
    struct calltree_observer observer;
    struct calltree_options options = { .per_thread = o->threads != NULL }, others = options;
    if (report_clock_parse(o->clock, &clock, err) < 0 || check_options(o, clock, err) < 0)
        return -1;
    if (report_view_is(o->view, "stats") || o->html != NULL) {
        if (open_statistics(run, clock, err) < 0)
            return -1;
        observer = statistics_observer(run->statistics);
        options.observer = &observer;
    }
    for (size_t i = 0; i < o->n_paths; i++)
        if (read_trace(run, i, clock, i == 0 ? &options : &others, err) < 0)
            return -1;
    if (sampled_tree(run->traces[0].source, &run->samples, o->threads != NULL, &run->first_whole, err) < 0)
        return -1;
    memcpy(run->whole, run->traces, sizeof run->whole);
    run->whole[0].source = &run->first_whole;
    call_metrics_judge(&run->metrics, run->inputs[0].reader, &run->inputs[0].tree);
    return o->html != NULL ? report_page_print(run, err) : o->view->print(run, err);
}

int command_report(int argc, char **argv, struct err *err)
{
    struct report_options options = { .clock = "cpu",
                                      .argument = "",
                                      .wish = { .sort = "time", .min_share = 0.01, .top = TOP_UNSET } };
    struct report_run run = { .options = &options };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    if (options.wish.top == TOP_UNSET)
        options.wish.top = options.html != NULL                              ? TOP_IN_HTML
                           : options.csv || options.json || options.wish.all ? 0
                                                                             : TOP_ON_SCREEN;
    int rc = done ? 0 : run_report(&run, err);
    statistics_close(run.statistics);
    jit_shapes_close(run.shapes);
    trace_samples_close(&run.samples);
    for (size_t i = 0; i < options.n_paths; i++) {
        calltree_free(&run.inputs[i].tree);
        trace_close(run.inputs[i].reader);
    }
    arena_free(&run.arena);
    return rc;
}
