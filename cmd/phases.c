/*
 * mmprof phases: the call tree of a trace, and the methods that are worth a second look.
 *
 *     $ mmprof phases --weight 10% --grain 5% sort.dat
 *     trace    sort.dat: 1.83 us, 1.83 us of CPU time, 1312 records of 656 calls
 *     phases   3 of 10 methods: weight 10 %, grain 5 % (as given, budget 1 %)
 *     overhead 8.2 % of the time (at 50 ns a call), 0.457 % of all calls (the thesis' estimate)
 *
 *     Phase            Total  Per call  Calls  Share (%)    Self
 *     ----------------------------------------------------------
 *     Sort.main      1.83 us   1.83 us      1     100.00    0 ns
 *     Sort.sortData  1.30 us   1.30 us      1      71.04  200 ns
 *     Sort.readData   300 ns    300 ns      1      16.39  100 ns
 */
#include "cmd/phases_run.h"
#include "cmd/trace_argument.h"
#include "report/view/tables.h"
#include "report/view/view_pass.h"

/* Everything that one run holds. */
struct phases_run {
    const struct phases_options *options;
    struct arena arena;
    struct view_pass pass; /* with samples: --tree */
    struct phases_criteria criteria;
    struct phases_choice choice;
    struct phases_report report;
};

static int parse(int argc, char **argv, struct phases_options *o, bool *done, struct err *err)
{
    struct options_row rows[] = {
        { 0, "weight", "SHARE", OPTION_FRACTION, &o->weight,
          "a phase has at least this share of the time in all its calls together" },
        { 0, "grain", "SHARE", OPTION_FRACTION, &o->grain, "a phase has at least this share of the time in one call" },
        { 0, "budget", "SHARE", OPTION_FRACTION, &o->budget,
          "limit on overhead, for choosing --weight and --grain (1%)" },
        { 0, "read-cost", "NS", OPTION_NUMBER, &o->read_cost_ns, "cost of reading counters in each call, in ns (0)" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall, which includes waiting (cpu)" },
        { 0, "tree", NULL, OPTION_FLAG, &o->tree, "print the call tree instead of the table" },
        { 0, "per-thread", NULL, OPTION_FLAG, &o->per_thread, "print the threads; with --tree, a tree for each" },
        { 0, "all", NULL, OPTION_FLAG, &o->all, "print all methods, not only the phases" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->min_share,
          "leave out methods with less of the time (1%; CSV, JSON: 0)" },
        { 0, "sweep", NULL, OPTION_FLAG, &o->sweep, "print what each pair of thresholds selects, as CSV (or --json)" },
        { 'o', "output", "FILE", OPTION_TEXT, &o->output, "write the phases to FILE (phases.json); - prints them" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        DISPLAY_ROW(o->display),
        DISPLAY_PAGER_ROW(o->display),
        { 'q', "quiet", NULL, OPTION_FLAG, &o->quiet, "print nothing" },
        { 0, "progress", NULL, OPTION_FLAG, &o->progress, "show progress even with --quiet" },
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the trace" },
        { 0 },
    };
    return command_parse_trace(
        "phases [OPTIONS] [TRACE]",
        "Builds the call tree of a trace (trace.dat) and selects the methods in which the program\n"
        "spends much of its time altogether and in each call; writes them to phases.json.",
        rows, argc, argv, &o->path, done, err);
}

/* 1e-8 is what the thesis chose for short methods in long runs (its Table 3.2). */
#define SWEEP_LOWEST  1e-8
#define SWEEP_HIGHEST 1.0
#define SWEEP_STRIDE  2

static int print_sweep(struct phases_run *run, const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                       const struct budget_base *base, struct err *err)
{
    struct sweep sweep = { .n_weights = 0 };
    struct table table;
    if (all_ticks == 0) {
        err_set(err, "the application's threads spent no time on this clock");
        return err_next(err, "choose the other one with --clock cpu or --clock wall");
    }
    sweep.n_weights = sweep_thresholds(SWEEP_LOWEST, SWEEP_HIGHEST, SWEEP_STRIDE, sweep.weights);
    sweep.n_grains = sweep_thresholds(SWEEP_LOWEST, SWEEP_HIGHEST, SWEEP_STRIDE, sweep.grains);
    sweep_compute(&sweep, totals, n_totals, all_ticks, run->criteria.clock, &run->arena);
    sweep_table(&run->pass.source, &sweep, base, &table);
    return command_print_table(&table, !run->options->json, run->options->json, run->options->display, err);
}

static int select_phases(struct phases_run *run, struct err *err)
{
    const struct phases_options *o = run->options;
    const struct calltree_total *totals = run->pass.totals;
    size_t n_totals = run->pass.n_totals;
    uint64_t all_ticks = phases_all_ticks(&run->pass.tree, run->criteria.clock);
    struct budget_base base =
        phases_budget_base(&run->pass.tree, all_ticks, report_knows_invocations(run->pass.reader));
    if (base.pair_ns > 0)
        base.pair_ns += (double)o->read_cost_ns;
    if (o->sweep)
        return print_sweep(run, totals, n_totals, all_ticks, &base, err);
    if (phases_select(totals, n_totals, all_ticks, &base, &run->criteria, &run->arena, &run->choice, err) < 0)
        return err_prefix(err, o->path);
    run->report = (struct phases_report){ .source = &run->pass.source,
                                          .totals = totals,
                                          .n_totals = n_totals,
                                          .all_ticks = all_ticks,
                                          .options = &run->criteria,
                                          .choice = &run->choice,
                                          .pair_ns = base.pair_ns,
                                          .all = o->all,
                                          .min_share = o->min_share >= 0   ? o->min_share
                                                       : o->csv || o->json ? 0
                                                                           : 0.01 };
    return 0;
}

/* That of 'mmprof report --view tree'. */
static int make_tree(struct phases_run *run, struct table *table, struct err *err)
{
    const struct phases_options *o = run->options;
    const struct tree_table_options options = { TREE_VIEW_ALL, NULL, run->report.min_share, !o->csv && !o->json };
    struct report_source whole;
    sampled_tree(&run->pass.source, view_pass_samples(&run->pass, &run->pass.source), o->per_thread, &whole);
    return tree_table(&whole, &options, table, err);
}

static int print(struct phases_run *run, struct err *err)
{
    const struct phases_options *o = run->options;
    struct table table = { .n_columns = 0 };
    if (o->tree && make_tree(run, &table, err) < 0)
        return -1;
    if (!o->tree && o->per_thread)
        phases_threads(&run->report, &table);
    else if (!o->tree)
        phases_table(&run->report, &table);
    if (command_print_table(&table, o->csv, o->json, o->display, err) < 0)
        return -1;
    if (!o->csv && !o->json && !o->per_thread && !o->tree)
        printf("\nThe phases are in %s: 'mmprof record --phases %s' measures these methods only.\n", o->output,
               o->output);
    return 0;
}

static int write_phases(struct phases_run *run, struct err *err)
{
    const char *output = run->options->output;
    struct phases_file file;
    phases_rows(&run->report, &file);
    if (strcmp(output, "-") != 0)
        return phases_file_write(&file, output, err);
    char *text = phases_file_text(&file);
    fputs(text, stdout);
    free(text);
    return 0;
}

static int run_phases(struct phases_run *run, struct err *err)
{
    const struct phases_options *o = run->options;
    struct view_pass_options options = { .path = o->path,
                                         .salvage = o->salvage,
                                         .parts = o->tree ? VIEW_PASS_SAMPLES : 0,
                                         .per_thread = o->per_thread,
                                         .progress = !o->quiet || o->progress ? stderr : NULL };
    if (report_clock_parse(o->clock, &options.clock, err) < 0 ||
        view_pass_read(&options, &run->arena, &run->pass, err) < 0)
        return -1;
    run->criteria = (struct phases_criteria){ run->pass.source.clock, o->weight, o->grain, o->budget };
    if (select_phases(run, err) < 0)
        return -1;
    if (o->sweep)
        return 0;
    if (write_phases(run, err) < 0)
        return -1;
    return o->quiet || strcmp(o->output, "-") == 0 ? 0 : print(run, err);
}

int phases_run(const struct phases_options *options, struct err *err)
{
    struct phases_run run = { .options = options };
    int rc = run_phases(&run, err);
    view_pass_close(&run.pass);
    arena_free(&run.arena);
    return rc;
}

int command_phases(int argc, char **argv, struct err *err)
{
    struct display display = DISPLAY_PLAIN;
    struct phases_options options = PHASES_OPTIONS(&display);
    struct arena arena = { NULL, 0 };
    char output[PATH_MAX];
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    display.pages = options.tree;
    int rc = trace_argument_one(&arena, &options.path, err);
    if (rc == 0)
        rc = trace_argument_output(options.path, options.salvage, options.output, "-o", output, err);
    options.output = output;
    if (rc == 0)
        rc = display_close(&display, phases_run(&options, err), err);
    arena_free(&arena);
    return rc;
}
