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
#include "cmd/parts.h"
#include "cmd/program.h"
#include "cmd/report_run.h"
#include "cmd/terminal.h"

#include "core/base/xalloc.h"

#include <sys/stat.h>

#define SMALL_BYTES   (8 << 20)
#define TOP_UNSET     UINT64_MAX
#define TOP_ON_SCREEN 30
#define TOP_IN_HTML   200

/* What the command line says of views: --view, and the views' names as options, as they were until version 0.1. */
struct view_words {
    const char *view, *by, *named[REPORT_VIEWS_MAX]; /* named: the argument, "" without one; NULL: not given */
    const char *sources; /* as java and regions, options until version 0.1, now words of a view's argument */
    bool java, regions;
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

/* Of some views the argument has words behind a comma: misses=class,java.  What is left of it names what rows are. */
static int take_words(const struct view_words *old, struct report_options *o, struct arena *arena, struct err *err)
{
    bool of_phases = report_view_is(o->view, "phases"), of_misses = report_view_is(o->view, "misses");
    bool has_java = of_misses || report_view_is(o->view, "fields");
    const char *left = "", *list = of_phases || has_java ? o->argument : "";
    for (size_t n; *list != '\0'; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        const char *word = arena_text(arena, list, n);
        if (has_java && strcmp(word, "java") == 0) {
            o->java = true;
        } else if (of_phases && strcmp(word, "regions") == 0) {
            o->regions = true;
        } else if (of_misses && strncmp(word, "source=", 7) == 0) {
            o->sources = word + 7;
        } else if (has_java && left[0] == '\0') {
            left = word;
        } else {
            err_set(err, "the view '%s' has no '%s'", o->view->name, word);
            return err_next(err, "run 'mmprof report --views' for what a view can have");
        }
    }
    if (of_phases || has_java)
        o->argument = left;
    o->java = o->java || old->java;
    o->regions = o->regions || old->regions;
    o->sources = o->sources == NULL ? old->sources : o->sources;
    if (old->java || old->regions || old->sources != NULL)
        fprintf(stderr, "mmprof: '--%s' is deprecated: use '--view %s'\n",
                old->java      ? "java"
                : old->regions ? "regions"
                               : "source",
                old->java      ? "misses=BY,java"
                : old->regions ? "phases=regions"
                               : "misses=line,source=DIR");
    return 0;
}

/* Set the view to the one that is asked for. */
static int choose_view(const struct view_words *words, struct report_options *o, struct arena *arena, struct err *err)
{
    const struct report_view *view = NULL;
    if (words->view != NULL && words->by != NULL) {
        err_set(err, "--by is a view, and '%s' another one", words->view);
        return err_next(err, "choose one of them");
    }
    if (words->by != NULL) {
        view = report_view_find("groups", &o->argument, err);
        o->argument = words->by;
    }
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
        fprintf(stderr, "mmprof: '--%s' is deprecated: use '--view %s%s%s'\n", view->name, view->name,
                o->argument[0] == '\0' ? "" : "=", o->argument);
    }
    o->view = view == NULL ? &report_views[0] : view;
    return take_words(words, o, arena, err);
}

static int parse(int argc, char **argv, struct report_options *o, struct display *display, struct arena *arena,
                 bool *done, struct err *err)
{
    struct view_words words = { .lists = false };
    struct options_row rows[] = {
        OPTIONS_GROUP("Views"),
        { 0, "view", "NAME[=ARG]", OPTION_TEXT, &words.view, "print this view of the trace (phases)" },
        { 0, "by", "KIND", OPTION_TEXT, &words.by, "by request, package, thread or a METHOD: --view groups=KIND" },
        { 0, "views", NULL, OPTION_FLAG, &words.lists, "list the views" },
        { 0, "java", NULL, OPTION_FLAG, &words.java, NULL },
        { 0, "source", "DIR", OPTION_TEXT, &words.sources, NULL },
        { 0, "regions", NULL, OPTION_FLAG, &words.regions, NULL },
        OPTIONS_RARE,
        { 0, "decay", "TIME", OPTION_SECONDS, &o->decay_s, "fields: sort by heat; a miss counts half after this time" },
        OPTIONS_GROUP("Rows"),
        { 0, "sort", "KEY", OPTION_TEXT, &o->sort,
          "a column's key; phases: also time, self, calls, percall, cpi, off-cpu, an event" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->rows.min_share, "leave out phases with less of the time (1%)" },
        { 0, "top", "N", OPTION_NUMBER, &o->rows.top,
          "print the N methods with most time (30; 0: all; CSV, JSON: all; --html: 200)" },
        { 0, "all", NULL, OPTION_FLAG, &o->rows.all, "print all methods, however small" },
        { 0, "no-fold", NULL, OPTION_FLAG, &o->no_fold, "also print methods that only delegate, and framework code" },
        { 0, "thread", "NAME", OPTION_TEXT, &o->threads, "only threads of that name; '*' matches any characters" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall, which includes waiting (cpu)" },
        OPTIONS_RARE,
        { 0, "fold", "FILE", OPTION_MAYBE_TEXT, &o->fold,
          "fold in CSV and JSON, too; FILE lists the libraries' classes" },
        OPTIONS_GROUP("Input, output"),
        { 0, "html", "FILE", OPTION_TEXT, &o->html, "write a page for a browser: the tables, plots, the call tree" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        { 0, "for-agents", NULL, OPTION_FLAG, &o->for_agents,
          "print findings, phases and notes as one JSON of 16 KB at most, for an assistant" },
        DISPLAY_ROW(display),
        DISPLAY_PAGER_ROW(display),
        { 0, "columns", "KEY,...", OPTION_TEXT, &o->columns, "print these columns, by their keys in CSV" },
        { 0, "wide", NULL, OPTION_FLAG, &o->wide, "print all columns of the phases, and the recording's cost" },
        { 0, "notes", NULL, OPTION_FLAG, &o->notes, "print all notes below the table" },
        OPTIONS_RARE,
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the trace" },
        OPTIONS_ROWS(words.rows),
        { 0 },
    };
    make_rows(&words);
    if (command_parse_traces(
            "report [OPTIONS] [TRACE...]",
            "Prints the phases of a trace (trace.dat): their share of the process' time, calls, cycles\n"
            "per instruction and misses, next to the JVM's own threads.  Several traces are those of one\n"
            "program, recorded with --groups separate; or its runs, with --view runs.",
            rows, argc, argv, o->paths, REPORT_TRACES_MAX, &o->n_paths, done, err) < 0)
        return -1;
    if (words.lists && !*done) {
        report_views_print(stdout);
        *done = true;
    }
    return choose_view(&words, o, arena, err);
}

/* A page has all of one trace, and a time line of any step; a view is of one trace, but for the phases'. */
static int check_page(const struct report_options *o, struct err *err)
{
    if (o->csv || o->json) {
        err_set(err, "--html writes a page, and --%s a table", o->csv ? "csv" : "json");
        return err_next(err, "run 'mmprof report' once for each");
    }
    if (o->columns != NULL) {
        err_set(err, "--html writes all columns, and --columns chooses some");
        return err_next(err, "remove one of them");
    }
    if (o->view != &report_views[0] && !report_view_is(o->view, "timeline")) {
        err_set(err, "--html and the view '%s' are two reports", o->view->name);
        return err_next(err, "choose one of them");
    }
    return 0;
}

/* It is of all threads of the phases' view, and a format of its own. */
static int check_agents(const struct report_options *o, struct err *err)
{
    const char *other = o->html != NULL               ? "html"
                        : o->csv                      ? "csv"
                        : o->json                     ? "json"
                        : o->columns != NULL          ? "columns"
                        : o->threads != NULL          ? "thread"
                        : o->view != &report_views[0] ? "view"
                                                      : NULL;
    if (!o->for_agents || other == NULL)
        return 0;
    err_set(err, "--for-agents prints one JSON of the findings and phases, and --%s is for tables", other);
    return err_next(err, "remove one of them");
}

static int check_decay(const struct report_options *o, struct err *err)
{
    if (o->decay_s > 0 && !report_view_is(o->view, "fields") && o->html == NULL) {
        err_set(err, "--decay requires the view 'fields', or --html");
        return err_next(err, "add --view fields, or remove --decay");
    }
    return 0;
}

static int check_options(const struct report_options *o, enum phases_clock clock, struct err *err)
{
    if (check_agents(o, err) < 0 || check_decay(o, err) < 0)
        return -1;
    if (o->regions && (o->view != &report_views[0] || o->html != NULL || o->n_paths > 1)) {
        err_set(err, "phases=regions adds a column to the table of one trace");
        return err_next(err, "use --view timeline or --html FILE: they have the regions, too");
    }
    if (o->threads != NULL && (o->html != NULL || !(o->view->can & REPORT_VIEW_THREADS))) {
        char views[256];
        err_set(err, "%s of all threads", o->html != NULL ? "a page is" : "this view is");
        report_views_that_can(REPORT_VIEW_THREADS, views, sizeof views);
        return err_next(err, "remove --thread, or choose a view of these: %s", views);
    }
    if (o->html != NULL)
        return check_page(o, err);
    if (clock != PHASES_CPU && !(o->view->can & REPORT_VIEW_WAITING)) {
        err_set(err, "the view '%s' has no wall-clock time", o->view->name);
        return err_next(err, "remove '--clock %s'", o->clock);
    }
    if (o->n_paths == 1 || o->view == &report_views[0] || (o->view->can & REPORT_VIEW_RUNS))
        return 0;
    err_set(err, "the view '%s' reads one trace, not both '%s' and '%s'", o->view->name, o->paths[0], o->paths[1]);
    return err_next(err, "run it once for each of them");
}

/* The step of a time line in ns; 0: choose one. */
static int parse_step(const struct report_options *o, double *step_ns, struct err *err)
{
    double step = 0;
    *step_ns = 0;
    if (!report_view_is(o->view, "timeline") || o->argument[0] == '\0')
        return 0;
    if (options_seconds(o->argument, &step) < 0) {
        err_set(err, "'%s' is no time", o->argument);
        return err_next(err, "give steps in seconds, such as --view timeline=0.1 or timeline=20ms");
    }
    *step_ns = step * 1e9;
    return 0;
}

/* Quantiles for the table of requests take a fraction of a second then. */
static bool is_small(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size <= SMALL_BYTES;
}

static int read_traces(struct report_run *run, enum phases_clock clock, struct err *err)
{
    const struct report_options *o = run->options;
    struct view_pass_options options = { .salvage = o->salvage,
                                         .clock = clock,
                                         .per_thread = o->threads != NULL,
                                         .only_threads = o->threads,
                                         .progress = terminal_is_one(stderr) ? stderr : NULL };
    if (parse_step(o, &options.step_ns, err) < 0)
        return -1;
    run->libraries = folding_read(o->fold == NULL || o->fold[0] == '\0' ? NULL : o->fold, &run->arena, err);
    if (run->libraries == NULL)
        return -1;
    options.libraries = run->libraries;
    options.parts = VIEW_PASS_SAMPLES | VIEW_PASS_JIT | (o->html != NULL ? REPORT_PAGE_PARTS : o->view->parts);
    bool is_bare = !o->csv && !o->json && !o->for_agents && !o->wide && o->columns == NULL && o->sort == NULL;
    if (report_view_is(o->view, "phases") && (!is_bare || is_small(o->paths[0])))
        options.parts |= VIEW_PASS_QUANTILES;
    options.parts |= o->regions ? VIEW_PASS_TIMELINE : 0;
    options.steps_max = o->html != NULL ? HTML_STEPS_MAX : 0;
    size_t n = (o->view->can & REPORT_VIEW_RUNS) ? 1 : o->n_paths;
    for (size_t i = 0; i < n; i++, options.parts = 0) {
        struct view_pass *pass = &run->passes[i];
        options.path = o->paths[i];
        if (view_pass_read(&options, &run->arena, pass, err) < 0)
            return -1;
        run->traces[i] = (struct report_trace){ &pass->source, pass->totals, pass->n_totals };
    }
    return 0;
}

static int run_report(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    enum phases_clock clock;
    if (report_clock_parse(o->clock, &clock, err) < 0 || check_options(o, clock, err) < 0 ||
        read_traces(run, clock, err) < 0)
        return -1;
    const struct report_source *first = run->traces[0].source;
    sampled_tree(first, view_pass_samples(&run->passes[0], first), o->threads != NULL, &run->first_whole);
    run->first_whole.throttled = throttled_find(&run->passes[0], &run->first_whole);
    memcpy(run->whole, run->traces, sizeof run->whole);
    run->whole[0].source = &run->first_whole;
    return o->for_agents     ? report_agents_print(run, err)
           : o->html != NULL ? report_page_print(run, err)
                             : report_view_print(run, err);
}

int command_report(int argc, char **argv, struct err *err)
{
    struct report_options options = { .clock = "cpu",
                                      .argument = "",
                                      .rows = { .sort = "time", .min_share = 0.01, .top = TOP_UNSET } };
    struct display display = DISPLAY_OF_PAGES;
    struct report_run run = { .argc = argc, .argv = argv, .options = &options, .display = &display };
    bool done;
    if (parse(argc, argv, &options, &display, &run.arena, &done, err) < 0) {
        arena_free(&run.arena);
        return -1;
    }
    if (!done && (options.view->can & REPORT_VIEW_LAB) != 0 && parts.misses_view == NULL)
        return program_become("lab", argc, argv, err);
    if (options.sort != NULL)
        options.rows.sort = options.sort;
    if (options.rows.all)
        options.rows.min_share = 0;
    if (options.rows.top == TOP_UNSET)
        options.rows.top = options.html != NULL                              ? TOP_IN_HTML
                           : options.csv || options.json || options.rows.all ? 0
                                                                             : TOP_ON_SCREEN;
    int rc = done ? 0 : trace_argument_find(&run.arena, options.paths, REPORT_TRACES_MAX, &options.n_paths, err);
    run.passes = xcalloc(options.n_paths + 1, sizeof *run.passes);
    if (rc == 0 && !done)
        rc = display_close(&display, run_report(&run, err), err);
    for (size_t i = 0; i < options.n_paths; i++)
        view_pass_close(&run.passes[i]);
    free(run.passes);
    arena_free(&run.arena);
    return rc;
}
