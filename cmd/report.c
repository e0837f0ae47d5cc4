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
#include "cmd/trace_argument.h"
#include "report/stats_table.h"

#define TOP_UNSET     UINT64_MAX
#define TOP_ON_SCREEN 30

struct report_options {
    const char *path, *clock;
    struct report_wish wish;
    bool stats, csv, json, salvage;
};

static int parse(int argc, char **argv, struct report_options *o, bool *done, struct err *err)
{
    struct options_row rows[] = {
        { 0, "sort", "KEY", OPTION_TEXT, &o->wish.sort,
          "time, self, calls, percall, cpi, off-cpu, or an event (time)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->wish.min_share, "leave out phases with less of the time (1%)" },
        { 0, "top", "N", OPTION_NUMBER, &o->wish.top,
          "print the N methods with most time (30; 0: all; CSV, JSON: all)" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall: waiting counts too (cpu)" },
        { 0, "all", NULL, OPTION_FLAG, &o->wish.all, "print all methods, however small" },
        { 0, "stats", NULL, OPTION_FLAG, &o->stats, "print how calls vary within and between phases instead" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip what is damaged in the trace" },
        { 0 },
    };
    return command_parse_trace(
        "report [OPTIONS] [TRACE]",
        "Prints the phases of a trace (trace.dat): their share of the process' time, calls, cycles\n"
        "per instruction and misses, next to the JVM's own threads.",
        rows, argc, argv, &o->path, done, err);
}

/* Everything that one run holds. */
struct report_run {
    const struct report_options *options;
    struct arena arena;
    struct trace_reader *reader;
    struct calltree tree;
    struct report_source source;
    struct call_metrics metrics;
    struct statistics *statistics; /* NULL without --stats */
};

static int print_report(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    struct calltree_total *totals;
    size_t n_totals;
    struct table table;
    if (calltree_totals(&run->tree, VM_PART_APPLICATION, &run->arena, &totals, &n_totals, err) < 0)
        return -1;
    int rc = o->stats
                 ? stats_table(&run->source, totals, n_totals, &o->wish, &run->metrics, run->statistics, &table, err)
                 : report_make(&run->source, totals, n_totals, &o->wish, &table, err);
    return rc < 0 ? -1 : command_print_table(&table, o->csv, o->json, err);
}

static int open_statistics(struct report_run *run, enum phases_clock clock, struct err *err)
{
    const struct report_options *o = run->options;
    if (call_metrics_read(o->path, o->salvage, clock, &run->arena, &run->metrics, err) < 0)
        return -1;
    run->statistics = statistics_open(&run->metrics.wish);
    return run->statistics == NULL ? err_set(err, "out of memory for statistics") : 0;
}

static int run_report(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    enum phases_clock clock;
    struct calltree_observer observer;
    struct calltree_options options = { .max_nodes = 0 };
    if (report_clock_parse(o->clock, &clock, err) < 0 || trace_open(&run->reader, o->path, o->salvage, err) < 0)
        return -1;
    if (o->stats) {
        if (open_statistics(run, clock, err) < 0)
            return -1;
        observer = statistics_observer(run->statistics);
        options.observer = &observer;
    }
    if (calltree_build(run->reader, &options, &run->tree, err) < 0)
        return -1;
    run->source =
        (struct report_source){ o->path, run->reader, &run->tree, report_clock(&run->tree, clock), &run->arena };
    return print_report(run, err);
}

int command_report(int argc, char **argv, struct err *err)
{
    struct report_options options = { .clock = "cpu", .wish = { .sort = "time", .min_share = 0.01, .top = TOP_UNSET } };
    struct report_run run = { .options = &options };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    if (options.wish.top == TOP_UNSET)
        options.wish.top = options.csv || options.json || options.wish.all ? 0 : TOP_ON_SCREEN;
    int rc = done ? 0 : run_report(&run, err);
    statistics_close(run.statistics);
    calltree_free(&run.tree);
    trace_close(run.reader);
    arena_free(&run.arena);
    return rc;
}
