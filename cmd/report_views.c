/*
 * The views of 'mmprof report', each a table: one row here says its name, what it shows, and who makes it.
 */
#include "cmd/report_run.h"
#include "report/view/cost.h"
#include "report/view/misses_report.h"
#include "report/view/pauses_table.h"
#include "report/view/stats_table.h"
#include "report/view/tree_table.h"

#include <string.h>

/* In text what it cost follows the report of one trace. */
static bool has_more(const struct report_options *o)
{
    return o->n_paths == 1 && !o->csv && !o->json;
}

static int print_cost(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    struct table table;
    if (cost_make(run->traces[0].source, &run->passes[0].recovery, &table, err) < 0)
        return -1;
    if (!report_view_is(o->view, "cost"))
        putchar('\n');
    return command_print_table(&table, o->csv, o->json, err);
}

static int print_pauses(struct report_run *run, struct err *err)
{
    struct table table;
    if (pauses_table(run->traces[0].source, &table, err) < 0)
        return -1;
    return command_print_table(&table, run->options->csv, run->options->json, err);
}

static int print_collections(struct report_run *run, struct err *err)
{
    struct table table;
    if (collections_table(run->traces[0].source, &table, err) < 0)
        return -1;
    return command_print_table(&table, run->options->csv, run->options->json, err);
}

/* The table that was asked for; in text the view 'vm' has all of them that can be had. */
static int print_where(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    const struct where *where = &run->passes[0].where;
    bool is_text = !o->csv && !o->json, is_vm = report_view_is(o->view, "vm");
    struct table table;
    struct err ignored;
    if (run->passes[0].no_where.text[0] != '\0') {
        *err = run->passes[0].no_where;
        return -1;
    }
    if (is_vm && (where_table(source, where, &table, err) < 0 || command_print_table(&table, o->csv, o->json, err) < 0))
        return -1;
    if (is_vm && !is_text)
        return 0;
    if (is_vm) {
        putchar('\n');
        if (print_pauses(run, &ignored) == 0)
            putchar('\n');
    }
    return where_hot_table(source, where, o->wish.top, &table, err) < 0
               ? -1
               : command_print_table(&table, o->csv, o->json, err);
}

static int print_misses(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    enum misses_by by = MISSES_BY_CLASS;
    struct misses misses = { .locations = NULL };
    struct table table;
    if (o->argument[0] != '\0' && misses_way(o->argument, &by, err) < 0)
        return -1;
    if (o->java && by == MISSES_CONTENTS) {
        err_set(err, "the contents of the caches are not recorded by the code that loaded them");
        return err_next(err, "remove --java, or use --view misses=class --java");
    }
    int rc = misses_read(source, o->salvage, by, &misses, err);
    if (rc == 0 && o->java)
        rc = misses_keep_java(&misses, err);
    if (rc == 0)
        rc = misses_table(source, &misses, by, o->wish.top, o->sources, &table, err) < 0
                 ? -1
                 : command_print_table(&table, o->csv, o->json, err);
    misses_free(&misses);
    return rc;
}

static int print_timeline(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *trace = &run->traces[0];
    struct view_pass *pass = &run->passes[0];
    struct table table;
    if (pass->no_line.text[0] != '\0') {
        *err = pass->no_line;
        return -1;
    }
    return timeline_end(trace->source, trace->totals, trace->n_totals, &o->wish, &pass->line, err) < 0 ||
                   timeline_table(trace->source, &pass->line, !o->csv && !o->json, &table, err) < 0
               ? -1
               : command_print_table(&table, o->csv, o->json, err);
}

static int print_stats(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    struct table table;
    if (stats_table(first->source, first->totals, first->n_totals, &o->wish, &run->passes[0].metrics,
                    run->passes[0].statistics, &table, err) < 0)
        return -1;
    return command_print_table(&table, o->csv, o->json, err);
}

int report_make_table(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct samples_options options = { o->wish.all ? 0 : o->wish.min_share, o->wish.top,
                                             strcmp(o->wish.sort, "self") == 0, false };
    return trace_samples_are_all(run->traces[0].source->reader)
               ? trace_samples_table(&run->passes[0].samples, &options, &run->arena, table, err)
               : report_make_joined(run->whole, o->n_paths, &o->wish, table, err);
}

static int print_phases(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    struct table table;
    if (report_make_table(run, &table, err) < 0 || command_print_table(&table, o->csv, o->json, err) < 0)
        return -1;
    return has_more(o) && o->threads == NULL && !trace_samples_are_all(run->traces[0].source->reader)
               ? print_cost(run, err)
               : 0;
}

static int print_tree_of(struct report_run *run, enum tree_view_kind kind, struct err *err)
{
    const struct report_options *o = run->options;
    const struct tree_wish wish = { kind, o->argument[0] == '\0' ? NULL : o->argument,
                                    o->wish.all ? 0 : o->wish.min_share, !o->csv && !o->json };
    struct table table;
    return tree_table(run->whole[0].source, &wish, &table, err) < 0 ? -1
                                                                    : command_print_table(&table, o->csv, o->json, err);
}

static int print_tree(struct report_run *run, struct err *err)
{
    return print_tree_of(run, TREE_VIEW_ALL, err);
}

static int print_callers(struct report_run *run, struct err *err)
{
    return print_tree_of(run, TREE_VIEW_CALLERS, err);
}

static int print_callees(struct report_run *run, struct err *err)
{
    return print_tree_of(run, TREE_VIEW_CALLEES, err);
}

const struct report_view report_views[] = {
    { "phases", NULL, "the phases' time, calls, CPI and misses, and the JVM's own threads (the default)", print_phases,
      REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, VIEW_PASS_RECOVERY },
    { "tree", NULL, "the call tree: what probes measured and what samples saw, in one", print_tree,
      REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, 0 },
    { "callers", "METHOD", "from where a method is called, with its time and calls from there", print_callers,
      REPORT_VIEW_METHOD | REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, 0 },
    { "callees", "METHOD", "what a method calls, directly or not, with its part of the time", print_callees,
      REPORT_VIEW_METHOD | REPORT_VIEW_THREADS | REPORT_VIEW_WAITING, 0 },
    { "stats", NULL, "how calls vary within and between phases", print_stats, REPORT_VIEW_WAITING,
      VIEW_PASS_STATISTICS },
    { "timeline", "STEP", "what happened when, in steps of STEP seconds", print_timeline, 0, VIEW_PASS_TIMELINE },
    { "vm", NULL, "IP samples by kind of code: compiled code, parts of the JVM, the kernel", print_where, 0,
      VIEW_PASS_WHERE },
    { "hot", NULL, "functions and methods with most IP samples", print_where, 0, VIEW_PASS_WHERE },
    { "pauses", NULL, "garbage collections, safepoints and class loading, summed up", print_pauses, 0, 0 },
    { "collections", NULL, "each garbage collection", print_collections, 0, 0 },
    { "misses", "BY", "simulated misses by class, field, space, method, line, part, time or contents (class)",
      print_misses, 0, 0 },
    { "cost", NULL, "what the recording cost the program", print_cost, 0, VIEW_PASS_RECOVERY },
    { NULL, NULL, NULL, NULL, 0, 0 },
};

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
        err_set(err, view->name == NULL ? "there is no view '%s'" : "the view of '%s' takes no argument", words);
        err_next(err, "run 'mmprof report --views' for the list of views");
        return NULL;
    }
    *argument = equals == NULL ? "" : equals + 1;
    if ((view->can & REPORT_VIEW_METHOD) && **argument == '\0') {
        err_set(err, "the view '%s' is of a method", view->name);
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
