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
#include "report/phase_report.h"

#define TOP_UNSET     UINT64_MAX
#define TOP_ON_SCREEN 30

struct report_options {
    const char *path, *clock;
    struct report_wish wish;
    bool csv, json, salvage;
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

static int print_report(const struct report_source *source, const struct report_options *o, struct err *err)
{
    struct calltree_total *totals;
    size_t n_totals;
    struct table table;
    if (calltree_totals(source->tree, VM_PART_APPLICATION, source->arena, &totals, &n_totals, err) < 0 ||
        report_make(source, totals, n_totals, &o->wish, &table, err) < 0)
        return -1;
    return command_print_table(&table, o->csv, o->json, err);
}

static int run_report(const struct report_options *o, struct err *err)
{
    int rc = -1;
    enum phases_clock clock;
    struct trace_reader *reader = NULL;
    struct calltree tree = { .n_nodes = 0 };
    struct arena arena = { NULL, 0 };
    struct calltree_options options = { .max_nodes = 0 };
    if (report_clock_parse(o->clock, &clock, err) < 0 || trace_open(&reader, o->path, o->salvage, err) < 0)
        return -1;
    if (calltree_build(reader, &options, &tree, err) < 0)
        goto out;
    struct report_source source = { o->path, reader, &tree, report_clock(&tree, clock), &arena };
    rc = print_report(&source, o, err);
out:
    calltree_free(&tree);
    trace_close(reader);
    arena_free(&arena);
    return rc;
}

int command_report(int argc, char **argv, struct err *err)
{
    struct report_options options = { .clock = "cpu", .wish = { .sort = "time", .min_share = 0.01, .top = TOP_UNSET } };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    if (options.wish.top == TOP_UNSET)
        options.wish.top = options.csv || options.json || options.wish.all ? 0 : TOP_ON_SCREEN;
    return done ? 0 : run_report(&options, err);
}
