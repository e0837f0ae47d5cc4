/*
 * mmprof annotate: one method of a trace's stack samples, line by line.
 *
 *     method   target.Shares.compute()
 *     source   src/target/Shares.java
 *     samples  996 in all, 735 in its own code
 *
 *     Line      Self (%)      Time (%)  Samples  Source
 *     ----------------------------------------------------------------------------
 *       52   0.10 ±0.21    0.10 ±0.21        1          long sum = sink;
 *       53  24.10 ±2.70   24.10 ±2.70      240          for (int i = 0; i < 2000; i++)
 *       54  49.60 ±3.10   49.60 ±3.10      494              sum = sum * 31 + i;
 *       55                                                  sink = sum;
 */
#include "cmd/trace_argument.h"
#include "report/view/annotation.h"

struct annotate_arguments {
    struct annotation_options options;
    struct options_list sources;
    const char *path;
    bool csv, json;
    struct display display;
};

static int parse(int argc, char **argv, struct annotate_arguments *a, bool *done, struct err *err)
{
    const char *words[2] = { "", DEFAULT_TRACE };
    size_t n = 0;
    const struct options_row rows[] = {
        { 's', "source", "FOLDER", OPTION_LIST, &a->sources, "print the lines of source files below FOLDER" },
        { 0, "bytecode", NULL, OPTION_FLAG, &a->options.by_bytecode, "bytecode by bytecode, not line by line" },
        { 0, "csv", NULL, OPTION_FLAG, &a->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &a->json, "print the table as JSON" },
        DISPLAY_ROW(&a->display),
        DISPLAY_PAGER_ROW(&a->display),
        { 0, "salvage", NULL, OPTION_FLAG, &a->options.salvage, "skip damaged parts of the trace" },
        { 0 },
    };
    if (command_parse_traces("annotate [OPTIONS] CLASS.METHOD [TRACE]",
                             "Prints a method's lines with the stack samples in each: self time, time with callees,\n"
                             "and cycles per instruction and misses, if they were read with the samples.",
                             rows, argc, argv, words, 2, &n, done, err) < 0)
        return -1;
    a->options.method = words[0];
    a->options.sources = &a->sources;
    a->path = n > 1 ? words[1] : DEFAULT_TRACE;
    if (*done || strcmp(words[0], DEFAULT_TRACE) != 0)
        return 0;
    err_set(err, "no method given");
    return err_next(err, "name one as 'mmprof sample' prints it, then the trace: 'mmprof annotate Shop.find %s'",
                    DEFAULT_TRACE);
}

int command_annotate(int argc, char **argv, struct err *err)
{
    struct annotate_arguments arguments = { .display = DISPLAY_OF_PAGES };
    struct arena arena = { NULL, 0 };
    struct annotation annotation;
    bool done;
    if (parse(argc, argv, &arguments, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    struct table *table = arena_alloc(&arena, sizeof *table);
    int rc = trace_argument_one(&arena, &arguments.path, err);
    memset(&annotation, 0, sizeof annotation);
    if (rc == 0)
        rc = annotation_read(&annotation, arguments.path, &arguments.options, &arena, err);
    if (rc == 0)
        annotation_table(&annotation, &arguments.options, table);
    if (rc == 0)
        rc = display_close(&arguments.display,
                           command_print_table(table, arguments.csv, arguments.json, &arguments.display, err), err);
    annotation_free(&annotation);
    arena_free(&arena);
    return rc;
}
