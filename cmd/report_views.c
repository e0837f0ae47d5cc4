/* The views of 'mmprof report', each a table: one row here says its name, what it shows, and who makes it. */
#include "cmd/parts.h"
#include "cmd/report_run.h"
#include "core/base/call_argument.h"
#include "core/base/near.h"
#include "report/diff/diff.h"
#include "report/view/allocations.h"
#include "report/view/compiled.h"
#include "report/view/cost.h"
#include "report/view/groups.h"
#include "report/view/tables.h"
#include "report/view/live_objects.h"
#include "report/view/slow.h"
#include "report/view/values.h"

#define NOTES_MOST 3                      /* in text, without --notes */
#define MARKS      "mmprof.Marks.mark(1)" /* core/agent/Marks.java */

static bool is_text(const struct report_run *run)
{
    return !run->options->csv && !run->options->json;
}

static int make_cost(struct report_run *run, struct table *table, struct err *err)
{
    (void)err;
    cost_make(run->traces[0].source, &run->passes[0].recompilation, table);
    return 0;
}

static int make_pauses(struct report_run *run, struct table *table, struct err *err)
{
    return pauses_table(run->traces[0].source, table, err);
}

static int make_startup(struct report_run *run, struct table *table, struct err *err)
{
    return startup_table(&run->passes[0], run->options->rows.top, table, err);
}

static int make_collections(struct report_run *run, struct table *table, struct err *err)
{
    return collections_table(&run->passes[0], table, err);
}

/* What a pass could not have: *why is "" where it could. */
static int check_part(const struct err *why, struct err *err)
{
    if (why->text[0] == '\0')
        return 0;
    *err = *why;
    return -1;
}

static int make_vm(struct report_run *run, struct table *table, struct err *err)
{
    const struct view_pass *pass = &run->passes[0];
    if (check_part(&pass->no_where, err) < 0)
        return -1;
    where_table(&pass->source, &pass->where, table);
    return 0;
}

static int make_hot(struct report_run *run, struct table *table, struct err *err)
{
    const struct view_pass *pass = &run->passes[0];
    if (check_part(&pass->no_where, err) < 0)
        return -1;
    where_hot_table(&pass->source, &pass->where, run->options->rows.top, table);
    return 0;
}

static int make_inlining(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_row_options *rows = &run->options->rows;
    const struct inlining_options options = { rows->all ? 0 : rows->min_share, rows->top };
    return inlining_table(&run->passes[0], &options, table, err);
}

static int make_jit(struct report_run *run, struct table *table, struct err *err)
{
    return compiled_table(&run->passes[0], &run->options->rows, table, err);
}

/* Of a simulation: what is not in this program is in mmprof-lab, which command_report has become then. */
static int make_misses(struct report_run *run, struct table *table, struct err *err)
{
    return parts.misses_view(run, table, err);
}

static int make_fields(struct report_run *run, struct table *table, struct err *err)
{
    return parts.fields_view(run, table, err);
}

static int make_waits(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_row_options *rows = &run->options->rows;
    const struct waits_table_options options = { rows->all ? 0 : rows->min_share, rows->top };
    return waits_table(&run->passes[0].source, &run->passes[0].waits, &options, table, err);
}

static int make_locks(struct report_run *run, struct table *table, struct err *err)
{
    const struct waits_table_options options = { 0, run->options->rows.top };
    return locks_table(&run->passes[0].source, &run->passes[0].waits, &options, table, err);
}

static int make_allocations(struct report_run *run, struct table *table, struct err *err)
{
    enum allocations_by by;
    return allocations_by_name(run->options->argument, &by, err) < 0
               ? -1
               : allocations_table(&run->passes[0], by, &run->options->rows, table, err);
}

static int make_live_objects(struct report_run *run, struct table *table, struct err *err)
{
    enum live_objects_by by;
    return live_objects_by_name(run->options->argument, &by, err) < 0
               ? -1
               : live_objects_table(&run->passes[0], by, &run->options->rows, table, err);
}

/* The method's name, of words that 'record --by' takes, "doGet(1).getRequestURI()"; the arena's.  NULL: they are none.
 */
static const char *told_apart(struct arena *arena, const char *words)
{
    struct call_argument argument;
    if (call_argument_parse(&argument, words) < 0)
        return NULL;
    for (char *at = argument.methods; (at = strchr(at, '/')) != NULL;)
        *at = '.';
    return arena_text(arena, argument.methods, strlen(argument.methods));
}

static int refuse_values(const struct report_run *run, const char *words, struct err *err)
{
    const struct report_source *source = run->traces[0].source;
    err_set(err, "'%s' has no values of '%s'%s", source->path, words,
            trace_samples_are_all(source->reader) ? ": stack samples have no arguments" : "");
    return err_next(err, "record it with 'mmprof profile --argument', or give the method only, without (N)");
}

static int make_groups(struct report_run *run, struct table *table, struct err *err)
{
    const char *by = strcmp(run->options->argument, "mark") == 0 ? MARKS : run->options->argument;
    const char *method = told_apart(&run->arena, by);
    bool is_method =
        by[0] != '\0' && strcmp(by, "package") != 0 && strcmp(by, "thread") != 0 && strcmp(by, "request") != 0;
    if (method != NULL && !values_has(&run->passes[0], method))
        return refuse_values(run, by, err);
    by = method != NULL ? method : by;
    if (is_method && values_has(&run->passes[0], by)) {
        values_table(&run->passes[0], run->whole[0].source, by, &run->options->rows, table);
        return 0;
    }
    return groups_table(&run->passes[0], run->whole[0].source, run->options->argument, &run->options->rows, table, err);
}

static int make_timeline(struct report_run *run, struct table *table, struct err *err)
{
    struct view_pass *pass = &run->passes[0];
    const struct report_source *whole = run->whole[0].source;
    if (check_part(&pass->no_line, err) < 0 ||
        timeline_end(whole, pass->totals, pass->n_totals, &run->options->rows, &pass->line, err) < 0)
        return -1;
    timeline_table(whole, &pass->line, is_text(run), table);
    return 0;
}

static int make_stats(struct report_run *run, struct table *table, struct err *err)
{
    const struct view_pass *pass = &run->passes[0];
    return stats_table(run->whole[0].source, pass->totals, pass->n_totals, &run->options->rows, &pass->metrics,
                       pass->statistics, table, err);
}

static int make_runs(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct diff_row_options options = { .paths = { o->paths },
                                              .n_traces = { o->n_paths },
                                              .clock = run->traces[0].source->clock,
                                              .salvage = o->salvage,
                                              .all = o->rows.all,
                                              .min_share = o->rows.min_share };
    return runs_table(&options, is_text(run), &run->arena, table, err);
}

static int make_slow(struct report_run *run, struct table *table, struct err *err)
{
    return slow_table(&run->passes[0], run->traces[0].source, &run->options->rows, table, err);
}

/* The regions of rows: those of the time line with most of their own time.  Returns 0, or -1 with *err set. */
static int find_regions(struct report_run *run, struct report_row_options *rows, struct err *err)
{
    struct view_pass *pass = &run->passes[0];
    const struct report_source *whole = run->whole[0].source;
    const struct timeline_read *read = &pass->line;
    uint32_t *region_of = arena_alloc(&run->arena, ((size_t)whole->tree->n_methods + 1) * sizeof *region_of);
    if (check_part(&pass->no_line, err) < 0 ||
        timeline_end(whole, pass->totals, pass->n_totals, rows, &pass->line, err) < 0)
        return -1;
    for (size_t i = 0; i < read->n_rows; i++)
        region_of[read->rows[i].total->method] = read->regions.of_row[i];
    rows->region_of = region_of;
    rows->collector_region = read->regions.n > 0 && read->regions.regions[1].is_gc ? 1 : TIMELINE_IDLE;
    return 0;
}

int report_make_table(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct samples_options options = { o->rows.all ? 0 : o->rows.min_share, o->rows.top,
                                             strcmp(o->rows.sort, "self") == 0, false, false };
    struct report_row_options rows = o->rows;
    bool folds = o->fold != NULL || (is_text(run) && !rows.all);
    rows.calls = o->html != NULL ? NULL : run->passes[0].statistics;
    rows.fold = folds && !o->no_fold ? run->libraries : NULL;
    if (o->regions && find_regions(run, &rows, err) < 0)
        return -1;
    return trace_samples_are_all(run->traces[0].source->reader)
               ? trace_samples_table(&run->passes[0].samples, &options, &run->arena, table, err)
               : report_make_joined(run->whole, o->n_paths, &rows, table, err);
}

static struct findings_input findings_input_of(const struct report_run *run)
{
    return (
        struct findings_input){ .source = run->whole[0].source, .libraries = run->libraries, .pass = &run->passes[0] };
}

static int make_findings(struct report_run *run, struct table *table, struct err *err)
{
    const struct findings_input input = findings_input_of(run);
    (void)err;
    findings_table(&input, table);
    return 0;
}

static int make_tree_of(struct report_run *run, enum tree_view_kind kind, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct tree_table_options options = { kind, o->argument[0] == '\0' ? NULL : o->argument,
                                                o->rows.all ? 0 : o->rows.min_share, is_text(run) };
    return tree_table(run->whole[0].source, &options, table, err);
}

static int make_tree(struct report_run *run, struct table *table, struct err *err)
{
    return make_tree_of(run, TREE_VIEW_ALL, table, err);
}

static int make_callers(struct report_run *run, struct table *table, struct err *err)
{
    return make_tree_of(run, TREE_VIEW_CALLERS, table, err);
}

static int make_callees(struct report_run *run, struct table *table, struct err *err)
{
    return make_tree_of(run, TREE_VIEW_CALLEES, table, err);
}

const struct report_view report_views[] = {
    { "phases", "regions", "the phases' time, calls, CPI and misses, and the JVM's own threads (the default)",
      report_make_table, REPORT_VIEW_THREADS | REPORT_VIEW_WAITING,
      VIEW_PASS_RECOVERY | VIEW_PASS_ALLOCATIONS | VIEW_PASS_FINDINGS | VIEW_PASS_WAIT_STACKS },
    { "findings", NULL, "what costs most, in plain English", make_findings, 0, VIEW_PASS_FINDINGS },
    { "tree", NULL, "the call tree, from probes and samples together", make_tree,
      REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, 0 },
    { "callers", "METHOD", "a method's callers, with its time and calls from each", make_callers,
      REPORT_VIEW_METHOD | REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, 0 },
    { "callees", "METHOD", "a method's callees, direct and indirect, with their part of the time", make_callees,
      REPORT_VIEW_METHOD | REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, 0 },
    { "groups", "KIND",
      "time, waiting and bytes by request, thread, package, mark, or METHOD: each class or value (package)",
      make_groups, REPORT_VIEW_THREADS | REPORT_VIEW_WAITING,
      VIEW_PASS_QUANTILES | VIEW_PASS_WAIT_STACKS | VIEW_PASS_ALLOCATIONS | VIEW_PASS_VALUES },
    { "stats", NULL, "how calls vary within and between phases", make_stats, REPORT_VIEW_WAITING,
      VIEW_PASS_STATISTICS },
    { "runs", NULL, "several runs of one program: each phase's mean, and the variation between runs", make_runs,
      REPORT_VIEW_RUNS | REPORT_VIEW_WAITING, 0 },
    { "slow", NULL, "why the slowest 1 % of a phase's calls take longer than its median call", make_slow, 0,
      VIEW_PASS_SLOW | VIEW_PASS_WAITS | VIEW_PASS_WAIT_STACKS | VIEW_PASS_PRESSURE },
    { "timeline", "STEP", "what happened when, in steps of STEP (1s, 20ms)", make_timeline, 0,
      VIEW_PASS_TIMELINE | VIEW_PASS_PRESSURE },
    { "waits", NULL, "why and where threads waited: locks, sleep, I/O, queues, the run queue", make_waits,
      REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, VIEW_PASS_WAITS },
    { "locks", NULL, "the monitors and locks that threads waited for, and what their owners did", make_locks,
      REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, VIEW_PASS_WAITS },
    { "vm", NULL, "IP samples by kind of code: compiled code, parts of the JVM, the kernel", make_vm,
      REPORT_VIEW_THREADS, VIEW_PASS_WHERE },
    { "hot", NULL, "functions and methods with most IP samples", make_hot, REPORT_VIEW_THREADS, VIEW_PASS_WHERE },
    { "inlining", NULL, "which calls the JIT compilers inlined, by the callee's own time", make_inlining,
      REPORT_VIEW_THREADS, 0 },
    { "jit", NULL, "methods by how they ran (interpreted, C1, C2), how often they were deoptimized, and why", make_jit,
      0, 0 },
    { "allocations", "BY", "what the program allocates, by method, class or site (method)", make_allocations,
      REPORT_VIEW_THREADS, VIEW_PASS_ALLOCATIONS },
    { "live-objects", "BY", "sampled objects that still live, by site, method, class, age or collections (site)",
      make_live_objects, REPORT_VIEW_THREADS, VIEW_PASS_LIVE },
    { "pauses", NULL, "garbage collections, safepoints and class loading, summed up", make_pauses, 0, 0 },
    { "startup", NULL, "where the start of a JVM went: classes, initializers, interpreting, compiling", make_startup, 0,
      VIEW_PASS_SAMPLES },
    { "collections", NULL, "each garbage collection, with the heap before and after it", make_collections, 0,
      VIEW_PASS_HEAP | VIEW_PASS_HEAP_EVENTS },
    { "misses", "BY,...",
      "simulated misses by class, field, space, method, code-class, line, bytecode, part, time, contents (class), "
      "of java only, or with lines of source=DIR",
      make_misses, REPORT_VIEW_LAB, 0 },
    { "fields", "BY,java",
      "simulated misses by field or class: the object's, and the one that the bytecode names (field)", make_fields,
      REPORT_VIEW_LAB, 0 },
    { "cost", NULL, "what the recording cost the program", make_cost, 0, VIEW_PASS_RECOVERY },
    { NULL, NULL, NULL, NULL, 0, 0 },
};

/* Above the phases, or all of them above their table, in text; of a part of the threads nothing is found. */
static void print_findings(const struct report_run *run)
{
    const struct findings_input input = findings_input_of(run);
    bool is_all = report_view_is(run->options->view, "findings");
    if (!is_text(run) || (!is_all && !report_view_is(run->options->view, "phases")) || run->options->threads != NULL)
        return;
    report_findings_print(&input, is_all ? 0 : FINDINGS_ON_SCREEN, &run->display->look, stdout);
}

/* Kinds of requests, above the phases. */
static int print_requests(struct report_run *run, struct err *err)
{
    struct table table;
    const struct report_options *o = run->options;
    if (!is_text(run) || !report_view_is(o->view, "phases") || o->threads != NULL || o->columns != NULL ||
        o->n_paths > 1 || trace_samples_are_all(run->traces[0].source->reader))
        return 0;
    int rc = groups_requests(&run->passes[0], run->whole[0].source, &table, err);
    if (rc <= 0 || command_print_table(&table, false, false, run->display, err) < 0)
        return rc <= 0 ? rc : -1;
    putchar('\n');
    return 0;
}

/* The columns and the order that are asked for; the phases' rows are in theirs, and chosen by it. */
static int arrange(const struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    bool is_sampled = trace_samples_are_all(run->traces[0].source->reader);
    bool is_phases = report_view_is(o->view, "phases");
    bool is_sorted =
        o->sort == NULL ||
        (is_phases && (!is_sampled || strcmp(o->rows.sort, "time") == 0 || strcmp(o->rows.sort, "self") == 0));
    if (!is_sorted && table_sort(table, o->sort, err) < 0)
        return -1;
    return o->columns == NULL ? 0 : table_choose(table, o->columns, err);
}

static int print_table(struct report_run *run, int (*make)(struct report_run *, struct table *, struct err *),
                       bool is_first, struct err *err)
{
    struct table table;
    if (make(run, &table, err) < 0 || (is_first && arrange(run, &table, err) < 0) ||
        (is_text(run) && display_open(run->display, err) < 0))
        return -1;
    if (!is_first)
        putchar('\n');
    else {
        print_findings(run);
        if (print_requests(run, err) < 0)
            return -1;
    }
    table.notes_most = run->options->notes ? 0 : NOTES_MOST;
    table.is_wide = run->options->wide;
    table.details_wide = run->options->wide || !report_view_is(run->options->view, "phases") ? 0 : REPORT_DETAILS_WIDE;
    return command_print_table(&table, run->options->csv, run->options->json, run->display, err);
}

int report_view_print(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    struct err ignored;
    if (print_table(run, o->view->make, true, err) < 0)
        return -1;
    if (!is_text(run) || o->columns != NULL)
        return 0;
    if (report_view_is(o->view, "vm")) {
        if (o->threads == NULL)
            print_table(run, make_pauses, false, &ignored);
        return print_table(run, make_hot, false, err);
    }
    bool has_cost = o->wide && report_view_is(o->view, "phases") && o->n_paths == 1 && o->threads == NULL &&
                    !trace_samples_are_all(run->traces[0].source->reader);
    return has_cost ? print_table(run, make_cost, false, err) : 0;
}

int report_agents_print(struct report_run *run, struct err *err)
{
    struct table phases;
    char path[PATH_MAX];
    const char *trace = run->options->paths[0];
    const struct findings_input input = findings_input_of(run);
    if (report_make_table(run, &phases, err) < 0)
        return -1;
    const struct findings findings = findings_find(&input);
    findings_print_agents(&findings, &phases, realpath(trace, path) == NULL ? trace : path, stdout);
    return 0;
}

bool report_view_is(const struct report_view *view, const char *name)
{
    return strcmp(view->name, name) == 0;
}

const struct report_view *report_view_find(const char *words, const char **argument, struct err *err)
{
    const char *equals = strchr(words, '=');
    size_t n = equals == NULL ? strlen(words) : (size_t)(equals - words);
    const struct report_view *view = report_views;
    while (view->name != NULL && (strlen(view->name) != n || memcmp(view->name, words, n) != 0))
        view++;
    if (view->name == NULL || (equals != NULL && view->argument == NULL)) {
        struct near near;
        char name[NEAR_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)n, words);
        near_begin(&near, name);
        for (const struct report_view *known = report_views; view->name == NULL && known->name != NULL; known++)
            near_consider(&near, known->name, known->name);
        err_set(err, view->name == NULL ? "there is no view '%s'" : "the view of '%s' takes no argument", words);
        near_next(&near, "run 'mmprof report --views' for the list of views", err);
        return NULL;
    }
    *argument = equals == NULL ? "" : equals + 1;
    if ((view->can & REPORT_VIEW_METHOD) && **argument == '\0') {
        err_set(err, "the view '%s' needs a method", view->name);
        err_next(err, "name it: --view %s=Class.method", view->name);
        return NULL;
    }
    return view;
}

void report_views_print(FILE *out)
{
    for (const struct report_view *view = report_views; view->name != NULL; view++) {
        char name[32];
        const char *before = view->argument == NULL ? "" : (view->can & REPORT_VIEW_METHOD) ? "=" : "[=";
        snprintf(name, sizeof name, "%s%s%s%s", view->name, before, view->argument == NULL ? "" : view->argument,
                 before[0] == '[' ? "]" : "");
        fprintf(out, "  %-16s %s\n", name, view->help);
    }
}

void report_views_that_can(unsigned can, char *text, size_t n)
{
    size_t used = 0;
    text[0] = '\0';
    for (const struct report_view *view = report_views; view->name != NULL && used < n; view++)
        if ((view->can & can) == can)
            used += (size_t)snprintf(text + used, n - used, "%s%s", used == 0 ? "" : ", ", view->name);
}
